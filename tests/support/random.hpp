// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/core/table.hpp>
#include <posgeo/core/tensor.hpp>

#include <array>
#include <random>
#include <vector>

namespace posgeo::test {

/// A tensor of standard normal numbers: never a ramp, which would hide sign and order mistakes.
template <class T, std::size_t Rank>
[[nodiscard]] tensor<T, Rank> random_tensor(const std::array<index_t, Rank>& extents, unsigned seed) {
  std::mt19937_64 engine(seed);
  std::normal_distribution<double> normal;
  tensor<T, Rank> out(extents);
  for (T& value : out.values()) value = static_cast<T>(normal(engine));
  return out;
}

/// count standard normal numbers.
template <class T>
[[nodiscard]] std::vector<T> random_values(std::size_t count, unsigned seed) {
  std::mt19937_64 engine(seed);
  std::normal_distribution<double> normal;
  std::vector<T> out(count);
  for (T& value : out) value = static_cast<T>(normal(engine));
  return out;
}

/// A table of standard normal numbers.
[[nodiscard]] inline table<double> random_table(index_t rows, index_t columns, unsigned seed) {
  return {random_values<double>(static_cast<std::size_t>(rows * columns), seed), rows, columns};
}

}  // namespace posgeo::test
