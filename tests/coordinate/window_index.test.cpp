// SPDX-License-Identifier: MIT
#include <posgeo/call/explicit_positions.hpp>
#include <posgeo/coordinate/window_index.hpp>

#include <map>

#include "support/catch.hpp"
#include "support/refusal.hpp"

namespace window_index_test {

using namespace posgeo;
using namespace posgeo::test;
using coordinate::cell;
using coordinate::grid;
using coordinate::traversal;
using coordinate::window_index;

grid window(index_t rows, index_t columns, traversal order = traversal::row_major, index_t class_rows = 0) {
  return grid({.rows = rows, .columns = columns, .order = order, .class_rows = class_rows});
}

TEST_CASE("every window has one class for each offset and no other", "[window_index]") {
  for (index_t rows = 1; rows <= 5; ++rows) {
    for (index_t columns = 1; columns <= 6; ++columns) {
      const grid g = window(rows, columns);
      const window_index index(g);
      std::map<std::pair<index_t, index_t>, index_t> class_of;
      std::map<index_t, std::pair<index_t, index_t>> offset_of;
      const auto call = g.call(1);
      bool one_to_one = true;
      for (const query_index i : indices<query_index>(call.queries())) {
        for (const key_index j : indices<key_index>(call.keys())) {
          const auto q = std::get<cell>(g.at(call.at(batch_index{0}, i)));
          const auto k = std::get<cell>(g.at(call.at(batch_index{0}, j)));
          const std::pair<index_t, index_t> offset{q.row - k.row, q.column - k.column};
          const index_t found = index(call, batch_index{0}, i, j);
          one_to_one = one_to_one && found >= 0 && found < index.classes() &&
                       class_of.try_emplace(offset, found).first->second == found &&
                       offset_of.try_emplace(found, offset).first->second == offset;
        }
      }
      CHECK(one_to_one);
      CHECK(static_cast<index_t>(offset_of.size()) == index.classes());
    }
  }
}

TEST_CASE("the class counts rows of the width and query minus key", "[window_index]") {
  const window_index index(window(2, 3));
  CHECK(index(cell{1, 0}, cell{0, 2}) == (1 + 1) * 5 + (-2 + 2));
  CHECK(index(cell{0, 2}, cell{1, 0}) == (-1 + 1) * 5 + (2 + 2));
  CHECK(index(cell{1, 1}, cell{1, 1}) == 7);
}

TEST_CASE("cells have one class whatever the traversal", "[window_index]") {
  const grid by_rows = window(3, 4);
  const grid to_and_fro = window(3, 4, traversal::serpentine);
  const window_index a(by_rows);
  const window_index b(to_and_fro);
  for (index_t n = 0; n < 12; ++n) {
    for (index_t m = 0; m < 12; ++m) {
      const auto query = std::get<cell>(by_rows.at(position{n}));
      const auto key = std::get<cell>(by_rows.at(position{m}));
      CHECK(a(query, key) == b(query, key));
    }
  }
}

TEST_CASE("a window refuses rows that are not its cells", "[window_index]") {
  const grid g = window(2, 3, traversal::row_major, 1);
  const window_index index(g);
  const auto found_in = [&](const std::vector<index_t>& positions, const coordinate_frame& frame) {
    const call::explicit_side side{
        .positions = positions, .rows = static_cast<index_t>(positions.size()), .frame = frame};
    violations found;
    index.check(call::explicit_positions({.query = side, .key = side}), "window", found);
    return codes(found);
  };
  CHECK(found_in({6, 1, 3}, g.frame()).empty());
  // Queries and keys break a rule alike, and it is said once.
  CHECK(found_in({1, 7}, g.frame()) == std::vector{errc::grid_bounds});
  CHECK(found_in({0, 1}, g.frame()) == std::vector{errc::grid_bounds});  // the class row
  CHECK(found_in({1, 2}, coordinate_frame{}) == std::vector{errc::frame_mismatch});
  const auto other = window(2, 3, traversal::column_major, 1).frame();
  CHECK(found_in({1, 2}, other) == std::vector{errc::frame_mismatch});
}

}  // namespace window_index_test
