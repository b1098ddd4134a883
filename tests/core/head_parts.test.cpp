// SPDX-License-Identifier: MIT
#include <posgeo/core/head_parts.hpp>
#include <posgeo/core/named.hpp>

#include <string>

#include "support/catch.hpp"
#include "support/random.hpp"
#include "support/refusal.hpp"

namespace head_parts_test {

using namespace posgeo;
using posgeo::test::random_table;
using posgeo::test::refusal;

const head_slice slice({.query = 5, .key_value = 5, .dim = 3}, {4, 0, 3});

/// Numbers of each head, and nothing said about parts.
struct forgetful {
  using family = posgeo::family::score_bias;
};
struct everywhere {
  using family = posgeo::family::visibility;
  index_t reach = 0;
};
static_assert(!parted_by_head<forgetful> && !blind_to_heads<forgetful>);
static_assert(!parted_by_head<everywhere> && blind_to_heads<everywhere>);

TEST_CASE("numbers and columns of a part are those of its global heads", "[head_parts]") {
  const auto numbers = posgeo::test::random_values<double>(5, 11);
  CHECK(numbers_of(numbers, slice, "numbers") == std::vector<double>{numbers[4], numbers[0], numbers[3]});
  const auto whole = random_table(4, 5, 12);
  const auto part = columns_of(whole, slice, "columns");
  REQUIRE((part.rows() == 4 && part.columns() == 3));
  for (index_t row = 0; row < 4; ++row) {
    for (index_t n = 0; n < 3; ++n) CHECK(part(row, n) == whole(row, slice.global(head_index{n})));
  }
}

TEST_CASE("rows of a part are those of its global heads", "[head_parts]") {
  const auto whole = random_table(10, 3, 13);
  const auto part = rows_of(whole, 2, slice, "rows");
  REQUIRE((part.rows() == 6 && part.columns() == 3));
  for (index_t n = 0; n < 6; ++n) {
    for (index_t c = 0; c < 3; ++c) CHECK(part(n, c) == whole(2 * slice.global(head_index{n / 2}) + n % 2, c));
  }
}

TEST_CASE("tables of a part keep the layout of the whole", "[head_parts]") {
  const auto check = [](const head_tables<double>& whole) {
    const auto part = tables_of(whole, slice, "tables");
    CHECK(part.by_row() == whole.by_row());
    REQUIRE((part.tables() == 3 && part.rows() == 2 && part.dim() == 3));
    for (const head_index n : indices<head_index>(3)) {
      for (index_t r = 0; r < 2; ++r) {
        const auto of_part = part.row(n, r);
        const auto of_whole = whole.row(head_index{slice.global(n)}, r);
        CHECK(std::equal(of_part.begin(), of_part.end(), of_whole.begin(), of_whole.end()));
      }
    }
  };
  check(head_tables<double>::stacked(random_table(10, 3, 14), 5));
  check(head_tables<double>::by_column(random_table(2, 15, 15), 5));
}

TEST_CASE("a table that all heads share is in every part", "[head_parts]") {
  const auto whole = head_tables<double>::shared(random_table(7, 3, 16));
  const auto part = tables_of(whole, slice, "tables");
  CHECK((part.tables() == 1 && part.rows() == 7));
  CHECK(part.values().data() == whole.values().data());
}

TEST_CASE("parts of another number of heads are refused", "[head_parts]") {
  const auto refused = [](const auto& cut) {
    const error thrown = refusal(cut);
    CHECK(thrown.code() == errc::head_partition);
    return std::string(thrown.what());
  };
  CHECK(refused([] { (void)numbers_of(std::vector<double>(3), slice, "slopes"); }) ==
        "slopes, query heads: expected 5 of the whole, got 3");
  CHECK(refused([] { (void)columns_of(random_table(2, 6, 17), slice, "table"); }) ==
        "table, query heads: expected 5 of the whole, got 6");
  CHECK(refused([] { (void)rows_of(random_table(8, 3, 17), 2, slice, "table"); }) ==
        "table, query heads: expected 5 of the whole, got 4");
  CHECK(refused([] { (void)rows_of(random_table(9, 3, 17), 2, slice, "table"); }) ==
        "table, rows: expected whole heads of 2, got 9");
  CHECK(refused([] { (void)tables_of(head_tables<double>::stacked(random_table(8, 3, 18), 4), slice, "table"); }) ==
        "table, query heads: expected 5 of the whole, got 4");
}

TEST_CASE("a policy whose family knows no heads is in every part", "[head_parts]") {
  CHECK(part_of(everywhere{.reach = 7}, slice).reach == 7);
}

/// A policy that somebody must name.
struct borrowed {
  using family = posgeo::family::score_bias;
  std::vector<double> numbers;
  [[nodiscard]] description describe_as(std::string_view identity) const {
    return description("borrowed").with("identity", identity);
  }
  [[nodiscard]] borrowed part(const head_slice& of) const { return {numbers_of(numbers, of, "borrowed")}; }
};

TEST_CASE("the part of a named policy is named after its heads", "[head_parts]") {
  const named whole{"table 7", borrowed{posgeo::test::random_values<double>(5, 19)}};
  const auto part = part_of(whole, slice);
  CHECK(part.identity() == "table 7, heads 4 0 3");
  CHECK(part.numbers == numbers_of(whole.numbers, slice, "borrowed"));
  CHECK_FALSE(part.describe() == whole.describe());
}

}  // namespace head_parts_test
