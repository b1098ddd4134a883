// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/coordinate/grid.hpp>
#include <posgeo/encode/described_cells.hpp>
#include <posgeo/encode/of_rows.hpp>
#include <posgeo/encode/sinusoidal.hpp>

#include <numbers>

namespace posgeo::encode {

/// A place in a picture that need not be a cell: fractions and negative numbers are legal. Units: cells.
struct grid_point {
  double row = 0.0;
  double column = 0.0;
};

/// Which axis stands first, and how its half of the columns is filled.
enum class grid_sinusoid {
  mae,            ///< column first (named emb_h there), sines then cosines, spacing 2i / (d / 2)
  tensor2tensor,  ///< row first, sines then cosines, spacing by half minus one; the last d mod 4 columns hold nothing
  detr,           ///< row first, sine and cosine interleaved, spacing 2i / (d / 2)
};

[[nodiscard]] constexpr std::string_view name_of(grid_sinusoid layout) noexcept {
  if (layout == grid_sinusoid::mae) return "mae";
  return layout == grid_sinusoid::tensor2tensor ? "tensor2tensor" : "detr";
}

struct sinusoidal_grid_settings {
  required<index_t> width;
  required<grid_sinusoid> layout;
  double base = 10000.0;
};

/// Sinusoids of the row and of the column, each in columns of its own. Class rows receive nothing.
/// Shapes: states [batch, rows, width]; each axis fills half of the width.
/// Units:  cells, or what the points count; phases in radians, formed in double.
/// Throws: errc::odd_width, when built, for a width that the layout cannot halve into pairs; errc::frequency_settings
///         for a base that is not finite and above 0; errc::non_finite for such a point and errc::row_identity for rows
///         that are not those of the points, when compiled.
/// Source: He et al. 2022 and the released get_2d_sincos_pos_embed; tensor2tensor add_timing_signal_nd; Carion et al.
///         2020, appendix A.4.
class sinusoidal_grid {
 public:
  explicit sinusoidal_grid(const sinusoidal_grid_settings& settings) : settings_(settings), axis_(axis_of(settings)) {}

  [[nodiscard]] index_t width() const noexcept { return settings_.width; }
  [[nodiscard]] description describe() const {
    return description("sinusoidal_grid")
        .with("width", index_t{settings_.width})
        .with("layout", name_of(settings_.layout))
        .with("base", settings_.base);
  }
  [[nodiscard]] static description describe_column(const coordinate::grid_cells& cells) {
    return describe_cells(cells);
  }
  /// Throws: errc::description for a point that is NaN.
  [[nodiscard]] static description describe_column(const row_column<grid_point>& points) {
    for_each_value(points, [](index_t b, index_t row, const grid_point& point) {
      require(!std::isnan(point.row) && !std::isnan(point.column), errc::description, "sinusoidal_grid",
              text("point of row {} in entry {}", row, b), "numbers, which equal themselves", "NaN");
    });
    return description("points")
        .with("rows", describe_rows(points.rows()))
        .with("row", column_numbers(points, [](const grid_point& point) { return point.row; }))
        .with("column", column_numbers(points, [](const grid_point& point) { return point.column; }));
  }

  /// Calls put(column, value) for each column of the row at a point.
  template <class Put>
  void for_each_column(const grid_point& point, const Put& put) const noexcept {
    const bool column_first = settings_.layout == grid_sinusoid::mae;
    axis_.for_each_column(column_first ? point.column : point.row, put);
    axis_.for_each_column(column_first ? point.row : point.column,
                          [&](index_t column, double value) { put(axis_.width() + column, value); });
  }

  /// The state encoder of rows that stand at the given cells or points.
  [[nodiscard]] of_rows<sinusoidal_grid, coordinate::grid_place> at(coordinate::grid_cells cells) const {
    return {*this, std::move(cells)};
  }
  [[nodiscard]] of_rows<sinusoidal_grid, grid_point> at(row_column<grid_point> points) const {
    return {*this, std::move(points)};
  }

  template <class T>
  void check(const coordinate::grid_cells& cells, violations& found) const {
    for_each_value(cells, [&](index_t, index_t, const coordinate::grid_place& place) {
      if (const auto* cell = std::get_if<coordinate::cell>(&place)) {
        for (const index_t at : {cell->row, cell->column}) {
          expect_distinct_angle(position{at}, "sinusoidal_grid", found);
        }
      }
    });
  }
  template <class T>
  void check(const row_column<grid_point>& points, violations& found) const {
    for_each_value(points, [&](index_t b, index_t row, const grid_point& point) {
      for (const double at : {point.row, point.column}) {
        found.expect(std::isfinite(at), errc::non_finite, "sinusoidal_grid",
                     text("point of row {} in entry {}", row, b), "finite numbers", at);
      }
    });
  }
  template <class T>
  void add(const coordinate::grid_place& place, std::span<T> row) const noexcept {
    const auto* cell = std::get_if<coordinate::cell>(&place);
    if (cell != nullptr) add(grid_point{static_cast<double>(cell->row), static_cast<double>(cell->column)}, row);
  }
  template <class T>
  void add(const grid_point& point, std::span<T> row) const noexcept {
    for_each_column(
        point, [&](index_t column, double value) { row[static_cast<std::size_t>(column)] += static_cast<T>(value); });
  }
  template <class T>
  [[nodiscard]] static nothing_learned gradient() noexcept {
    return {};
  }

 private:
  [[nodiscard]] static sinusoidal axis_of(const sinusoidal_grid_settings& s) {
    const bool with_rest = s.layout == grid_sinusoid::tensor2tensor;
    require(with_rest ? s.width >= 8 : s.width > 0 && s.width % 4 == 0, errc::odd_width, "sinusoidal_grid", "width",
            with_rest ? "at least 8 (two pairs for each axis)" : "a multiple of 4 (a pair for each axis)", s.width);
    return sinusoidal(
        {.width = s.width / 4 * 2,
         .layout = s.layout == grid_sinusoid::detr ? sinusoid_layout::interleaved : sinusoid_layout::concatenated,
         .exponent = with_rest ? sinusoid_exponent::half_minus_one : sinusoid_exponent::paper,
         .base = s.base});
  }

  sinusoidal_grid_settings settings_;
  sinusoidal axis_;
};

/// Whether DETR's counts are used as they are or stretched so that the last one is a full turn.
enum class count_scaling {
  counts,
  full_turn,  ///< count / (last count + 1e-6) * 2 pi
};

/// DETR's points: how many unmasked cells there are in a cell's column down to it, and in its row up to it, counted
/// from 1. Class rows have none.
/// Shapes: unmasked [entries, grid rows, grid columns]: 1 for a cell of the picture, 0 for one of its padding.
/// Throws: errc::shape_mismatch for a mask of another shape; errc::grid_bounds for a class row or a cell outside.
/// Source: Carion et al. 2020, the released PositionEmbeddingSine.
[[nodiscard]] inline row_column<grid_point> counted_points(const coordinate::grid& grid,
                                                           const coordinate::grid_cells& cells,
                                                           tensor_view<const std::uint8_t, 3> unmasked,
                                                           count_scaling scaling) {
  const std::array<index_t, 3> shape{cells.rows().entries(), grid.rows(), grid.columns()};
  require(unmasked.extents() == shape, errc::shape_mismatch, "counted points", "mask",
          text("{} entries of {} x {} cells", shape[0], shape[1], shape[2]),
          text("{} of {} x {}", unmasked.extent(0), unmasked.extent(1), unmasked.extent(2)));
  std::vector<grid_point> points(cells.values().size());
  for_each_value(cells, [&](index_t b, index_t row, const coordinate::grid_place& place) {
    const auto* cell = std::get_if<coordinate::cell>(&place);
    require(cell != nullptr, errc::grid_bounds, "counted points", text("row {} of entry {}", row, b),
            "a cell of the grid", "a class row");
    require(grid.contains(*cell), errc::grid_bounds, "counted points", text("row {} of entry {}", row, b),
            text("one of {} x {} cells", grid.rows(), grid.columns()),
            text("row {}, column {}", cell->row, cell->column));
    const auto count = [](index_t until, const auto& seen) {
      double sum = 0.0;
      for (index_t at = 0; at < until; ++at) sum += seen(at) != 0 ? 1.0 : 0.0;
      return sum;
    };
    const auto scaled = [&](index_t at, index_t extent, const auto& seen) {
      const double counted = count(at + 1, seen);
      return scaling == count_scaling::counts ? counted
                                              : counted / (count(extent, seen) + 1e-6) * 2.0 * std::numbers::pi;
    };
    const auto down = [&](index_t r) { return unmasked.row(b, r)[static_cast<std::size_t>(cell->column)]; };
    const auto across = [&](index_t c) { return unmasked.row(b, cell->row)[static_cast<std::size_t>(c)]; };
    points[static_cast<std::size_t>(b * cells.rows().rows() + row)] = {scaled(cell->row, grid.rows(), down),
                                                                       scaled(cell->column, grid.columns(), across)};
  });
  return {cells.rows(), std::move(points)};
}

}  // namespace posgeo::encode
