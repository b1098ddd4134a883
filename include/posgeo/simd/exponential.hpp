// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/simd/pack.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace posgeo::simd {
inline namespace POSGEO_SIMD_ISA {

namespace detail {

/// Polynomials q with 2^f = 1 + f q(f), so that 2^0 is exactly 1, lowest power first.
template <class T>
struct exp2_constants;
template <>
struct exp2_constants<float> {
  static constexpr float unit[] = {0.69315229F, 0.240154569F, 0.0558306041F, 0.00897971843F, 0.00188269469F};
  static constexpr float centred[] = {0.693147181F, 0.240222347F, 0.055503697F, 0.00967186983F, 0.00133867453F};
  static constexpr float close[] = {0.693147188F,   0.240226508F,   0.0555035711F,
                                    0.00961808256F, 0.00133908634F, 0.000154531629F};
  static constexpr float to_integer = 12582912.0F;  // 1.5 * 2^23: adding it leaves the nearest integer in the low bits
  static constexpr float smallest = -126.0F;        // of the exponents of normal numbers
  static constexpr int fraction_bits = 23;
  static constexpr float log2_e = 1.44269504F;
  static constexpr float ln2_high = 0.693359375F;  // 9 bits: its product with an exponent is exact
  static constexpr float ln2_low = -2.12194440e-4F;
  static constexpr float log_smallest = -87.3365448F;  // ln 2^-126, rounded up
  static constexpr float log_beyond = 89.0F;           // its exp is above the largest number
  static constexpr float tanh_is_one = 10.0F;
};
template <>
struct exp2_constants<double> {
  static constexpr double unit[] = {0.69314718055994617,    0.24022650695905362,    0.055504108665768354,
                                    0.0096181290981419958,  0.0013333558698056859,  0.00015403510254370005,
                                    1.5253214412770839e-05, 1.3207885261359979e-06, 1.0256866504187039e-07,
                                    6.5439137326984574e-09, 6.2922281943602161e-10};
  static constexpr double centred[] = {0.69314718055994529,    0.24022650695910133,    0.055504108664821611,
                                       0.0096181291075933366,  0.001333355814640971,   0.00015403530458074429,
                                       1.5252733838545127e-05, 1.3215434819332783e-06, 1.0178058304889091e-07,
                                       7.0738597864692527e-09, 4.4556396009449016e-10};
  static constexpr double close[] = {0.69314718055994529,    0.24022650695910072,    0.055504108664821625,
                                     0.0096181291076284803,  0.0013333558146406471,  0.00015403530393370734,
                                     1.5252733841556773e-05, 1.3215486808705563e-06, 1.0178057087733941e-07,
                                     7.0548973041554995e-09, 4.4558179083360645e-10, 2.5729324177362305e-11};
  static constexpr double to_integer = 6755399441055744.0;  // 1.5 * 2^52
  static constexpr double smallest = -1022.0;
  static constexpr int fraction_bits = 52;
  static constexpr double log2_e = 1.4426950408889634;
  static constexpr double ln2_high = 0.693145751953125;  // 18 bits
  static constexpr double ln2_low = 1.4286068203094172e-6;
  static constexpr double log_smallest = -708.39641853226408;
  static constexpr double log_beyond = 710.0;
  static constexpr double tanh_is_one = 20.0;
};

/// f q(f), by Horner's rule.
template <class T, std::size_t Count>
[[nodiscard]] inline pack<T> times_polynomial(pack<T> f, const T (&q)[Count], pack<T> start) noexcept {
  pack<T> value = broadcast<T>(q[Count - 1]);
  for (std::size_t n = Count - 1; n-- > 0;) value = fma(value, f, broadcast<T>(q[n]));
  return fma(value, f, start);
}

/// The integer in the low bits of a, put where a number has its exponent.
template <class T>
[[nodiscard]] inline pack<T> low_bits_as_exponent(pack<T> a) noexcept {
  if constexpr (std::is_same_v<T, float>) {
    using integers = typename short_vector<std::int32_t, pack<T>::lanes>::type;
    return {std::bit_cast<decltype(a.value)>(std::bit_cast<integers>(a.value) << exp2_constants<T>::fraction_bits)};
  } else {
    using integers = typename short_vector<std::int64_t, pack<T>::lanes>::type;
    return {std::bit_cast<decltype(a.value)>(std::bit_cast<integers>(a.value) << exp2_constants<T>::fraction_bits)};
  }
}

/// x = n + f with n the nearest integer and scale = 2^n, for n among the exponents of normal numbers.
template <class T>
struct split_exponent {
  pack<T> n;
  pack<T> scale;
};
template <class T>
[[nodiscard]] inline split_exponent<T> nearest_exponent(pack<T> x) noexcept {
  using constants = exp2_constants<T>;
  const pack<T> shift = broadcast<T>(constants::to_integer + (T{1} - constants::smallest));
  const pack<T> shifted = x + shift;
  return {shifted - shift, low_bits_as_exponent(shifted)};
}

}  // namespace detail

/// 2^x for x in [-inf, 127] (double: 1023).
/// Relative error at most 2.1e-7 (double: 2.2e-16); exact where x is an integer. Below -126 (-1022), the exponent of
/// the smallest normal number, or below a higher limit, exactly +0, also for -inf: no subnormal number leaves it. A NaN
/// stays a NaN.
template <class T>
[[nodiscard]] inline pack<T> exp2(pack<T> x,
                                  std::type_identity_t<T> limit = detail::exp2_constants<T>::smallest) noexcept {
  using constants = detail::exp2_constants<T>;
  const pack<T> one = broadcast<T>(T{1});
#if defined(POSGEO_SIMD_AVX512)
  constexpr int above_floor = _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC;
  const pack<T> smallest = broadcast<T>(limit);
  if constexpr (std::is_same_v<T, float>) {
    const pack<T> f{_mm512_reduce_ps(x.value, above_floor)};
    const __mmask16 kept = _mm512_cmp_ps_mask(x.value, smallest.value, _CMP_NLT_UQ);
    return {_mm512_maskz_scalef_ps(kept, detail::times_polynomial(f, constants::unit, one).value, x.value)};
  } else {
    const pack<T> f{_mm512_reduce_pd(x.value, above_floor)};
    const __mmask8 kept = _mm512_cmp_pd_mask(x.value, smallest.value, _CMP_NLT_UQ);
    return {_mm512_maskz_scalef_pd(kept, detail::times_polynomial(f, constants::unit, one).value, x.value)};
  }
#else
  const auto [n, scale] = detail::nearest_exponent(x);
  const mask<T> vanishes = below(x, broadcast<T>(limit));
  return zero_where(vanishes, detail::times_polynomial(x - n, constants::centred, one) * scale);
#endif
}

/// e^x for every x. Relative error at most 1.3e-7 (double: 2.5e-16). Below ln of the smallest normal number exactly +0,
/// above ln of the largest number inf. A NaN stays a NaN.
template <class T>
[[nodiscard]] inline pack<T> exp(pack<T> x) noexcept {
  using constants = detail::exp2_constants<T>;
  const pack<T> beyond = broadcast<T>(constants::log_beyond);
  const pack<T> smallest = broadcast<T>(constants::log_smallest);
  const mask<T> vanishes = below(x, smallest);
  const pack<T> y = select(below(beyond, x), beyond, select(vanishes, smallest, x));
  // Half of the exponent twice: the exponent of the largest numbers has no power of two of its own.
  const pack<T> half = detail::nearest_exponent(y * broadcast<T>(T{0.5} * constants::log2_e)).n;
  const pack<T> n = detail::nearest_exponent(y * broadcast<T>(constants::log2_e)).n;
  const pack<T> rest = (y - n * broadcast<T>(constants::ln2_high)) - n * broadcast<T>(constants::ln2_low);
  const pack<T> p =
      detail::times_polynomial(rest * broadcast<T>(constants::log2_e), constants::close, broadcast<T>(T{1}));
  const pack<T> first = detail::nearest_exponent(half).scale;
  const pack<T> second = detail::nearest_exponent(n - half).scale;
  return zero_where(vanishes, p * first * second);
}

/// tanh x for every x. Relative error at most 2.6e-7 (double: 5.5e-16); +-0 and +-1 at +-0 and +-inf. A NaN stays a
/// NaN.
template <class T>
[[nodiscard]] inline pack<T> tanh(pack<T> x) noexcept {
  using constants = detail::exp2_constants<T>;
  const pack<T> limit = broadcast<T>(constants::tanh_is_one);
  const pack<T> size = abs(x);
  const pack<T> y = select(below(limit, size), limit, size) * broadcast<T>(T{-2});
  // m = e^y - 1 = 2^n (2^f - 1) + (2^n - 1) loses no digit near 0, and tanh |x| = -m / (2 + m).
  const auto [n, scale] = detail::nearest_exponent(y * broadcast<T>(constants::log2_e));
  const pack<T> rest = (y - n * broadcast<T>(constants::ln2_high)) - n * broadcast<T>(constants::ln2_low);
  const pack<T> f = rest * broadcast<T>(constants::log2_e);
  const pack<T> m = fma(scale, detail::times_polynomial(f, constants::close, zero<T>()), scale - broadcast<T>(T{1}));
  return with_sign_of(m / (broadcast<T>(T{2}) + m), x);
}

}  // namespace POSGEO_SIMD_ISA
}  // namespace posgeo::simd
