// SPDX-License-Identifier: MIT
#include <posgeo/encode/grid_full.hpp>
#include <posgeo/encode/grid_separable.hpp>

#include "support/catch.hpp"
#include "support/compare.hpp"
#include "support/encoded.hpp"
#include "support/random.hpp"
#include "support/refusal.hpp"

namespace grid_separable_test {

using namespace posgeo;
using namespace posgeo::test;
using coordinate::grid;
using coordinate::traversal;
using encode::grid_full;
using encode::grid_separable;

using separable_at_cells = encode::of_rows<grid_separable<float>, coordinate::grid_place>;
static_assert(state_encoder<separable_at_cells, float> && state_encoder<separable_at_cells, double>);

constexpr index_t width = 6;
const grid patches({.rows = 3, .columns = 5, .order = traversal::column_major, .class_rows = 1});

table<double> table_of(index_t rows, unsigned seed, index_t columns = width) {
  return {random_values<double>(static_cast<std::size_t>(rows * columns), seed), rows, columns};
}
template <class Encoder>
tensor<double, 3> whole(const Encoder& encoder) {
  const auto call = patches.call(1);
  return encoded(encoder.at(patches.cells_of(call.query_space())), call);
}

/// The largest |p(r, c) + p(r + 1, c + 1) - p(r, c + 1) - p(r + 1, c)| over the grid.
double rectangle_defect(const tensor<double, 3>& states) {
  const auto at = [&](index_t r, index_t c, index_t d) {
    return states(0, patches.position_of(coordinate::cell{r, c}).value(), d);
  };
  double largest = 0.0;
  for (index_t r = 0; r + 1 < patches.rows(); ++r) {
    for (index_t c = 0; c + 1 < patches.columns(); ++c) {
      for (index_t d = 0; d < width; ++d) {
        largest = std::max(largest, difference(at(r, c, d) + at(r + 1, c + 1, d), at(r, c + 1, d) + at(r + 1, c, d)));
      }
    }
  }
  return largest;
}

TEST_CASE("a separable grid adds the row of the row and that of the column", "[grid_separable]") {
  const auto down = table_of(3, 331);
  const auto across = table_of(5, 332);
  const auto states = whole(grid_separable(down, across));
  for (index_t p = 1; p < 16; ++p) {
    const auto c = std::get<coordinate::cell>(patches.at(position{p}));
    for (index_t d = 0; d < width; ++d) CHECK(states(0, p, d) == down(c.row, d) + across(c.column, d));
  }
  for (index_t d = 0; d < width; ++d) CHECK(states(0, 0, d) == 0.0);  // the class row
}

TEST_CASE("the rectangle identity holds for a separable grid and not for a full table", "[grid_separable]") {
  CHECK(rectangle_defect(whole(grid_separable(table_of(3, 333), table_of(5, 334)))) < 1e-14);
  CHECK(rectangle_defect(whole(grid_full(table_of(16, 335), patches))) > 0.5);
}

TEST_CASE("a separable grid has rows plus columns and a full table their product", "[grid_separable]") {
  const grid without_class({.rows = 3, .columns = 5, .order = traversal::row_major});
  CHECK(grid_separable(table_of(3, 336), table_of(5, 337)).parameters() == (3 + 5) * width);
  CHECK(grid_full(table_of(15, 338), without_class).parameters() == 3 * 5 * width);
}

TEST_CASE("exchanged tables are refused on a grid that is not square", "[grid_separable]") {
  const auto call = patches.call(1);
  const grid_separable exchanged(table_of(5, 339), table_of(3, 340));
  CHECK(refusal([&] { return exchanged.at(patches.cells_of(call.query_space())).compile<float>(call); }).code() ==
        errc::grid_bounds);
  const auto two_widths = [] { return grid_separable(table_of(3, 341), table_of(5, 342, width + 1)); };
  CHECK(refusal(two_widths).code() == errc::shape_mismatch);
}

TEST_CASE("cells counted from elsewhere are refused where the tables have no row", "[grid_separable]") {
  const auto call = patches.call(1);
  const auto cells = coordinate::counted_from(patches.cells_of(call.query_space()), {1, 0});
  const grid_separable encoder(table_of(3, 343), table_of(5, 344));
  CHECK(refusal([&] { return encoder.at(cells).compile<float>(call); }).code() == errc::grid_bounds);
}

TEST_CASE("a separable grid refuses a weight that the type cannot hold", "[grid_separable]") {
  const grid one({.rows = 1, .columns = 1, .order = traversal::row_major});
  const std::vector<double> large{1e39};
  const std::vector<double> small{0.0};
  const auto call = one.call(1);
  const auto cells = one.cells_of(call.query_space());
  const grid_separable down(table<double>(large, 1, 1), table<double>(small, 1, 1));
  const grid_separable across(table<double>(small, 1, 1), table<double>(large, 1, 1));
  CHECK(refusal([&] { return down.at(cells).compile<float>(call); }).code() == errc::non_finite);
  CHECK(refusal([&] { return across.at(cells).compile<float>(call); }).code() == errc::non_finite);
  const table<double> half(std::vector<double>{-2e38}, 1, 1);  // each fits, two do not
  const grid_separable both(half, half);
  CHECK(refusal([&] { return both.at(cells).compile<float>(call); }).code() == errc::non_finite);
  CHECK_NOTHROW(both.at(cells).compile<double>(call));
}

}  // namespace grid_separable_test
