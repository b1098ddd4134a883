// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/simd/isa.hpp>

#if !defined(POSGEO_SIMD_AVX512)

#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

// pack.hpp says what each of these gives. Values are Eigen's packets; masks are integers of the same size, all bits of
// a lane set or none, handled as vectors of the compiler. Without a packet type a pack has one lane.
namespace posgeo::simd {
inline namespace POSGEO_SIMD_ISA {

namespace packet = Eigen::internal;

template <class T>
struct pack {
  using native = typename packet::packet_traits<T>::type;
  static constexpr std::int64_t lanes = packet::unpacket_traits<native>::size;
  native value;
};

namespace detail {

template <class T>
using lane_integer = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;
template <class T, std::size_t Bytes>
struct vector_of {
  typedef T type __attribute__((vector_size(Bytes)));  // NOLINT(modernize-use-using): no alias takes the attribute
};
template <class T>
using values_type = typename vector_of<T, sizeof(pack<T>)>::type;
template <class T>
using bits_type = typename vector_of<lane_integer<T>, sizeof(pack<T>)>::type;

template <class T>
[[nodiscard]] inline values_type<T> values(pack<T> a) noexcept {
  return std::bit_cast<values_type<T>>(a.value);
}
template <class T>
[[nodiscard]] inline bits_type<T> bits_of(pack<T> a) noexcept {
  return std::bit_cast<bits_type<T>>(a.value);
}
template <class T>
[[nodiscard]] inline pack<T> from_bits_of(bits_type<T> bits) noexcept {
  return {std::bit_cast<typename pack<T>::native>(bits)};
}
template <class T>
[[nodiscard]] inline bits_type<T> all_lanes(lane_integer<T> bits) noexcept {
  return bits - bits_type<T>{};
}
template <class T>
[[nodiscard]] inline bits_type<T> lane_numbers() noexcept {
  return []<std::size_t... Lane>(std::index_sequence<Lane...>) {
    return bits_type<T>{static_cast<lane_integer<T>>(Lane)...};
  }
  (std::make_index_sequence<static_cast<std::size_t>(pack<T>::lanes)>{});
}

}  // namespace detail

template <class T>
struct mask {
  detail::bits_type<T> value;
};

template <class T>
[[nodiscard]] inline mask<T> from_bits(std::uint32_t bits) noexcept {
  const auto lane = detail::all_lanes<T>(1) << detail::lane_numbers<T>();
  const auto set = (detail::all_lanes<T>(static_cast<detail::lane_integer<T>>(bits)) & lane) == lane;
  return {std::bit_cast<detail::bits_type<T>>(set)};
}
template <class T>
[[nodiscard]] inline mask<T> first_lanes(std::int64_t n) noexcept {
  const auto set = detail::lane_numbers<T>() < detail::all_lanes<T>(static_cast<detail::lane_integer<T>>(n));
  return {std::bit_cast<detail::bits_type<T>>(set)};
}
template <class T>
[[nodiscard]] inline std::uint32_t bits(mask<T> m) noexcept {
#if defined(EIGEN_VECTORIZE_SSE)
  if constexpr (sizeof(m) == 16 && sizeof(T) == 4) {
    return static_cast<std::uint32_t>(_mm_movemask_ps(std::bit_cast<__m128>(m.value)));
  } else if constexpr (sizeof(m) == 16) {
    return static_cast<std::uint32_t>(_mm_movemask_pd(std::bit_cast<__m128d>(m.value)));
  }
#endif
#if defined(EIGEN_VECTORIZE_AVX)
  if constexpr (sizeof(m) == 32 && sizeof(T) == 4) {
    return static_cast<std::uint32_t>(_mm256_movemask_ps(std::bit_cast<__m256>(m.value)));
  } else if constexpr (sizeof(m) == 32) {
    return static_cast<std::uint32_t>(_mm256_movemask_pd(std::bit_cast<__m256d>(m.value)));
  }
#endif
  std::uint32_t all = 0;
  for (std::int64_t l = 0; l < pack<T>::lanes; ++l) all |= m.value[l] != 0 ? std::uint32_t{1} << l : 0;
  return all;
}
template <class T>
[[nodiscard]] inline mask<T> operator&(mask<T> a, mask<T> b) noexcept {
  return {a.value & b.value};
}
template <class T>
[[nodiscard]] inline mask<T> operator|(mask<T> a, mask<T> b) noexcept {
  return {a.value | b.value};
}
template <class T>
[[nodiscard]] inline mask<T> operator~(mask<T> a) noexcept {
  return {~a.value};
}

template <class T>
[[nodiscard]] inline pack<T> broadcast(std::type_identity_t<T> x) noexcept {
  return {packet::pset1<typename pack<T>::native>(x)};
}
template <class T>
[[nodiscard]] inline pack<T> zero() noexcept {
  return broadcast<T>(T{0});
}
template <class T>
[[nodiscard]] inline pack<T> ramp() noexcept {
  return {packet::plset<typename pack<T>::native>(T{0})};
}

template <class T>
[[nodiscard]] inline pack<T> load(const T* p) noexcept {
  return {packet::ploadu<typename pack<T>::native>(p)};
}
template <class T>
inline void store(T* p, pack<T> a) noexcept {
  packet::pstoreu(p, a.value);
}
template <class T>
[[nodiscard]] inline pack<T> load_first(const T* p, std::int64_t n) noexcept {
#if defined(EIGEN_VECTORIZE_AVX)
  if constexpr (sizeof(pack<T>) == 32 && sizeof(T) == 4) {
    return {_mm256_maskload_ps(p, std::bit_cast<__m256i>(first_lanes<T>(n).value))};
  } else if constexpr (sizeof(pack<T>) == 32) {
    return {_mm256_maskload_pd(p, std::bit_cast<__m256i>(first_lanes<T>(n).value))};
  }
#endif
  T all[pack<T>::lanes] = {};
  for (std::int64_t l = 0; l < n; ++l) all[l] = p[l];
  return load(all);
}
template <class T>
inline void store_first(T* p, pack<T> a, std::int64_t n) noexcept {
#if defined(EIGEN_VECTORIZE_AVX)
  if constexpr (sizeof(pack<T>) == 32 && sizeof(T) == 4) {
    return _mm256_maskstore_ps(p, std::bit_cast<__m256i>(first_lanes<T>(n).value), a.value);
  } else if constexpr (sizeof(pack<T>) == 32) {
    return _mm256_maskstore_pd(p, std::bit_cast<__m256i>(first_lanes<T>(n).value), a.value);
  }
#endif
  T all[pack<T>::lanes];
  store(all, a);
  for (std::int64_t l = 0; l < n; ++l) p[l] = all[l];
}
template <class T>
[[nodiscard]] inline pack<T> gather(const T* base, const std::int32_t* indices) noexcept {
#if defined(EIGEN_VECTORIZE_AVX2)  // masked: GCC 12 takes what the plain forms start from for uninitialised
  if constexpr (sizeof(pack<T>) == 32 && sizeof(T) == 4) {
    const __m256i at = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(indices));
    return {_mm256_mask_i32gather_ps(zero<T>().value, base, at, std::bit_cast<__m256>(first_lanes<T>(8).value), 4)};
  } else if constexpr (sizeof(pack<T>) == 32) {
    const __m128i at = _mm_loadu_si128(reinterpret_cast<const __m128i*>(indices));
    return {_mm256_mask_i32gather_pd(zero<T>().value, base, at, std::bit_cast<__m256d>(first_lanes<T>(4).value), 8)};
  }
#endif
  T all[pack<T>::lanes];
  for (std::int64_t l = 0; l < pack<T>::lanes; ++l) all[l] = base[indices[l]];
  return load(all);
}
/// Lane l of the result is lane which[l] of a.
template <class T>
[[nodiscard]] inline pack<T> permute(pack<T> a, const std::int32_t* which) noexcept {
#if defined(EIGEN_VECTORIZE_AVX2)
  if constexpr (sizeof(pack<T>) == 32 && sizeof(T) == 4) {
    return {_mm256_permutevar8x32_ps(a.value, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(which)))};
  }
#endif
  T all[pack<T>::lanes];
  store(all, a);
  return gather(all, which);
}

template <class T>
[[nodiscard]] inline pack<T> operator+(pack<T> a, pack<T> b) noexcept {
  return {packet::padd(a.value, b.value)};
}
template <class T>
[[nodiscard]] inline pack<T> operator-(pack<T> a, pack<T> b) noexcept {
  return {packet::psub(a.value, b.value)};
}
template <class T>
[[nodiscard]] inline pack<T> operator*(pack<T> a, pack<T> b) noexcept {
  return {packet::pmul(a.value, b.value)};
}
template <class T>
[[nodiscard]] inline pack<T> operator/(pack<T> a, pack<T> b) noexcept {
  return {packet::pdiv(a.value, b.value)};
}
template <class T>
[[nodiscard]] inline pack<T> fma(pack<T> a, pack<T> b, pack<T> c) noexcept {
#if defined(EIGEN_VECTORIZE_FMA)  // Eigen 3.4 writes assembler here for Clang, into which no load can be folded
  if constexpr (sizeof(pack<T>) == 32 && sizeof(T) == 4) {
    return {_mm256_fmadd_ps(a.value, b.value, c.value)};
  } else if constexpr (sizeof(pack<T>) == 32) {
    return {_mm256_fmadd_pd(a.value, b.value, c.value)};
  }
#endif
  return {packet::pmadd(a.value, b.value, c.value)};
}
template <class T>
[[nodiscard]] inline pack<T> min(pack<T> a, pack<T> b) noexcept {
  return {packet::pmin(a.value, b.value)};
}
template <class T>
[[nodiscard]] inline pack<T> max(pack<T> a, pack<T> b) noexcept {
  return {packet::pmax(a.value, b.value)};
}
template <class T>
[[nodiscard]] inline pack<T> abs(pack<T> a) noexcept {
  return {packet::pabs(a.value)};
}
template <class T>
[[nodiscard]] inline pack<T> with_sign_of(pack<T> magnitude, pack<T> sign) noexcept {
  const auto bit = detail::bits_of(broadcast<T>(T{-0.0}));
  return detail::from_bits_of<T>((detail::bits_of(magnitude) & ~bit) | (detail::bits_of(sign) & bit));
}

template <class T>
[[nodiscard]] inline mask<T> below(pack<T> a, pack<T> b) noexcept {
  return {std::bit_cast<detail::bits_type<T>>(detail::values(a) < detail::values(b))};
}
template <class T>
[[nodiscard]] inline mask<T> at_most(pack<T> a, pack<T> b) noexcept {
  return {std::bit_cast<detail::bits_type<T>>(detail::values(a) <= detail::values(b))};
}
template <class T>
[[nodiscard]] inline pack<T> select(mask<T> m, pack<T> a, pack<T> b) noexcept {
  return detail::from_bits_of<T>((detail::bits_of(a) & m.value) | (detail::bits_of(b) & ~m.value));
}
template <class T>
[[nodiscard]] inline pack<T> zero_where(mask<T> m, pack<T> a) noexcept {
  return detail::from_bits_of<T>(detail::bits_of(a) & ~m.value);
}

template <class T>
[[nodiscard]] inline pack<T> bits_of_all(pack<T> a, pack<T> b, pack<T> c) noexcept {
  return detail::from_bits_of<T>(detail::bits_of(a) & detail::bits_of(b) & detail::bits_of(c));
}
template <class T>
[[nodiscard]] inline mask<T> signed_lanes(pack<T> a) noexcept {
  return {std::bit_cast<detail::bits_type<T>>(detail::bits_of(a) < 0)};
}

}  // namespace POSGEO_SIMD_ISA
}  // namespace posgeo::simd

#endif
