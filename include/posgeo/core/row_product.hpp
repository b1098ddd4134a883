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

}  // namespace posgeo
