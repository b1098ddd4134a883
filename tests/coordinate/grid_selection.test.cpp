// SPDX-License-Identifier: MIT
#include <posgeo/call/annotated_rows.hpp>
#include <posgeo/call/explicit_positions.hpp>
#include <posgeo/coordinate/grid_selection.hpp>

#include <algorithm>
#include <limits>
#include <random>

#include "support/catch.hpp"
#include "support/refusal.hpp"

namespace grid_selection_test {

using namespace posgeo;
using namespace posgeo::test;
using coordinate::cell;
using coordinate::class_row;
using coordinate::grid;
using coordinate::grid_place;
using coordinate::traversal;

TEST_CASE("cells follow a drop and a sort with the names of their rows", "[grid_selection]") {
  const grid g({.rows = 4, .columns = 5, .order = traversal::serpentine, .class_rows = 1});
  const auto cells = g.cells_of(g.call(2).query_space());
  std::vector<index_t> rows(21);
  for (std::size_t n = 0; n < rows.size(); ++n) rows[n] = static_cast<index_t>(n);
  std::shuffle(rows.begin(), rows.end(), std::mt19937_64(301));
  rows.resize(13);
  auto in_both = rows;
  in_both.insert(in_both.end(), rows.begin(), rows.end());
  const auto moved = coordinate::selected(cells, in_both);
  REQUIRE(moved.rows().rows() == 13);
  for (index_t b = 0; b < 2; ++b) {
    for (index_t row = 0; row < 13; ++row) {
      CHECK(moved.at(b, row) == g.at(position{rows[static_cast<std::size_t>(row)]}));
      CHECK(moved.rows().name(b, row).position == rows[static_cast<std::size_t>(row)]);
      CHECK(moved.rows().name(b, row).sequence == b);
    }
  }
  // the call of the moved rows, described on its own, has the same identity
  std::vector<index_t> positions = rows;
  positions.insert(positions.end(), rows.begin(), rows.end());
  const call::explicit_side side{.positions = positions, .rows = 13, .frame = g.frame()};
  const auto call = call::explicit_positions({.entries = 2, .query = side, .key = side});
  CHECK(moved.rows() == row_identity::of(call.query_space()));
  CHECK(moved.values() == g.cells_of(call.query_space()).values());

  const std::vector<index_t> beyond{21, 0};
  CHECK(refusal([&] { return coordinate::selected(cells, beyond); }).code() == errc::row_count);
  const std::vector<index_t> uneven{0, 1, 2};
  CHECK(refusal([&] { return coordinate::selected(cells, uneven); }).code() == errc::row_count);
}

TEST_CASE("a crop keeps its rectangle and may be counted from its corner", "[grid_selection]") {
  const grid g({.rows = 4, .columns = 5, .order = traversal::column_major, .class_rows = 1});
  const auto cells = g.cells_of(g.call(1).query_space());
  const auto kept = coordinate::rows_within(cells, 0, {.first = {1, 3}, .rows = 2, .columns = 7});
  const auto cropped = coordinate::selected(cells, kept);
  const auto own = coordinate::counted_from(cropped, {1, 3});
  const std::vector<grid_place> in_place{class_row{0}, cell{1, 3}, cell{2, 3}, cell{1, 4}, cell{2, 4}};
  const std::vector<grid_place> from_corner{class_row{0}, cell{0, 0}, cell{1, 0}, cell{0, 1}, cell{1, 1}};
  CHECK(cropped.values() == in_place);
  CHECK(own.values() == from_corner);
  CHECK(own.rows() == cropped.rows());
}

TEST_CASE("each entry keeps the rows of its own list", "[grid_selection]") {
  const grid g({.rows = 2, .columns = 2, .order = traversal::row_major});
  const std::vector<index_t> positions{0, 3, 1, 2, 3, 0, 2, 1};  // the second entry in another order
  const call::explicit_side side{.positions = positions, .rows = 4, .frame = g.frame()};
  const auto cells = g.cells_of(call::explicit_positions({.entries = 2, .query = side, .key = side}).query_space());
  std::vector<index_t> kept;
  for (const index_t b : {0, 1}) {
    const auto of_entry = coordinate::rows_within(cells, b, {.first = {0, 0}, .rows = 1, .columns = 2});
    kept.insert(kept.end(), of_entry.begin(), of_entry.end());
  }
  CHECK(kept == std::vector<index_t>{0, 2, 1, 3});
  const auto cropped = coordinate::selected(cells, kept);
  for (const index_t b : {0, 1}) {
    for (const index_t row : {0, 1}) {
      CHECK(cropped.at(b, row) == grid_place{cell{0, row}});
      CHECK(cropped.rows().name(b, row) == cells.rows().name(b, kept[static_cast<std::size_t>(2 * b + row)]));
    }
  }
}

TEST_CASE("a selection remembers where renumbered rows came from", "[grid_selection]") {
  const row_identity rows(1, 2, {{0, 4}, {0, 6}});
  const row_column<double> column(rows.renamed({{0, 0}, {0, 1}}), {1.5, 2.5});
  const std::vector<index_t> second{1};
  const auto kept = coordinate::selected(column, second);
  CHECK(kept.rows().name(0, 0).position == 1);
  CHECK(kept.rows().first_name(0, 0).position == 6);
}

TEST_CASE("a crop of no cell or of no entry is refused", "[grid_selection]") {
  const grid g({.rows = 3, .columns = 4, .order = traversal::row_major, .class_rows = 1});
  const auto cells = g.cells_of(g.call(1).query_space());
  constexpr index_t least = std::numeric_limits<index_t>::min();
  constexpr index_t most = std::numeric_limits<index_t>::max();
  const auto refused = [&](index_t b, const coordinate::grid_crop& crop) {
    return refusal([&] { return coordinate::rows_within(cells, b, crop); }).code();
  };
  CHECK(refused(0, {.first = {50, 50}, .rows = 9, .columns = 9}) == errc::grid_bounds);
  CHECK(refused(0, {.first = {3, 0}, .rows = 1, .columns = 4}) == errc::grid_bounds);
  CHECK(refused(0, {.first = {0, 0}, .rows = -1, .columns = 2}) == errc::grid_bounds);
  CHECK(refused(0, {.first = {0, 0}, .rows = 2, .columns = 0}) == errc::grid_bounds);
  CHECK(refused(0, {.first = {least, 0}, .rows = 1, .columns = 2}) == errc::grid_bounds);
  CHECK(refused(0, {.first = {0, most}, .rows = 1, .columns = most}) == errc::grid_bounds);
  CHECK(refused(1, {.first = {0, 0}, .rows = 1, .columns = 2}) == errc::row_count);
  CHECK(refused(-1, {.first = {0, 0}, .rows = 1, .columns = 2}) == errc::row_count);
  CHECK(coordinate::rows_within(cells, 0, {.first = {-9, -9}, .rows = most, .columns = most}).size() == 13);
}

TEST_CASE("cells are counted from an origin that leaves them numbers", "[grid_selection]") {
  const grid g({.rows = 3, .columns = 4, .order = traversal::row_major});
  const auto cells = g.cells_of(g.call(1).query_space());
  for (const cell& far : {cell{std::numeric_limits<index_t>::min(), 0}, cell{0, std::numeric_limits<index_t>::max()}}) {
    CHECK(refusal([&] { return coordinate::counted_from(cells, far); }).code() == errc::grid_bounds);
  }
  CHECK(coordinate::counted_from(cells, {-position_limit, 0}).at(0, 0) == grid_place{cell{position_limit, 0}});
}

TEST_CASE("the places of annotated patches are their cells", "[grid_selection]") {
  const row_identity rows(1, 2, {{0, 4}, {0, 6}});
  const auto places = coordinate::places_of(row_column<image_cell>(rows, {{2, 1}, {0, 3}}));
  CHECK(places.values() == std::vector<grid_place>{cell{2, 1}, cell{0, 3}});
  CHECK(places.rows() == rows);
  CHECK(refusal([&] {
          return annotated_rows<double, row_column<image_cell>>(rows, tensor<double, 3>({1, 2, 1}),
                                                                row_column<image_cell>(rows, {{2, 1}, {-1, 3}}));
        }).code() == errc::grid_bounds);
}

}  // namespace grid_selection_test
