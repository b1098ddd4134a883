// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

namespace posgeo::test {

/// |a - b|; 0 for equal infinities, infinity for anything else that has no difference.
[[nodiscard]] inline double difference(double a, double b) {
  if (a == b) return 0.0;
  const double apart = std::abs(a - b);
  return std::isnan(apart) ? std::numeric_limits<double>::infinity() : apart;
}

/// The largest difference of two sequences; infinity if their sizes differ.
template <class A, class B>
[[nodiscard]] double largest_difference(const A& a, const B& b) {
  if (a.size() != b.size()) return std::numeric_limits<double>::infinity();
  double largest = 0.0;
  for (std::size_t n = 0; n < a.size(); ++n) {
    largest = std::max(largest, difference(static_cast<double>(a[n]), static_cast<double>(b[n])));
  }
  return largest;
}

/// The plain dot product, in an order of its own.
template <class A, class B>
[[nodiscard]] double dot(const A& a, const B& b) {
  double sum = 0.0;
  for (std::size_t d = a.size(); d-- > 0;) sum += static_cast<double>(a[d]) * static_cast<double>(b[d]);
  return sum;
}

/// Whether every element is exactly the value (NaN equals nothing).
template <class A, class T>
[[nodiscard]] bool all_equal(const A& values, const T& value) {
  return std::all_of(values.begin(), values.end(), [&](const auto& v) { return v == value; });
}

}  // namespace posgeo::test
