// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/core/table.hpp>

#include <cmath>
#include <random>
#include <vector>

namespace posgeo::atlas {

/// Numbers from -size to size, the same on every machine.
[[nodiscard]] inline std::vector<double> some_numbers(index_t count, double size, unsigned seed) {
  std::mt19937_64 draw(seed);
  std::vector<double> out;
  for (index_t n = 0; n < count; ++n) {
    out.push_back(size * (static_cast<double>(draw() >> 11U) * 0x1p-52 - 1.0));
  }
  return out;
}

[[nodiscard]] inline table<double> some_table(index_t rows, index_t columns, double size, unsigned seed) {
  const std::vector<double> numbers = some_numbers(rows * columns, size, seed);
  return {numbers, rows, columns};
}

/// A table whose columns are waves along its rows, so that a picture shows which row is read.
[[nodiscard]] inline table<double> waves(index_t rows, index_t columns, double size) {
  std::vector<double> numbers;
  for (index_t r = 0; r < rows; ++r) {
    for (index_t c = 0; c < columns; ++c) {
      numbers.push_back(size * std::cos(0.35 * static_cast<double>((r + 1) * (c + 1)) + static_cast<double>(c)));
    }
  }
  return {numbers, rows, columns};
}

}  // namespace posgeo::atlas
