// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/core/index.hpp>

#include <vector>

namespace posgeo::test {

/// Transformer-XL's released relative shift of one matrix: a column of zeros in front, read as [columns + 1, rows], the
/// first row dropped, read as [rows, columns]. Right of the diagonal it gives values of the next row.
template <class T>
[[nodiscard]] std::vector<T> pad_and_reshape(const std::vector<T>& matrix, index_t rows, index_t columns) {
  std::vector<T> padded;
  for (index_t i = 0; i < rows; ++i) {
    padded.push_back(T{0});
    padded.insert(padded.end(), matrix.begin() + i * columns, matrix.begin() + (i + 1) * columns);
  }
  return {padded.begin() + rows, padded.end()};
}

}  // namespace posgeo::test
