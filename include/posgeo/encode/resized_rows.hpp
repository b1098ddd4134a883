// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/core/table.hpp>
#include <posgeo/core/table_gradient.hpp>

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

namespace posgeo::encode {

/// Where the rows of a resized table are read in the old one. The two differ everywhere but in the middle.
enum class resize_sampling {
  half_pixel,       ///< row j at (j + 1/2) old / new - 1/2, kept within the ends
  aligned_corners,  ///< row j at j (old - 1) / (new - 1): first on first, last on last
};

namespace detail {

/// The two old rows that a new one is read between.
struct row_blend {
  index_t below;
  index_t above;
  double part;  ///< of the row above
};

[[nodiscard]] inline row_blend blend_of(index_t new_row, index_t old_rows, index_t new_rows, resize_sampling sampling) {
  const auto last = static_cast<double>(old_rows - 1);
  const double ratio = static_cast<double>(old_rows) / static_cast<double>(new_rows);
  const auto at = static_cast<double>(new_row);
  const double aligned = new_rows == 1 ? 0.0 : at * last / static_cast<double>(new_rows - 1);
  const double source = sampling == resize_sampling::half_pixel ? (at + 0.5) * ratio - 0.5 : aligned;
  const double kept = std::min(std::max(source, 0.0), last);
  const auto below = static_cast<index_t>(std::floor(kept));
  return {below, std::min(below + 1, old_rows - 1), kept - static_cast<double>(below)};
}

}  // namespace detail

/// A table of another number of rows, each a linear blend of the two old rows around its sampling point. The new size
/// is a count, never a ratio, whose product would round down. The rows exist; nothing says that a model has learned to
/// use them. Shapes: table [rows, columns] -> [new_rows, columns]. Throws: errc::table_rows for fewer than one new row.
/// Source: Dosovitskiy et al. 2021, section 3.2, in one dimension; the sampling rules are those of image resizing.
template <class Element>
[[nodiscard]] table<Element> resized_rows(const table<Element>& rows, index_t new_rows, resize_sampling sampling) {
  require(new_rows >= 1, errc::table_rows, "resized rows", "new rows", "at least 1", new_rows);
  std::vector<Element> values;
  for (index_t j = 0; j < new_rows; ++j) {
    const auto [below, above, part] = detail::blend_of(j, rows.rows(), new_rows, sampling);
    for (index_t c = 0; c < rows.columns(); ++c) {
      const auto from = static_cast<double>(rows(below, c));
      values.push_back(static_cast<Element>(from + part * (static_cast<double>(rows(above, c)) - from)));
    }
  }
  return {std::span<const Element>(values), new_rows, rows.columns()};
}

/// What the gradient of a resized table gives the old one, which has `old_rows` rows: each new row's, to the two rows
/// it was read between. Throws: errc::table_rows for fewer than one row on either side.
template <class T>
[[nodiscard]] table_gradient<T> resized_rows_backward(const table_gradient<T>& d_new, index_t old_rows,
                                                      resize_sampling sampling) {
  require(old_rows >= 1 && d_new.rows() >= 1, errc::table_rows, "resized rows", "old and new rows", "at least 1 each",
          text("{} and {}", old_rows, d_new.rows()));
  table_gradient<T> to("table", old_rows, d_new.columns(), {old_rows, d_new.columns()});
  for (const index_t j : d_new.touched_rows()) {
    const auto [below, above, part] = detail::blend_of(j, old_rows, d_new.rows(), sampling);
    to.add_row(below, d_new.row(j), static_cast<T>(1.0 - part));
    to.add_row(above, d_new.row(j), static_cast<T>(part));
  }
  return to;
}

}  // namespace posgeo::encode
