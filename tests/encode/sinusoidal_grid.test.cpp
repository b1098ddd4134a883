// SPDX-License-Identifier: MIT
#include <posgeo/encode/sinusoidal_grid.hpp>

#include <cmath>
#include <limits>
#include <numbers>
#include <string>

#include "support/catch.hpp"
#include "support/compare.hpp"
#include "support/encoded.hpp"
#include "support/refusal.hpp"

namespace sinusoidal_grid_test {

using namespace posgeo;
using namespace posgeo::test;
using coordinate::grid;
using coordinate::traversal;
using encode::count_scaling;
using encode::grid_point;
using encode::grid_sinusoid;
using encode::sinusoidal_grid;

using at_cells = encode::of_rows<sinusoidal_grid, coordinate::grid_place>;
using at_points = encode::of_rows<sinusoidal_grid, grid_point>;
static_assert(state_encoder<at_cells, float> && state_encoder<at_points, double>);

const grid patches({.rows = 3, .columns = 5, .order = traversal::row_major, .class_rows = 1});

std::vector<double> row_at(const sinusoidal_grid& encoder, const grid_point& point) {
  std::vector<double> out(static_cast<std::size_t>(encoder.width()));
  encoder.for_each_column(point, [&](index_t c, double value) { out[static_cast<std::size_t>(c)] = value; });
  return out;
}

TEST_CASE("mae encodes the column first and tensor2tensor and detr the row", "[sinusoidal_grid]") {
  const grid_point p{.row = 2.5, .column = -7.0};
  const auto sine = [](double x, double exponent) { return std::sin(x * std::pow(10000.0, -exponent)); };
  const auto cosine = [](double x, double exponent) { return std::cos(x * std::pow(10000.0, -exponent)); };
  const auto mae = row_at(sinusoidal_grid({.width = 8, .layout = grid_sinusoid::mae}), p);
  CHECK(largest_difference(mae, std::vector{sine(-7, 0), sine(-7, 0.5), cosine(-7, 0), cosine(-7, 0.5), sine(2.5, 0),
                                            sine(2.5, 0.5), cosine(2.5, 0), cosine(2.5, 0.5)}) < 1e-15);
  const auto detr = row_at(sinusoidal_grid({.width = 8, .layout = grid_sinusoid::detr}), p);
  CHECK(largest_difference(detr, std::vector{sine(2.5, 0), cosine(2.5, 0), sine(2.5, 0.5), cosine(2.5, 0.5),
                                             sine(-7, 0), cosine(-7, 0), sine(-7, 0.5), cosine(-7, 0.5)}) < 1e-15);
  const auto t2t = row_at(sinusoidal_grid({.width = 11, .layout = grid_sinusoid::tensor2tensor}), p);
  CHECK(largest_difference(t2t, std::vector{sine(2.5, 0), sine(2.5, 1), cosine(2.5, 0), cosine(2.5, 1), sine(-7, 0),
                                            sine(-7, 1), cosine(-7, 0), cosine(-7, 1), 0.0, 0.0, 0.0}) < 1e-15);
}

TEST_CASE("exchanging row and column exchanges the halves and is seen", "[sinusoidal_grid]") {
  for (const auto layout : {grid_sinusoid::mae, grid_sinusoid::tensor2tensor, grid_sinusoid::detr}) {
    const sinusoidal_grid encoder({.width = 12, .layout = layout});
    auto right = row_at(encoder, {.row = 1.0, .column = 4.0});
    const auto exchanged = row_at(encoder, {.row = 4.0, .column = 1.0});
    CHECK(largest_difference(right, exchanged) > 0.5);
    std::rotate(right.begin(), right.begin() + 6, right.end());
    CHECK(largest_difference(right, exchanged) == 0.0);
  }
}

TEST_CASE("cells and points at the same places give the same rows and class rows nothing", "[sinusoidal_grid]") {
  const sinusoidal_grid encoder({.width = 8, .layout = grid_sinusoid::mae, .base = 50.0});
  const auto call = patches.call(2);
  const auto cells = patches.cells_of(call.query_space());
  const auto states = encoded(encoder.at(cells), call);
  for (index_t p = 0; p < patches.positions(); ++p) {
    const auto place = patches.at(position{p});
    const auto* c = std::get_if<coordinate::cell>(&place);
    const auto expected = c == nullptr ? std::vector<double>(8)
                                       : row_at(encoder, {static_cast<double>(c->row), static_cast<double>(c->column)});
    CHECK(largest_difference(states.view().row(1, p), expected) == 0.0);
  }
}

TEST_CASE("a layout refuses a width that it cannot halve into pairs", "[sinusoidal_grid]") {
  const auto refused = [](index_t width, grid_sinusoid layout) {
    return refusal([&] { return sinusoidal_grid({.width = width, .layout = layout}); }).code();
  };
  for (const index_t width : {-4, 0, 6, 9}) {
    CHECK(refused(width, grid_sinusoid::mae) == errc::odd_width);
    CHECK(refused(width, grid_sinusoid::detr) == errc::odd_width);
  }
  CHECK(refused(0, grid_sinusoid::tensor2tensor) == errc::odd_width);
  CHECK(refused(7, grid_sinusoid::tensor2tensor) == errc::odd_width);  // one pair has no spacing
  const auto narrow = [] { return sinusoidal_grid({.width = 6, .layout = grid_sinusoid::tensor2tensor}); };
  CHECK(std::string(refusal(narrow).what()).find("got 6") != std::string::npos);
  const auto no_base = [] { return sinusoidal_grid({.width = 8, .layout = grid_sinusoid::mae, .base = 0.0}); };
  CHECK(refusal(no_base).code() == errc::frequency_settings);
}

TEST_CASE("points that are no numbers and cells without an exact angle are refused", "[sinusoidal_grid]") {
  const sinusoidal_grid encoder({.width = 8, .layout = grid_sinusoid::mae});
  const auto call = call_at({0, 1});
  const auto rows = row_identity::of(call.query_space());
  for (const double bad : {std::nan(""), std::numeric_limits<double>::infinity()}) {
    for (const grid_point& point : {grid_point{bad, 0.0}, grid_point{0.0, bad}}) {
      const row_column<grid_point> points(rows, {{1.0, 2.0}, point});
      CHECK(refusal([&] { return encoder.at(points).compile<float>(call); }).code() == errc::non_finite);
    }
  }
  const coordinate::grid_cells far(rows, {coordinate::cell{0, 0}, coordinate::cell{0, angle_position_limit + 1}});
  CHECK(refusal([&] { return encoder.at(far).compile<float>(call); }).code() == errc::position_precision);
}

TEST_CASE("detr counts the unmasked cells of each row and column from one", "[sinusoidal_grid]") {
  const grid g({.rows = 2, .columns = 3, .order = traversal::column_major});
  const std::vector<std::uint8_t> mask{0, 1, 1,  //
                                       1, 1, 0};
  const auto cells = g.cells_of(g.call(1).query_space());
  const tensor_view<const std::uint8_t, 3> unmasked(mask.data(), {1, 2, 3});
  const auto counted = encode::counted_points(g, cells, unmasked, count_scaling::counts);
  const auto turned = encode::counted_points(g, cells, unmasked, count_scaling::full_turn);
  const auto flat = [](const row_column<grid_point>& points) {
    std::vector<double> out;
    for (const grid_point& p : points.values()) out.insert(out.end(), {p.row, p.column});
    return out;
  };
  // cells 00 10 01 11 02 12: the count down the column, then along the row
  CHECK(flat(counted) == std::vector<double>{0, 0, 1, 1, 1, 1, 2, 2, 1, 2, 1, 2});
  std::vector<double> expected;
  for (const auto& [count, last] : std::vector<std::pair<double, double>>{
           {0, 1}, {0, 2}, {1, 1}, {1, 2}, {1, 2}, {1, 2}, {2, 2}, {2, 2}, {1, 1}, {2, 2}, {1, 1}, {2, 2}}) {
    expected.push_back(count / (last + 1e-6) * 2.0 * std::numbers::pi);
  }
  CHECK(largest_difference(flat(turned), expected) == 0.0);
}

TEST_CASE("counted points refuse a mask of another shape and rows without a cell", "[sinusoidal_grid]") {
  const std::vector<std::uint8_t> mask(15, 1);
  const grid g({.rows = 3, .columns = 5, .order = traversal::row_major});
  const auto refused = [&](const grid& of, const std::array<index_t, 3>& shape) {
    return refusal([&] {
      return encode::counted_points(g, of.cells_of(of.call(1).query_space()), {mask.data(), shape},
                                    count_scaling::counts);
    });
  };
  const auto expect = [&](const error& found, errc code, const std::string& words) {
    CHECK(found.code() == code);
    CHECK(std::string(found.what()).find(words) != std::string::npos);
  };
  expect(refused(g, {1, 5, 3}), errc::shape_mismatch, "expected 1 entries of 3 x 5 cells, got 1 of 5 x 3");
  expect(refused(patches, {1, 3, 5}), errc::grid_bounds, "got a class row");
  expect(refused(grid({.rows = 5, .columns = 3, .order = traversal::row_major}), {1, 3, 5}), errc::grid_bounds,
         "row 9 of entry 0: expected one of 3 x 5 cells, got row 3, column 0");
}

}  // namespace sinusoidal_grid_test
