// SPDX-License-Identifier: MIT
#include <posgeo/core/head_tables.hpp>

#include "support/catch.hpp"
#include "support/random.hpp"
#include "support/refusal.hpp"

namespace head_tables_test {

using namespace posgeo;
using namespace posgeo::test;

table<double> numbers(index_t rows, index_t columns) {
  return {random_values<double>(static_cast<std::size_t>(rows * columns), 31), rows, columns};
}

TEST_CASE("head tables find the row of a head in each layout", "[head_tables]") {
  const auto one = head_tables<double>::shared(numbers(5, 3));
  const auto stacked = head_tables<double>::stacked(numbers(10, 3), 2);
  const auto columns = head_tables<double>::by_column(numbers(5, 6), 2);
  CHECK((one.tables() == 1 && one.rows() == 5 && one.dim() == 3));
  CHECK((stacked.tables() == 2 && stacked.rows() == 5 && stacked.dim() == 3));
  CHECK((columns.tables() == 2 && columns.rows() == 5 && columns.dim() == 3));
  for (index_t h = 0; h < 2; ++h) {
    for (index_t r = 0; r < 5; ++r) {
      REQUIRE(one.row(head_index{h}, r).size() == 3);
      REQUIRE(stacked.row(head_index{h}, r).size() == 3);
      REQUIRE(columns.row(head_index{h}, r).size() == 3);
      for (index_t d = 0; d < 3; ++d) {
        const auto at = static_cast<std::size_t>(d);
        CHECK(one.row(head_index{h}, r)[at] == numbers(5, 3)(r, d));
        CHECK(stacked.row(head_index{h}, r)[at] == numbers(10, 3)(5 * h + r, d));
        CHECK(columns.row(head_index{h}, r)[at] == numbers(5, 6)(r, 3 * h + d));
      }
    }
  }
}

TEST_CASE("a table of one head is the same in every layout", "[head_tables]") {
  for (const auto& tables :
       {head_tables<double>::stacked(numbers(4, 3), 1), head_tables<double>::by_column(numbers(4, 3), 1)}) {
    CHECK(tables.tables() == 1);
    CHECK(tables.row(head_index{0}, 3)[1] == numbers(4, 3)(3, 1));
  }
}

TEST_CASE("head tables refuse heads that do not divide them", "[head_tables]") {
  CHECK(refusal([] { return head_tables<double>::stacked(numbers(9, 3), 2); }).code() == errc::shape_mismatch);
  CHECK(refusal([] { return head_tables<double>::by_column(numbers(5, 7), 2); }).code() == errc::shape_mismatch);
  CHECK(refusal([] { return head_tables<double>::stacked(numbers(9, 3), 0); }).code() == errc::head_count);
}

TEST_CASE("head tables name other heads and another width", "[head_tables]") {
  const auto listed = [](const head_tables<double>& tables, index_t heads, index_t width) {
    violations found;
    tables.check(heads, width, "table", found);
    return codes(found);
  };
  const auto stacked = head_tables<double>::stacked(numbers(8, 3), 2);
  CHECK(listed(stacked, 2, 3).empty());
  CHECK(listed(stacked, 4, 3) == std::vector{errc::head_count});
  CHECK(listed(stacked, 2, 4) == std::vector{errc::shape_mismatch});
  CHECK(listed(head_tables<double>::shared(numbers(8, 3)), 7, 3).empty());
}

}  // namespace head_tables_test
