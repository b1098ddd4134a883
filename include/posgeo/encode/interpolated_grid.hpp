// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/core/required.hpp>
#include <posgeo/core/table.hpp>
#include <posgeo/core/table_gradient.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace posgeo::encode {

/// The size of a grid of cells: counts, never a factor, whose product would round down.
struct grid_extent {
  required<index_t> rows;
  required<index_t> columns;
};

/// How a number between the old cells is made of them.
enum class grid_kernel {
  bilinear,  ///< of the two nearest on each axis
  bicubic,   ///< of the four nearest on each axis, a = -0.75
};

/// How far apart the new cells stand in the old grid. Both were released with ViT.
enum class size_rule {
  exact_size,    ///< old / new (Transformers 5)
  plus_a_tenth,  ///< old / (new + 0.1) (Transformers until 2024)
};

struct interpolated_grid_settings {
  grid_extent from;
  grid_extent to;
  required<index_t> class_rows;  ///< rows before the patches, kept as they are
  required<grid_kernel> kernel;
  required<size_rule> rule;
};

namespace detail {

/// The old cells that a new one is made of, on one axis, and their shares.
struct axis_blend {
  std::array<index_t, 4> from{};
  std::array<double, 4> share{};
};

[[nodiscard]] inline std::array<double, 4> cubic_shares(double t) {
  constexpr double a = -0.75;
  const auto near = [](double x) { return ((a + 2.0) * x - (a + 3.0)) * x * x + 1.0; };
  const auto far = [](double x) { return ((a * x - 5.0 * a) * x + 8.0 * a) * x - 4.0 * a; };
  return {far(t + 1.0), near(t), near(1.0 - t), far(2.0 - t)};
}

[[nodiscard]] inline std::vector<axis_blend> axis_blends(index_t from, index_t to, grid_kernel kernel, size_rule rule) {
  const double shown = static_cast<double>(to) + (rule == size_rule::plus_a_tenth ? 0.1 : 0.0);
  const double step = static_cast<double>(from) / shown;
  std::vector<axis_blend> blends;
  for (index_t n = 0; n < to; ++n) {
    const double at = (static_cast<double>(n) + 0.5) * step - 0.5;
    const double below = std::floor(at);
    const double t = at - below;
    axis_blend blend;
    blend.share = kernel == grid_kernel::bicubic ? cubic_shares(t) : std::array<double, 4>{0.0, 1.0 - t, t, 0.0};
    for (std::size_t tap = 0; tap < 4; ++tap) {
      const index_t old = static_cast<index_t>(below) + static_cast<index_t>(tap) - 1;
      blend.from[tap] = std::clamp(old, index_t{0}, from - 1);
    }
    blends.push_back(blend);
  }
  return blends;
}

inline void require_extents(const interpolated_grid_settings& s) {
  constexpr index_t most = index_t{1} << 16;
  violations found;
  for (const index_t extent : {s.from.rows, s.from.columns, s.to.rows, s.to.columns}) {
    found.expect(extent >= 1 && extent <= most, errc::grid_bounds, "interpolated grid", "extent", "from 1 to 2^16",
                 extent);
  }
  found.expect(s.class_rows >= 0 && s.class_rows <= most, errc::grid_bounds, "interpolated grid", "class_rows",
               "from 0 to 2^16", s.class_rows);
  found.throw_if_any();
}

}  // namespace detail

/// A row-major table of a grid resized to another one: half-pixel centres, borders repeated, no antialiasing; class
/// rows first, as they were. The rows exist; nothing says that a model has learned to use them.
///
/// Shapes: table [class rows + R C, width] -> [class rows + R' C', width].
/// Units:  cells; new cell n is read at (n + 1/2) step - 1/2, with the step that size_rule names.
/// Throws: errc::grid_bounds for a grid without cells or negative class rows; errc::table_rows for a table that is not
///         one of the old grid.
/// Source: Dosovitskiy et al. 2021, section 3.2, and the released interpolate_pos_encoding.
template <class Element>
[[nodiscard]] table<Element> interpolated_grid(const table<Element>& old, const interpolated_grid_settings& s) {
  detail::require_extents(s);
  require(old.rows() == s.class_rows + s.from.rows * s.from.columns, errc::table_rows, "interpolated grid",
          "table rows", text("{} class rows and {} x {} cells", s.class_rows, s.from.rows, s.from.columns), old.rows());

  const auto down = detail::axis_blends(s.from.rows, s.to.rows, s.kernel, s.rule);
  const auto across = detail::axis_blends(s.from.columns, s.to.columns, s.kernel, s.rule);
  const auto kept = old.values().first(static_cast<std::size_t>(s.class_rows * old.columns()));
  std::vector<Element> values(kept.begin(), kept.end());
  for (const detail::axis_blend& r : down) {
    for (const detail::axis_blend& c : across) {
      for (index_t d = 0; d < old.columns(); ++d) {
        double sum = 0.0;
        for (std::size_t y = 0; y < 4; ++y) {
          double line = 0.0;
          for (std::size_t x = 0; x < 4; ++x) {
            line += c.share[x] * static_cast<double>(old(s.class_rows + r.from[y] * s.from.columns + c.from[x], d));
          }
          sum += r.share[y] * line;
        }
        values.push_back(static_cast<Element>(sum));
      }
    }
  }
  return {std::span<const Element>(values), s.class_rows + s.to.rows * s.to.columns, old.columns()};
}

/// What the gradient of a resized grid table gives the old one: class rows keep theirs, and each new cell's goes to the
/// old cells that it is made of, by their shares.
/// Throws: errc::table_rows for a gradient that is not one of the new grid; errc::grid_bounds for a grid without cells.
template <class T>
[[nodiscard]] table_gradient<T> interpolated_grid_backward(const table_gradient<T>& d_new,
                                                           const interpolated_grid_settings& s) {
  detail::require_extents(s);
  const index_t new_rows = s.class_rows + s.to.rows * s.to.columns;
  require(d_new.rows() == new_rows, errc::table_rows, "interpolated grid", "rows of the gradient", new_rows,
          d_new.rows());
  const index_t old_rows = s.class_rows + s.from.rows * s.from.columns;
  table_gradient<T> to("table", old_rows, d_new.columns(), {old_rows, d_new.columns()});
  const auto down = detail::axis_blends(s.from.rows, s.to.rows, s.kernel, s.rule);
  const auto across = detail::axis_blends(s.from.columns, s.to.columns, s.kernel, s.rule);
  for (const index_t row : d_new.touched_rows()) {
    if (row < s.class_rows) {
      to.add_row(row, d_new.row(row), T{1});
      continue;
    }
    const index_t cell = row - s.class_rows;
    const detail::axis_blend& r = down[static_cast<std::size_t>(cell / s.to.columns)];
    const detail::axis_blend& c = across[static_cast<std::size_t>(cell % s.to.columns)];
    for (std::size_t y = 0; y < 4; ++y) {
      for (std::size_t x = 0; x < 4; ++x) {
        const double share = r.share[y] * c.share[x];
        if (share == 0.0) continue;
        to.add_row(s.class_rows + r.from[y] * s.from.columns + c.from[x], d_new.row(row), static_cast<T>(share));
      }
    }
  }
  return to;
}

}  // namespace posgeo::encode
