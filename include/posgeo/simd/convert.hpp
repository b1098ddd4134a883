// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/simd/pack.hpp>

#include <bit>
#include <cstdint>
#include <type_traits>

namespace posgeo::simd {
inline namespace POSGEO_SIMD_ISA {

/// A type that only stores numbers: each is widened to float, exactly, and narrowed to the nearest, ties to even.
template <class E>
concept storage_type = std::is_same_v<E, Eigen::bfloat16> || std::is_same_v<E, Eigen::half>;

namespace detail {

using float_lanes = pack<float>;
using word_lanes = typename short_vector<std::uint32_t, float_lanes::lanes>::type;
using half_word_lanes = typename short_vector<std::uint16_t, float_lanes::lanes>::type;

[[nodiscard]] inline float_lanes float_of(word_lanes words) noexcept {
  return {std::bit_cast<decltype(float_lanes::value)>(words)};
}

#if defined(EIGEN_VECTORIZE_AVX512)
// The masked forms of the conversions start from zero; GCC 12 takes what the plain ones start from for uninitialised.
inline constexpr __mmask16 every_lane = 0xFFFF;
#endif

/// Zero-extended; GCC 12 makes four steps of what is one instruction.
[[nodiscard]] inline word_lanes words_of(half_word_lanes stored) noexcept {
#if defined(EIGEN_VECTORIZE_AVX512)
  return std::bit_cast<word_lanes>(_mm512_maskz_cvtepu16_epi32(every_lane, std::bit_cast<__m256i>(stored)));
#elif defined(EIGEN_VECTORIZE_AVX2)
  return std::bit_cast<word_lanes>(_mm256_cvtepu16_epi32(std::bit_cast<__m128i>(stored)));
#else
  return __builtin_convertvector(stored, word_lanes);
#endif
}

template <storage_type E>
[[nodiscard]] inline float_lanes widen(half_word_lanes stored) noexcept {
  if constexpr (std::is_same_v<E, Eigen::bfloat16>) {
    return float_of(words_of(stored) << 16);
  } else {
#if defined(EIGEN_VECTORIZE_AVX512)
    return {_mm512_maskz_cvtph_ps(every_lane, std::bit_cast<__m256i>(stored))};
#elif defined(EIGEN_VECTORIZE_AVX) && defined(__F16C__)
    return {_mm256_cvtph_ps(std::bit_cast<__m128i>(stored))};
#else
    float all[float_lanes::lanes];
    for (std::int64_t l = 0; l < float_lanes::lanes; ++l) all[l] = static_cast<float>(std::bit_cast<E>(stored[l]));
    return load(all);
#endif
  }
}

template <storage_type E>
[[nodiscard]] inline half_word_lanes narrow(float_lanes a) noexcept {
  if constexpr (std::is_same_v<E, Eigen::bfloat16>) {
    const auto words = std::bit_cast<word_lanes>(a.value);
    const word_lanes rounded = words + (((words >> 16) & 1U) + 0x7FFFU);
    const word_lanes quiet = (words & 0x80000000U) | 0x7FC00000U;
    const word_lanes is_nan = std::bit_cast<word_lanes>((words & 0x7FFFFFFFU) > 0x7F800000U);
    return __builtin_convertvector(((rounded & ~is_nan) | (quiet & is_nan)) >> 16, half_word_lanes);
  } else {
#if defined(EIGEN_VECTORIZE_AVX512)
    return std::bit_cast<half_word_lanes>(_mm512_maskz_cvtps_ph(every_lane, a.value, _MM_FROUND_TO_NEAREST_INT));
#elif defined(EIGEN_VECTORIZE_AVX) && defined(__F16C__)
    return std::bit_cast<half_word_lanes>(_mm256_cvtps_ph(a.value, _MM_FROUND_TO_NEAREST_INT));
#else
    float all[float_lanes::lanes];
    store(all, a);
    half_word_lanes stored{};
    for (std::int64_t l = 0; l < float_lanes::lanes; ++l) stored[l] = std::bit_cast<std::uint16_t>(E(all[l]));
    return stored;
#endif
  }
}

}  // namespace detail

/// pack<float>::lanes stored numbers, widened.
template <storage_type E>
[[nodiscard]] inline pack<float> load_wide(const E* p) noexcept {
  detail::half_word_lanes stored;
  __builtin_memcpy(&stored, p, sizeof(stored));
  return detail::widen<E>(stored);
}
/// The first n of them, 0 <= n <= lanes, and +0 for the others; reads nothing beyond.
template <storage_type E>
[[nodiscard]] inline pack<float> load_wide_first(const E* p, std::int64_t n) noexcept {
#if defined(POSGEO_SIMD_AVX512)
  const __m256i stored = _mm256_maskz_loadu_epi16(first_lanes<float>(n).value, p);
  return detail::widen<E>(std::bit_cast<detail::half_word_lanes>(stored));
#else
  E all[pack<float>::lanes] = {};
  for (std::int64_t l = 0; l < n; ++l) all[l] = p[l];
  return load_wide(all);
#endif
}
template <storage_type E>
inline void store_narrow(E* p, pack<float> a) noexcept {
  const detail::half_word_lanes stored = detail::narrow<E>(a);
  __builtin_memcpy(static_cast<void*>(p), &stored, sizeof(stored));
}
/// Writes only the first n, 0 <= n <= lanes.
template <storage_type E>
inline void store_narrow_first(E* p, pack<float> a, std::int64_t n) noexcept {
  E all[pack<float>::lanes];
  store_narrow(all, a);
  for (std::int64_t l = 0; l < n; ++l) p[l] = all[l];
}

}  // namespace POSGEO_SIMD_ISA
}  // namespace posgeo::simd
