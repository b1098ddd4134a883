// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/simd/convert.hpp>

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

/// Turns rows into columns, in place.
template <std::size_t Lanes, class Vector>
inline void turn_square(Vector (&row)[Lanes]) noexcept {
  const auto step = [&row]<std::size_t Step>(std::integral_constant<std::size_t, Step>) {
    if constexpr (Step < Lanes) {
#pragma GCC unroll 16
      for (std::size_t r = 0; r < Lanes; ++r) {
        if ((r & Step) == 0) swap_squares<Step>(row[r], row[r + Step], std::make_index_sequence<Lanes>{});
      }
    }
  };
  step(std::integral_constant<std::size_t, 1>{});
  step(std::integral_constant<std::size_t, 2>{});
  step(std::integral_constant<std::size_t, 4>{});
  step(std::integral_constant<std::size_t, 8>{});
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
  detail::turn_square(row);
#pragma GCC unroll 16
  for (std::size_t c = 0; c < lanes; ++c) {
    store(to + static_cast<std::int64_t>(c) * to_stride, pack<T>{std::bit_cast<decltype(pack<T>::value)>(row[c])});
  }
}

/// The same, widened, for lanes rows and 2 lanes columns of bfloat16: they turn in pairs, half the work.
inline void transpose_pairs(const Eigen::bfloat16* from, std::int64_t from_stride, float* to,
                            std::int64_t to_stride) noexcept {
  constexpr std::size_t lanes = pack<float>::lanes;
  detail::word_lanes row[lanes];
#pragma GCC unroll 16
  for (std::size_t r = 0; r < lanes; ++r) {
    __builtin_memcpy(&row[r], from + static_cast<std::int64_t>(r) * from_stride, sizeof(row[r]));
  }
  detail::turn_square(row);
#pragma GCC unroll 16
  for (std::size_t c = 0; c < lanes; ++c) {
    float* const column = to + 2 * static_cast<std::int64_t>(c) * to_stride;
    store(column, detail::float_of(row[c] << 16));
    store(column + to_stride, detail::float_of(row[c] & 0xFFFF0000U));
  }
}

}  // namespace POSGEO_SIMD_ISA
}  // namespace posgeo::simd
