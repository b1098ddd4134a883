// SPDX-License-Identifier: MIT
#include <posgeo/call/row_description.hpp>

#include "support/catch.hpp"
#include "support/described.hpp"

namespace row_description_test {

using namespace posgeo;
using namespace posgeo::test;

const std::vector<row_name> names{{.sequence = 4, .position = -3},
                                  {.sequence = 4, .position = 9},
                                  {.sequence = 0, .position = 7, .active = false},
                                  {.sequence = 2, .position = 9}};

description rows_with(std::vector<row_name> given, index_t entries = 2, std::string_view frame = "sequence") {
  const auto rows = static_cast<index_t>(given.size()) / entries;
  return describe_rows(row_identity(entries, rows, std::move(given), coordinate_frame{frame}));
}
description rows_changed(const auto& change) {
  auto given = names;
  change(given);
  return rows_with(std::move(given));
}

TEST_CASE("rows are described by the names that a call knows", "[row_description]") {
  check_described(rows_with(names), rows_with(names),
                  {{{"entries", "rows"}, rows_with(names, 4)},
                   {{"frame"}, rows_with(names, 2, "page")},
                   {{"sequences"}, rows_changed([](auto& all) { all[3].sequence = 3; })},
                   {{"positions"}, rows_changed([](auto& all) { all[0].position = 3; })},
                   {{"sequences", "positions", "active"}, rows_changed([](auto& all) { all[1].active = false; })}});
}

TEST_CASE("padding is described alike wherever it stands", "[row_description]") {
  CHECK(rows_with(names) == rows_changed([](auto& all) { all[2] = {.sequence = 5, .position = 70, .active = false}; }));
  const auto numbers = [](double of_padding) {
    const row_column<double> column(row_identity(2, 2, names), {1.5, -2.0, of_padding, 0.25});
    return column_numbers(column, [](double value) { return value; });
  };
  CHECK(numbers(33.0) == std::vector<double>{1.5, -2.0, 0.0, 0.25});
}

}  // namespace row_description_test
