// SPDX-License-Identifier: MIT
#include <posgeo/call/coupled_positions.hpp>

#include <array>

#include "support/catch.hpp"
#include "support/refusal.hpp"

namespace coupled_positions_test {

using namespace posgeo;
using namespace posgeo::test;
using call::digit_order;
using call::row_groups;

// 6 5 3 + 4 9 = 2 0 7: the sum is written from its last digit on.
constexpr std::array<call::number_rows, 3> addition{{{0, 3, digit_order::most_significant_first},
                                                     {4, 6, digit_order::most_significant_first},
                                                     {7, 10, digit_order::least_significant_first}}};
constexpr std::array<index_t, 2> signs{3, 6};  // + and =

TEST_CASE("digits of one significance share a group", "[coupled_positions]") {
  CHECK(call::groups_by_significance(addition, signs) == row_groups{{0, 9}, {1, 4, 8}, {2, 5, 7}, {3, 6}});
  CHECK(call::groups_by_significance(addition, {}) == row_groups{{0, 9}, {1, 4, 8}, {2, 5, 7}});
  CHECK(call::groups_by_significance({}, signs) == row_groups{{3, 6}});
  CHECK(call::groups_by_significance({}, {}).empty());
  const std::array<call::number_rows, 1> empty{{{3, 3, digit_order::least_significant_first}}};
  CHECK(call::groups_by_significance(empty, {}).empty());
}

TEST_CASE("coupled rows stand at the position of their group", "[coupled_positions]") {
  const auto groups = call::groups_by_significance(addition, signs);
  const auto call = call::coupled_positions({.rows = 10, .groups = groups, .first = 31, .entries = 2});
  // as released: the first digits of 653 and of the sum at 31, the units at 33, the signs one behind them
  const std::vector<index_t> expected{31, 32, 33, 34, 32, 33, 34, 33, 32, 31};
  REQUIRE(call.batch() == 2);
  for (index_t b = 0; b < 2; ++b) {
    for (index_t row = 0; row < 10; ++row) {
      CHECK(call.query_space().at(b, row).value() == expected[static_cast<std::size_t>(row)]);
      CHECK(call.key_space().at(b, row) == call.query_space().at(b, row));
      CHECK(call.key_space().sequence(b, row) == b);
    }
  }
  // a carry is made by the next group, in every number
  const batch_index b{0};
  CHECK(call.offset(b, query_index{7}, key_index{2}).value() == 0);
  CHECK(call.offset(b, query_index{8}, key_index{5}).value() == 1);
}

TEST_CASE("rows of no group stand where they are told to", "[coupled_positions]") {
  const auto groups = call::groups_by_significance(addition, {});
  CHECK(call::positions_of({.rows = 10, .groups = groups, .first = 31, .others = 0}) ==
        std::vector<index_t>{31, 32, 33, 0, 32, 33, 0, 33, 32, 31});
}

TEST_CASE("any groups may be coupled", "[coupled_positions]") {
  const row_groups groups{{3}, {}, {0, 4}, {1, 2}};
  CHECK(call::positions_of({.rows = 5, .groups = groups, .first = -2}) == std::vector<index_t>{0, 1, 1, -2, 0});
}

TEST_CASE("coupling refuses rows of no group, of two groups and of none of the call", "[coupled_positions]") {
  const auto refused = [](index_t rows, const row_groups& groups, index_t first = 0) {
    return refusal([&] { return call::coupled_positions({.rows = rows, .groups = groups, .first = first}); }).code();
  };
  CHECK(refused(3, {{0}, {2}}) == errc::position_rule);
  CHECK(refused(2, {{0, 1}, {1}}) == errc::position_rule);
  CHECK(refused(2, {{0, 0}, {1}}) == errc::position_rule);
  CHECK(refused(2, {{0, 1, 2}}) == errc::position_rule);
  CHECK(refused(2, {{0, -1}}) == errc::position_rule);
  CHECK(refused(-1, {}) == errc::position_rule);
  CHECK(refused((index_t{1} << 24) + 1, {}) == errc::position_rule);
  CHECK(refused(2, {{0}, {1}}, position_limit) == errc::position_overflow);
  const auto refused_digits = [](index_t begin, index_t end) {
    const std::array<call::number_rows, 1> one{{{begin, end, digit_order::most_significant_first}}};
    return refusal([&] { return call::groups_by_significance(one, {}); }).code();
  };
  CHECK(refused_digits(3, 2) == errc::position_rule);
  CHECK(refused_digits(7, (index_t{1} << 24) + 8) == errc::position_rule);
  CHECK(refused_digits(-1, 2) == errc::position_rule);
}

}  // namespace coupled_positions_test
