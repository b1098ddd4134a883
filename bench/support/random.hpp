// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/core/tensor.hpp>

#include <algorithm>
#include <random>
#include <vector>

namespace posgeo::bench {

/// count numbers between -1 and 1.
template <class T>
[[nodiscard]] std::vector<T> random_values(index_t count) {
  std::mt19937_64 engine(7);
  std::uniform_real_distribution<double> uniform(-1.0, 1.0);
  std::vector<T> out(static_cast<std::size_t>(count));
  for (T& value : out) value = static_cast<T>(uniform(engine));
  return out;
}

template <class T>
[[nodiscard]] tensor<T, 4> random_tensor(const std::array<index_t, 4>& extents) {
  tensor<T, 4> out(extents);
  const std::vector<T> values = random_values<T>(static_cast<index_t>(out.values().size()));
  std::copy(values.begin(), values.end(), out.values().begin());
  return out;
}

}  // namespace posgeo::bench
