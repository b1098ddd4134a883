// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/simd/pack.hpp>

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>

namespace posgeo::test {

/// As many numbers as a pack has lanes.
template <class T>
using lane_array = std::array<T, static_cast<std::size_t>(simd::pack<T>::lanes)>;

template <class T>
[[nodiscard]] lane_array<T> lanes_of(simd::pack<T> a) {
  lane_array<T> out;
  simd::store(out.data(), a);
  return out;
}

/// Whether two numbers have the same bits; unlike ==, it tells +0 from -0, and a NaN equals itself.
template <class T>
[[nodiscard]] bool same_bits(T a, T b) {
  using integer = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  return std::bit_cast<integer>(a) == std::bit_cast<integer>(b);
}
template <class T>
[[nodiscard]] bool same_bits(const lane_array<T>& a, const lane_array<T>& b) {
  for (std::size_t l = 0; l < a.size(); ++l) {
    if (!same_bits(a[l], b[l])) return false;
  }
  return true;
}

}  // namespace posgeo::test
