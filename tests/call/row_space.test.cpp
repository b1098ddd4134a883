// SPDX-License-Identifier: MIT
#include <posgeo/call/row_space.hpp>

#include <algorithm>
#include <set>

#include "support/catch.hpp"
#include "support/random_calls.hpp"

namespace {

using namespace posgeo;
using posgeo::test::dice;

using row_range = std::pair<index_t, index_t>;

/// From the first row that `belongs` to one past the last; {0, 0} if none does.
template <class Belongs>
row_range hull(index_t rows, const Belongs& belongs) {
  row_range range{0, 0};
  for (index_t row = rows; row-- > 0;) {
    if (!belongs(row)) continue;
    if (range.second == 0) range.second = row + 1;
    range.first = row;
  }
  return range;
}

bool same_rows(row_range a, row_range b) { return a == b || (a.first >= a.second && b.first >= b.second); }

bool covers(row_range outer, row_range inner) {
  return inner.first >= inner.second || (outer.first <= inner.first && inner.second <= outer.second);
}

row_space random_affine(dice& roll) {
  const index_t rows = roll.between(0, 7);
  std::optional<index_t> padded;
  if (roll.chance(0.5)) padded = roll.position_value();
  return {rows,
          {roll.between(1, 10),
           [&](index_t) {
             const index_t begin = roll.between(0, rows);
             const index_t first = roll.position_value();
             return affine_rows{std::min(first, position_limit - rows), begin, roll.between(begin, rows),
                                roll.between(-2, 2)};
           }},
          coordinate_frame{},
          stream::shared,
          padded};
}

row_space random_spelled(dice& roll) {
  const index_t entries = roll.between(1, 4);
  const index_t rows = roll.between(0, 7);
  explicit_rows spelled;
  for (index_t n = 0; n < entries * rows; ++n) {
    spelled.positions.push_back(roll.position_value());
    spelled.sequences.push_back(roll.between(-2, 2));
    spelled.active.push_back(roll.chance(0.6) ? 1 : 0);
  }
  return {entries, rows, std::move(spelled), coordinate_frame{}, stream::shared};
}

std::vector<row_space> random_spaces(unsigned seed) {
  dice roll(seed);
  std::vector<row_space> spaces;
  for (int round = 0; round < 300; ++round) {
    spaces.push_back(random_affine(roll));
    spaces.push_back(random_spelled(roll));
  }
  return spaces;
}

TEST_CASE("active rows are the hull of the active rows", "[row_space]") {
  for (const row_space& space : random_spaces(11)) {
    bool padding = false;
    for (index_t b = 0; b < space.entries(); ++b) {
      const row_range expected = hull(space.rows(), [&](index_t row) { return space.active(b, row); });
      REQUIRE(same_rows(space.active_rows(b), expected));
      for (index_t row = 0; row < space.rows(); ++row) padding = padding || !space.active(b, row);
    }
    REQUIRE(space.has_padding() == padding);
  }
}

TEST_CASE("sequence rows are the hull of a sequence's active rows", "[row_space]") {
  for (const row_space& space : random_spaces(12)) {
    for (index_t b = 0; b < space.entries(); ++b) {
      std::set<index_t> present;
      for (index_t sequence = -3; sequence <= 3; ++sequence) {
        const auto belongs = [&](index_t row) { return space.active(b, row) && space.sequence(b, row) == sequence; };
        const row_range expected = hull(space.rows(), belongs);
        REQUIRE(same_rows(space.sequence_rows(b, sequence), expected));
        if (expected.second > 0) present.insert(sequence);
      }
      const auto bounds = space.sequence_bounds(b);
      REQUIRE(bounds.has_value() == !present.empty());
      if (bounds) REQUIRE(*bounds == row_range{*present.begin(), *present.rbegin()});
    }
  }
}

TEST_CASE("position bounds are the lowest and the highest position", "[row_space]") {
  for (const row_space& space : random_spaces(15)) {
    for (index_t b = 0; b < space.entries(); ++b) {
      row_range expected{0, 0};
      for (index_t row = 0; row < space.rows(); ++row) {
        const index_t at = space.at(b, row).value();
        expected =
            row == 0 ? row_range{at, at} : row_range{std::min(expected.first, at), std::max(expected.second, at)};
      }
      REQUIRE(space.position_bounds(b) == expected);
    }
  }
}

TEST_CASE("rows within an interval of positions are all inside the answer", "[row_space]") {
  dice roll(13);
  for (const row_space& space : random_spaces(14)) {
    for (index_t b = 0; b < space.entries(); ++b) {
      for (int round = 0; round < 12; ++round) {
        const index_t lowest = roll.chance(0.2) ? -position_limit : roll.position_value();
        const index_t highest = roll.chance(0.2) ? position_limit : roll.position_value();
        const auto inside = [&](index_t row) {
          const index_t at = space.at(b, row).value();
          return lowest <= at && at <= highest;
        };
        const row_range answer = space.rows_within(b, lowest, highest);
        REQUIRE(answer.first >= 0);
        REQUIRE(answer.second <= space.rows());
        REQUIRE(covers(answer, hull(space.rows(), inside)));
        const bool padding_inside =
            space.padded_position() && lowest <= *space.padded_position() && *space.padded_position() <= highest;
        if (space.affine() && !padding_inside) REQUIRE(same_rows(answer, hull(space.rows(), inside)));
      }
    }
  }
}

TEST_CASE("an affine row stands at first plus row and padding where it was told to", "[row_space]") {
  const entry_list<affine_rows> entries(1, [](index_t) { return affine_rows{-3, 1, 3, 9}; });
  const row_space line(5, entries, coordinate_frame{}, stream::encoder);
  const row_space parked(5, entries, coordinate_frame{}, stream::encoder, 40);
  for (index_t row = 0; row < 5; ++row) {
    const bool token = row == 1 || row == 2;
    CHECK(line.active(0, row) == token);
    CHECK(line.at(0, row).value() == row - 3);
    CHECK(parked.at(0, row).value() == (token ? row - 3 : 40));
    CHECK(line.sequence(0, row) == 9);
  }
  CHECK(line.affine());
  CHECK(line.origin() == stream::encoder);
}

}  // namespace
