// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/simd/pack.hpp>

#include <bit>
#include <cstdint>

namespace posgeo::simd {
inline namespace POSGEO_SIMD_ISA {

#if defined(POSGEO_SIMD_AVX512) && defined(__AVX512BF16__)

/// Whether this build multiplies pairs of bfloat16 numbers in one instruction.
inline constexpr bool has_bfloat16_dot = true;

/// Two bfloat16 numbers in each lane of a pack<float>: in memory order, elements 2l and 2l + 1 are the pair of lane l.
struct bfloat16_pairs {
  static constexpr std::int64_t elements = 2 * pack<float>::lanes;
  __m512i value;
};

/// acc[l] + a[2l] b[2l] + a[2l + 1] b[2l + 1]. The products are exact; each sum is rounded to nearest even, in the
/// order of the instruction; subnormal numbers count as zero, on the way in and out.
[[nodiscard]] inline pack<float> dot2(pack<float> acc, bfloat16_pairs a, bfloat16_pairs b) noexcept {
  return {_mm512_dpbf16_ps(acc.value, std::bit_cast<__m512bh>(a.value), std::bit_cast<__m512bh>(b.value))};
}

[[nodiscard]] inline bfloat16_pairs zero_pairs() noexcept { return {_mm512_setzero_si512()}; }
/// 32 elements at any address.
[[nodiscard]] inline bfloat16_pairs load_pairs(const Eigen::bfloat16* p) noexcept { return {_mm512_loadu_si512(p)}; }
/// The first n elements, 0 <= n <= 32, and +0 for the others; reads nothing beyond.
[[nodiscard]] inline bfloat16_pairs load_pairs_first(const Eigen::bfloat16* p, std::int64_t n) noexcept {
  return {_mm512_maskz_loadu_epi16(static_cast<__mmask32>((std::uint64_t{1} << n) - 1), p)};
}
inline void store_pairs(Eigen::bfloat16* p, bfloat16_pairs a) noexcept { _mm512_storeu_si512(p, a.value); }

/// The pair (p[0], p[1]) in every lane.
[[nodiscard]] inline bfloat16_pairs broadcast_pair(const Eigen::bfloat16* p) noexcept {
  std::int32_t pair = 0;
  __builtin_memcpy(&pair, p, sizeof(pair));
  return {_mm512_set1_epi32(pair)};
}

/// Lane l: the pair (even[l], odd[l]) of two rows of 16 elements.
[[nodiscard]] inline bfloat16_pairs interleave(const Eigen::bfloat16* even, const Eigen::bfloat16* odd) noexcept {
  const __m512i low = _mm512_cvtepu16_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(even)));
  const __m512i high = _mm512_cvtepu16_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(odd)));
  return {_mm512_or_si512(low, _mm512_slli_epi32(high, 16))};
}

/// The 32 numbers of first, then second, narrowed to nearest even, in memory order: lane l < 8 holds the pair
/// (first[2l], first[2l + 1]), lane 8 + l the pair (second[2l], second[2l + 1]). Subnormal numbers become zero.
[[nodiscard]] inline bfloat16_pairs narrow_in_order(pack<float> first, pack<float> second) noexcept {
  return {std::bit_cast<__m512i>(_mm512_cvtne2ps_pbh(second.value, first.value))};
}
/// Lane l: the pair (even[l], odd[l]), narrowed likewise.
[[nodiscard]] inline bfloat16_pairs narrow_interleaved(pack<float> even, pack<float> odd) noexcept {
  const __m512i order =
      _mm512_add_epi32(_mm512_set1_epi32(0x00100000),
                       _mm512_mullo_epi32(_mm512_set1_epi32(0x00010001),
                                          _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)));
  return {_mm512_permutexvar_epi16(order, narrow_in_order(even, odd).value)};
}

#else

inline constexpr bool has_bfloat16_dot = false;

#endif

}  // namespace POSGEO_SIMD_ISA
}  // namespace posgeo::simd
