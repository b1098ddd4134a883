// SPDX-License-Identifier: MIT
#include <posgeo/call/explicit_positions.hpp>
#include <posgeo/call/padded_batch.hpp>
#include <posgeo/coordinate/grid.hpp>

#include <algorithm>
#include <random>
#include <set>
#include <string>

#include "support/catch.hpp"
#include "support/refusal.hpp"

namespace grid_test {

using namespace posgeo;
using namespace posgeo::test;
using coordinate::cell;
using coordinate::class_row;
using coordinate::grid;
using coordinate::grid_place;
using coordinate::traversal;

constexpr traversal every_order[] = {traversal::row_major, traversal::column_major, traversal::serpentine};

grid two_by_three(traversal order, index_t class_rows = 0) {
  return grid({.rows = 2, .columns = 3, .order = order, .class_rows = class_rows});
}

/// Cells as "rc" in the order of their positions.
std::string visited(const grid& g) {
  std::string out;
  for (index_t p = g.class_rows(); p < g.positions(); ++p) {
    const auto c = std::get<cell>(g.at(position{p}));
    out += std::to_string(c.row) + std::to_string(c.column) + " ";
  }
  return out;
}

TEST_CASE("each traversal visits the cells in its own order", "[grid]") {
  CHECK(visited(two_by_three(traversal::row_major)) == "00 01 02 10 11 12 ");
  CHECK(visited(two_by_three(traversal::column_major)) == "00 10 01 11 02 12 ");
  CHECK(visited(two_by_three(traversal::serpentine, 2)) == "00 01 02 12 11 10 ");
}

TEST_CASE("position and place are inverse in every traversal", "[grid]") {
  for (const traversal order : every_order) {
    const grid g({.rows = 5, .columns = 3, .order = order, .class_rows = 2});
    std::set<std::pair<index_t, index_t>> seen;
    for (index_t p = 0; p < g.positions(); ++p) {
      const grid_place place = g.at(position{p});
      CHECK(g.position_of(place) == position{p});
      CHECK(std::holds_alternative<class_row>(place) == (p < 2));
      if (const cell* c = std::get_if<cell>(&place)) seen.insert({c->row, c->column});
    }
    CHECK(seen.size() == 15);
    CHECK(std::get<class_row>(g.at(position{1})).index == 1);
  }
}

TEST_CASE("a grid refuses places outside of it and a size without cells", "[grid]") {
  const grid g({.rows = 3, .columns = 5, .order = traversal::row_major, .class_rows = 1});
  for (const index_t p : {index_t{-1}, index_t{16}, position_limit}) {
    CHECK(refusal([&] { return g.at(position{p}); }).code() == errc::grid_bounds);
  }
  CHECK_NOTHROW(g.position_of(cell{2, 4}));
  for (const grid_place& place : std::vector<grid_place>{cell{4, 2}, cell{-1, 0}, cell{0, 5}, class_row{1}}) {
    CHECK(refusal([&] { return g.position_of(place); }).code() == errc::grid_bounds);
  }
  const auto sized = [](index_t rows, index_t columns, index_t class_rows) {
    return refusal([&] {
             return grid({.rows = rows, .columns = columns, .order = traversal::row_major, .class_rows = class_rows});
           })
        .code();
  };
  CHECK(sized(0, 5, 0) == errc::grid_bounds);
  CHECK(sized(5, -1, 0) == errc::grid_bounds);
  CHECK(sized(65537, 1, 0) == errc::grid_bounds);
  CHECK(sized(1, 1, -1) == errc::grid_bounds);
}

TEST_CASE("a grid refuses rows that count in the frame of another grid", "[grid]") {
  const grid written = two_by_three(traversal::row_major);
  const auto call = written.call(2);
  CHECK(call.batch() == 2);
  CHECK(call.queries() == 6);
  CHECK_NOTHROW(written.cells_of(call.query_space()));
  const grid others[] = {two_by_three(traversal::column_major), two_by_three(traversal::serpentine),
                         two_by_three(traversal::row_major, 1),
                         grid({.rows = 3, .columns = 2, .order = traversal::row_major})};
  for (const grid& other : others) {
    CHECK(refusal([&] { return other.cells_of(call.query_space()); }).code() == errc::frame_mismatch);
  }
}

TEST_CASE("the largest grid has a name for its frame", "[grid]") {
  CHECK_NOTHROW(grid({.rows = 65536, .columns = 65536, .order = traversal::column_major, .class_rows = 65536}).frame());
}

TEST_CASE("padded rows need no cell", "[grid]") {
  const grid g = two_by_three(traversal::column_major);
  const std::vector<index_t> lengths{2, 6};
  const auto call = call::padded_batch({.lengths = lengths,
                                        .rows = 7,
                                        .side = call::padding_side::right,
                                        .positions = call::padded_positions::contiguous(0),
                                        .frame = g.frame()});
  const auto cells = g.cells_of(call.query_space());
  CHECK(std::get<cell>(cells.at(0, 1)) == cell{1, 0});
  CHECK(std::get<cell>(cells.at(1, 5)) == cell{1, 2});
}

TEST_CASE("a grid admits the frames of its own size and those of no grid", "[grid]") {
  const grid g({.rows = 3, .columns = 4, .order = traversal::serpentine, .class_rows = 1});
  const auto frame_of = [](index_t rows, index_t columns, index_t class_rows) {
    return grid({.rows = rows, .columns = columns, .order = traversal::column_major, .class_rows = class_rows}).frame();
  };
  CHECK(g.admits(frame_of(3, 4, 1)));
  CHECK(g.admits(coordinate_frame()));
  CHECK_FALSE(g.admits(frame_of(3, 4, 0)));
  CHECK_FALSE(g.admits(frame_of(3, 4, 12)));  // 12 begins like 1
  CHECK_FALSE(g.admits(frame_of(13, 4, 1)));
  CHECK_FALSE(g.admits(frame_of(4, 3, 1)));
}

}  // namespace grid_test
