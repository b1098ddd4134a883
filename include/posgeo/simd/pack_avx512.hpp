// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/simd/isa.hpp>

#if defined(POSGEO_SIMD_AVX512)

#include <cstdint>
#include <type_traits>

// pack.hpp says what each of these gives.
namespace posgeo::simd {
inline namespace POSGEO_SIMD_ISA {

template <class T>
struct pack;
template <>
struct pack<float> {
  static constexpr std::int64_t lanes = 16;
  __m512 value;
};
template <>
struct pack<double> {
  static constexpr std::int64_t lanes = 8;
  __m512d value;
};

template <class T>
struct mask {
  std::conditional_t<std::is_same_v<T, float>, __mmask16, __mmask8> value;
};

template <class T>
[[nodiscard]] inline mask<T> from_bits(std::uint32_t bits) noexcept {
  return {static_cast<decltype(mask<T>::value)>(bits)};
}
template <class T>
[[nodiscard]] inline mask<T> first_lanes(std::int64_t n) noexcept {
  return from_bits<T>((std::uint32_t{1} << n) - 1);
}
template <class T>
[[nodiscard]] inline std::uint32_t bits(mask<T> m) noexcept {
  return m.value;
}
template <class T>
[[nodiscard]] inline mask<T> operator&(mask<T> a, mask<T> b) noexcept {
  return from_bits<T>(bits(a) & bits(b));
}
template <class T>
[[nodiscard]] inline mask<T> operator|(mask<T> a, mask<T> b) noexcept {
  return from_bits<T>(bits(a) | bits(b));
}
template <class T>
[[nodiscard]] inline mask<T> operator~(mask<T> a) noexcept {
  return from_bits<T>(~bits(a));
}

template <class T>
[[nodiscard]] inline pack<T> zero() noexcept {
  if constexpr (std::is_same_v<T, float>) {
    return {_mm512_setzero_ps()};
  } else {
    return {_mm512_setzero_pd()};
  }
}
template <class T>
[[nodiscard]] inline pack<T> ramp() noexcept {
  if constexpr (std::is_same_v<T, float>) {
    return {_mm512_setr_ps(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)};
  } else {
    return {_mm512_setr_pd(0, 1, 2, 3, 4, 5, 6, 7)};
  }
}

template <class T>
[[nodiscard]] inline pack<T> broadcast(std::type_identity_t<T> x) noexcept {
  if constexpr (std::is_same_v<T, float>) {
    return {_mm512_set1_ps(x)};
  } else {
    return {_mm512_set1_pd(x)};
  }
}

template <class T>
[[nodiscard]] inline pack<T> load(const T* p) noexcept {
  if constexpr (std::is_same_v<T, float>) {
    return {_mm512_loadu_ps(p)};
  } else {
    return {_mm512_loadu_pd(p)};
  }
}
template <class T>
[[nodiscard]] inline pack<T> load_first(const T* p, std::int64_t n) noexcept {
  if constexpr (std::is_same_v<T, float>) {
    return {_mm512_maskz_loadu_ps(first_lanes<T>(n).value, p)};
  } else {
    return {_mm512_maskz_loadu_pd(first_lanes<T>(n).value, p)};
  }
}
inline void store(float* p, pack<float> a) noexcept { _mm512_storeu_ps(p, a.value); }
inline void store(double* p, pack<double> a) noexcept { _mm512_storeu_pd(p, a.value); }
inline void store_first(float* p, pack<float> a, std::int64_t n) noexcept {
  _mm512_mask_storeu_ps(p, first_lanes<float>(n).value, a.value);
}
inline void store_first(double* p, pack<double> a, std::int64_t n) noexcept {
  _mm512_mask_storeu_pd(p, first_lanes<double>(n).value, a.value);
}
// The masked forms start from zero; GCC 12 takes what the plain ones start from for uninitialised.
[[nodiscard]] inline pack<float> gather(const float* base, const std::int32_t* indices) noexcept {
  return {_mm512_mask_i32gather_ps(_mm512_setzero_ps(), __mmask16{0xFFFF}, _mm512_loadu_si512(indices), base, 4)};
}
[[nodiscard]] inline pack<double> gather(const double* base, const std::int32_t* indices) noexcept {
  const __m256i at = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(indices));
  return {_mm512_mask_i32gather_pd(_mm512_setzero_pd(), __mmask8{0xFF}, at, base, 8)};
}
/// Lane l of the result is lane which[l] of a.
[[nodiscard]] inline pack<float> permute(pack<float> a, const std::int32_t* which) noexcept {
  return {_mm512_maskz_permutexvar_ps(__mmask16{0xFFFF}, _mm512_loadu_si512(which), a.value)};
}
[[nodiscard]] inline pack<double> permute(pack<double> a, const std::int32_t* which) noexcept {
  const __m256i narrow = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(which));
  return {_mm512_maskz_permutexvar_pd(__mmask8{0xFF}, _mm512_maskz_cvtepi32_epi64(__mmask8{0xFF}, narrow), a.value)};
}

[[nodiscard]] inline pack<float> operator+(pack<float> a, pack<float> b) noexcept {
  return {_mm512_add_ps(a.value, b.value)};
}
[[nodiscard]] inline pack<double> operator+(pack<double> a, pack<double> b) noexcept {
  return {_mm512_add_pd(a.value, b.value)};
}
[[nodiscard]] inline pack<float> operator-(pack<float> a, pack<float> b) noexcept {
  return {_mm512_sub_ps(a.value, b.value)};
}
[[nodiscard]] inline pack<double> operator-(pack<double> a, pack<double> b) noexcept {
  return {_mm512_sub_pd(a.value, b.value)};
}
[[nodiscard]] inline pack<float> operator*(pack<float> a, pack<float> b) noexcept {
  return {_mm512_mul_ps(a.value, b.value)};
}
[[nodiscard]] inline pack<double> operator*(pack<double> a, pack<double> b) noexcept {
  return {_mm512_mul_pd(a.value, b.value)};
}
[[nodiscard]] inline pack<float> operator/(pack<float> a, pack<float> b) noexcept {
  return {_mm512_div_ps(a.value, b.value)};
}
[[nodiscard]] inline pack<double> operator/(pack<double> a, pack<double> b) noexcept {
  return {_mm512_div_pd(a.value, b.value)};
}
[[nodiscard]] inline pack<float> fma(pack<float> a, pack<float> b, pack<float> c) noexcept {
  return {_mm512_fmadd_ps(a.value, b.value, c.value)};
}
[[nodiscard]] inline pack<double> fma(pack<double> a, pack<double> b, pack<double> c) noexcept {
  return {_mm512_fmadd_pd(a.value, b.value, c.value)};
}
[[nodiscard]] inline pack<float> min(pack<float> a, pack<float> b) noexcept {
  return {_mm512_min_ps(a.value, b.value)};
}
[[nodiscard]] inline pack<double> min(pack<double> a, pack<double> b) noexcept {
  return {_mm512_min_pd(a.value, b.value)};
}
[[nodiscard]] inline pack<float> max(pack<float> a, pack<float> b) noexcept {
  return {_mm512_max_ps(a.value, b.value)};
}
[[nodiscard]] inline pack<double> max(pack<double> a, pack<double> b) noexcept {
  return {_mm512_max_pd(a.value, b.value)};
}
[[nodiscard]] inline pack<float> abs(pack<float> a) noexcept { return {_mm512_abs_ps(a.value)}; }
[[nodiscard]] inline pack<double> abs(pack<double> a) noexcept { return {_mm512_abs_pd(a.value)}; }
[[nodiscard]] inline pack<float> with_sign_of(pack<float> magnitude, pack<float> sign) noexcept {
  const __m512 bit = _mm512_set1_ps(-0.0F);
  return {_mm512_or_ps(_mm512_andnot_ps(bit, magnitude.value), _mm512_and_ps(bit, sign.value))};
}
[[nodiscard]] inline pack<double> with_sign_of(pack<double> magnitude, pack<double> sign) noexcept {
  const __m512d bit = _mm512_set1_pd(-0.0);
  return {_mm512_or_pd(_mm512_andnot_pd(bit, magnitude.value), _mm512_and_pd(bit, sign.value))};
}

[[nodiscard]] inline mask<float> below(pack<float> a, pack<float> b) noexcept {
  return {_mm512_cmp_ps_mask(a.value, b.value, _CMP_LT_OQ)};
}
[[nodiscard]] inline mask<double> below(pack<double> a, pack<double> b) noexcept {
  return {_mm512_cmp_pd_mask(a.value, b.value, _CMP_LT_OQ)};
}
[[nodiscard]] inline mask<float> at_most(pack<float> a, pack<float> b) noexcept {
  return {_mm512_cmp_ps_mask(a.value, b.value, _CMP_LE_OQ)};
}
[[nodiscard]] inline mask<double> at_most(pack<double> a, pack<double> b) noexcept {
  return {_mm512_cmp_pd_mask(a.value, b.value, _CMP_LE_OQ)};
}
[[nodiscard]] inline pack<float> select(mask<float> m, pack<float> a, pack<float> b) noexcept {
  return {_mm512_mask_blend_ps(m.value, b.value, a.value)};
}
[[nodiscard]] inline pack<double> select(mask<double> m, pack<double> a, pack<double> b) noexcept {
  return {_mm512_mask_blend_pd(m.value, b.value, a.value)};
}
[[nodiscard]] inline pack<float> zero_where(mask<float> m, pack<float> a) noexcept {
  return {_mm512_maskz_mov_ps(static_cast<__mmask16>(~m.value), a.value)};
}
[[nodiscard]] inline pack<double> zero_where(mask<double> m, pack<double> a) noexcept {
  return {_mm512_maskz_mov_pd(static_cast<__mmask8>(~m.value), a.value)};
}

[[nodiscard]] inline pack<float> bits_of_all(pack<float> a, pack<float> b, pack<float> c) noexcept {
  return {_mm512_castsi512_ps(_mm512_ternarylogic_epi32(_mm512_castps_si512(a.value), _mm512_castps_si512(b.value),
                                                        _mm512_castps_si512(c.value), 0x80))};
}
[[nodiscard]] inline pack<double> bits_of_all(pack<double> a, pack<double> b, pack<double> c) noexcept {
  return {_mm512_castsi512_pd(_mm512_ternarylogic_epi64(_mm512_castpd_si512(a.value), _mm512_castpd_si512(b.value),
                                                        _mm512_castpd_si512(c.value), 0x80))};
}
[[nodiscard]] inline mask<float> signed_lanes(pack<float> a) noexcept {
  return {_mm512_movepi32_mask(_mm512_castps_si512(a.value))};
}
[[nodiscard]] inline mask<double> signed_lanes(pack<double> a) noexcept {
  return {_mm512_movepi64_mask(_mm512_castpd_si512(a.value))};
}

}  // namespace POSGEO_SIMD_ISA
}  // namespace posgeo::simd

#endif
