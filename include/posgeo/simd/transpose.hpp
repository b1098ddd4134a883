// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/simd/pack.hpp>

#include <bit>
#include <cstddef>
#include <utility>

namespace posgeo::simd {
inline namespace POSGEO_SIMD_ISA {

namespace detail {

/// Swaps the off-diagonal halves of every 2 Step x 2 Step square that rows a and b = a + Step go through.
template <std::size_t Step, class Vector, std::size_t... L>
inline void swap_squares(Vector& a, Vector& b, std::index_sequence<L...>) noexcept {
  constexpr std::size_t lanes = sizeof...(L);
  const Vector upper = __builtin_shufflevector(a, b, static_cast<int>((L & Step) == 0 ? L : L - Step + lanes)...);
  b = __builtin_shufflevector(a, b, static_cast<int>((L & Step) == 0 ? L + Step : L + lanes)...);
  a = upper;
}

}  // namespace detail

/// to[c * to_stride + r] = from[r * from_stride + c] for lanes rows and lanes columns.
template <class T>
inline void transpose(const T* from, std::int64_t from_stride, T* to, std::int64_t to_stride) noexcept {
  constexpr std::size_t lanes = pack<T>::lanes;
  using vector = typename detail::short_vector<T, lanes>::type;
  vector row[lanes];
#pragma GCC unroll 16
  for (std::size_t r = 0; r < lanes; ++r) {
    row[r] = std::bit_cast<vector>(load(from + static_cast<std::int64_t>(r) * from_stride).value);
  }
  const auto step = [&row]<std::size_t Step>(std::integral_constant<std::size_t, Step>) {
    if constexpr (Step < lanes) {
#pragma GCC unroll 16
      for (std::size_t r = 0; r < lanes; ++r) {
        if ((r & Step) == 0) detail::swap_squares<Step>(row[r], row[r + Step], std::make_index_sequence<lanes>{});
      }
    }
  };
  step(std::integral_constant<std::size_t, 1>{});
  step(std::integral_constant<std::size_t, 2>{});
  step(std::integral_constant<std::size_t, 4>{});
  step(std::integral_constant<std::size_t, 8>{});
#pragma GCC unroll 16
  for (std::size_t c = 0; c < lanes; ++c) {
    store(to + static_cast<std::int64_t>(c) * to_stride, pack<T>{std::bit_cast<decltype(pack<T>::value)>(row[c])});
  }
}

}  // namespace POSGEO_SIMD_ISA
}  // namespace posgeo::simd
