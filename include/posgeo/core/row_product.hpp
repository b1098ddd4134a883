// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>

namespace posgeo {

/// The dot product of a row in T and a table's row of the same width, formed in T.
template <class T, class Element>
[[nodiscard]] T row_product(std::span<const T> row, std::span<const Element> table_row) noexcept {
  T sum{0};
  for (std::size_t d = 0; d < row.size(); ++d) sum += row[d] * static_cast<T>(table_row[d]);
  return sum;
}

/// Adds factor times a table's row to a row in T.
template <class T, class Element>
void add_scaled(T factor, std::span<const Element> table_row, std::span<T> row) noexcept {
  for (std::size_t d = 0; d < row.size(); ++d) row[d] += factor * static_cast<T>(table_row[d]);
}

}  // namespace posgeo
