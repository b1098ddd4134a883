// SPDX-License-Identifier: MIT
#include <posgeo/call/annotated_rows.hpp>
#include <posgeo/encode/grid_full.hpp>
#include <posgeo/encode/grid_separable.hpp>

#include <algorithm>
#include <array>
#include <string>

#include "support/catch.hpp"
#include "support/compare.hpp"
#include "support/encoded.hpp"
#include "support/random.hpp"
#include "support/refusal.hpp"

namespace grid_full_test {

using namespace posgeo;
using namespace posgeo::test;
using coordinate::cell;
using coordinate::class_row;
using coordinate::grid;
using coordinate::grid_place;
using coordinate::traversal;
using encode::grid_full;

using full_at_cells = encode::of_rows<grid_full<float>, grid_place>;
static_assert(state_encoder<full_at_cells, float> && state_encoder<full_at_cells, double>);

constexpr index_t width = 5;

grid patches(traversal order, index_t class_rows = 1) {
  return grid({.rows = 3, .columns = 4, .order = order, .class_rows = class_rows});
}
table<double> rows_of(index_t rows) {
  return {random_values<double>(static_cast<std::size_t>(rows * width), 321), rows, width};
}

/// Whether row `row` of entry b holds table row `from`.
bool holds(const tensor<double, 3>& states, index_t b, index_t row, const table<double>& weights, index_t from) {
  const auto held = states.view().row(b, row);
  return std::equal(held.begin(), held.end(), weights.row(from).begin());
}

TEST_CASE("a full table has a row for each place of its own grid", "[grid_full]") {
  const grid trained = patches(traversal::row_major);
  const auto weights = rows_of(13);
  const grid_full encoder(weights, trained);
  CHECK(encoder.parameters() == 13 * width);
  const auto call = trained.call(2);
  const auto states = encoded(encoder.at(trained.cells_of(call.query_space())), call);
  for (index_t row = 0; row < 13; ++row) CHECK(holds(states, 1, row, weights, row));
}

TEST_CASE("rows in another traversal read the row of their cell", "[grid_full]") {
  const grid trained = patches(traversal::row_major);
  const auto weights = rows_of(13);
  const grid_full encoder(weights, trained);
  const grid read = patches(traversal::column_major);
  const auto call = read.call(1);
  const auto states = encoded(encoder.at(read.cells_of(call.query_space())), call);
  for (index_t p = 0; p < 13; ++p) {
    CHECK(holds(states, 0, p, weights, trained.position_of(read.at(position{p})).value()));
  }
  // a table read in the wrong order gives vectors of other cells in the same shape
  const auto wrong = encoded(grid_full(weights, read).at(read.cells_of(call.query_space())), call);
  CHECK(holds(wrong, 0, 2, weights, 2));
  CHECK_FALSE(holds(states, 0, 2, weights, 2));
}

TEST_CASE("cropped dropped and sorted rows keep the vector of their cell", "[grid_full]") {
  const grid trained = patches(traversal::serpentine);
  const auto weights = rows_of(13);
  const grid_full encoder(weights, trained);
  const auto cells = trained.cells_of(trained.call(1).query_space());
  auto kept = coordinate::rows_within(cells, 0, {.first = {1, 0}, .rows = 2, .columns = 3});
  kept.erase(kept.begin() + 2);
  std::reverse(kept.begin(), kept.end());
  const auto moved = coordinate::selected(cells, kept);
  const auto call_of = [&](const std::vector<index_t>& positions) {
    const call::explicit_side side{
        .positions = positions, .rows = static_cast<index_t>(positions.size()), .frame = trained.frame()};
    return call::explicit_positions({.query = side, .key = side});
  };
  const auto states = encoded(encoder.at(moved), call_of(kept));  // row n of the whole grid stands at position n
  REQUIRE(states.extent(1) == 6);
  for (index_t row = 0; row < 6; ++row) CHECK(holds(states, 0, row, weights, kept[static_cast<std::size_t>(row)]));

  auto exchanged = kept;
  std::swap(exchanged[0], exchanged[3]);
  CHECK(refusal([&] { return encoder.at(moved).compile<float>(call_of(exchanged)); }).code() == errc::row_identity);
  CHECK(refusal([&] { return encoder.at(cells).compile<float>(call_of(kept)); }).code() == errc::row_identity);
}

TEST_CASE("annotated patches take the vector of their cell wherever a sort puts them", "[grid_full]") {
  const grid trained = patches(traversal::row_major, 0);
  const auto weights = rows_of(12);
  const std::vector<image_cell> cells{{2, 1}, {0, 3}, {1, 0}};
  const row_identity names(1, 3, {{0, 4, true}, {0, 7, true}, {0, 9, true}});
  const auto content = random_tensor<double, 3>({1, 3, width}, 322);
  using patch_rows = annotated_rows<double, row_column<image_cell>>;
  const patch_rows as_cut(names, content.view(), row_column<image_cell>(names, cells));
  const auto sorted = as_cut.sorted_by<image_cell>([](const image_cell& c) { return c.column; });
  const auto& moved = sorted.column<row_column<image_cell>>();
  const auto states = encoded(grid_full(weights, trained).at(coordinate::places_of(moved)), sorted.call());
  for (index_t row = 0; row < 3; ++row) {
    const image_cell at = moved.at(0, row);
    CHECK(at == cells[static_cast<std::size_t>(std::array{2, 0, 1}[static_cast<std::size_t>(row)])]);
    CHECK(holds(states, 0, row, weights, at.row * 4 + at.column));
  }
  tensor<double, 3> stale({1, 3, width});
  const auto before_the_sort = coordinate::places_of(as_cut.column<row_column<image_cell>>());
  CHECK(refusal([&] {
          encode::add_positions(grid_full(weights, trained).at(before_the_sort), sorted.call(), stale.view());
        }).code() == errc::row_identity);
}

TEST_CASE("a full table refuses a grid of another size and cells outside of it", "[grid_full]") {
  const grid trained = patches(traversal::row_major);
  for (const index_t rows : {12, 14}) {
    CHECK(refusal([&] { return grid_full(rows_of(rows), trained); }).code() == errc::table_rows);
  }
  const grid wide({.rows = 4, .columns = 3, .order = traversal::row_major, .class_rows = 1});
  const auto call = wide.call(1);
  const grid_full encoder(rows_of(13), trained);
  CHECK(refusal([&] { return encoder.at(wide.cells_of(call.query_space())).compile<float>(call); }).code() ==
        errc::grid_bounds);  // rows and columns exchanged
  const grid_full without_class(rows_of(12), patches(traversal::row_major, 0));
  const auto with_class = trained.call(1);
  CHECK(refusal([&] {
          return without_class.at(trained.cells_of(with_class.query_space())).compile<float>(with_class);
        }).code() == errc::grid_bounds);
}

TEST_CASE("a full table refuses the cells of a smaller grid unless they are counted as its own", "[grid_full]") {
  const grid_full encoder(rows_of(13), patches(traversal::row_major));
  const grid large({.rows = 6, .columns = 7, .order = traversal::row_major, .class_rows = 1});
  const auto encode_cells = [&](const auto& cells, const position_call& call) {
    return encoder.at(cells).template compile<float>(call);
  };
  for (const grid& other : {grid({.rows = 2, .columns = 3, .order = traversal::row_major, .class_rows = 1}),
                            patches(traversal::row_major, 0)}) {  // every cell would be inside
    const auto call = other.call(1);
    const error refused = refusal([&] { return encode_cells(other.cells_of(call.query_space()), call); });
    CHECK(refused.code() == errc::grid_bounds);
    CHECK(std::string(refused.what()).find(std::string(other.frame().name())) != std::string::npos);
  }
  const auto whole = large.cells_of(large.call(1).query_space());
  const auto kept = coordinate::rows_within(whole, 0, {.first = {2, 1}, .rows = 3, .columns = 4});
  const auto cropped = coordinate::selected(whole, kept);
  const call::explicit_side side{.positions = kept, .rows = static_cast<index_t>(kept.size()), .frame = large.frame()};
  const auto call = call::explicit_positions({.query = side, .key = side});
  CHECK(refusal([&] { return encode_cells(cropped, call); }).code() == errc::grid_bounds);
  CHECK_NOTHROW(encode_cells(coordinate::counted_from(cropped, {2, 1}), call));
  const error outside = refusal([&] { return encode_cells(coordinate::counted_from(cropped, {2, 0}), call); });
  CHECK(std::string(outside.what()).find("cell of row 4 in entry 0: expected one of 3 x 4 cells") != std::string::npos);
}

TEST_CASE("a full table refuses a weight that the type cannot hold", "[grid_full]") {
  const grid one({.rows = 1, .columns = 1, .order = traversal::row_major});
  const std::vector<double> large{1e39};
  const auto call = one.call(1);
  const auto encoder = grid_full(table<double>(large, 1, 1), one).at(one.cells_of(call.query_space()));
  CHECK(refusal([&] { return encoder.compile<float>(call); }).code() == errc::non_finite);
  CHECK_NOTHROW(encoder.compile<double>(call));
}

}  // namespace grid_full_test
