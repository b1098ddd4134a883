// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/core/table.hpp>

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

/// A table of another number of rows, each a linear blend of the two old rows around its sampling point. The new size
/// is a count, never a ratio, whose product would round down. The rows exist; nothing says that a model has learned to
/// use them. Shapes: table [rows, columns] -> [new_rows, columns]. Throws: errc::table_rows for fewer than one new row.
/// Source: Dosovitskiy et al. 2021, section 3.2, in one dimension; the sampling rules are those of image resizing.
template <class Element>
[[nodiscard]] table<Element> resized_rows(const table<Element>& rows, index_t new_rows, resize_sampling sampling) {
  require(new_rows >= 1, errc::table_rows, "resized rows", "new rows", "at least 1", new_rows);
  const auto last = static_cast<double>(rows.rows() - 1);
  const double ratio = static_cast<double>(rows.rows()) / static_cast<double>(new_rows);
  std::vector<Element> values;
  for (index_t j = 0; j < new_rows; ++j) {
    const auto at = static_cast<double>(j);
    const double aligned = new_rows == 1 ? 0.0 : at * last / static_cast<double>(new_rows - 1);
    const double source = sampling == resize_sampling::half_pixel ? (at + 0.5) * ratio - 0.5 : aligned;
    const double kept = std::min(std::max(source, 0.0), last);
    const auto below = static_cast<index_t>(std::floor(kept));
    const index_t above = std::min(below + 1, rows.rows() - 1);
    const double part = kept - static_cast<double>(below);
    for (index_t c = 0; c < rows.columns(); ++c) {
      const auto from = static_cast<double>(rows(below, c));
      values.push_back(static_cast<Element>(from + part * (static_cast<double>(rows(above, c)) - from)));
    }
  }
  return {std::span<const Element>(values), new_rows, rows.columns()};
}

}  // namespace posgeo::encode
