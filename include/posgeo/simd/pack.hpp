// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/simd/isa.hpp>
#include <posgeo/simd/pack_avx512.hpp>
#include <posgeo/simd/pack_eigen.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

/// Lanes, the only ones of the library. T is float or double. pack_avx512.hpp and pack_eigen.hpp define, for a pack<T>
/// with `lanes` values and a mask<T> with as many truths:
///
///   load(p), store(p, a)                    lanes values at any address
///   load_first(p, n), store_first(p, a, n)  only the first n, 0 <= n <= lanes; the others load as +0; no memory beyond
///                                           them is read or written
///   gather(base, indices)                   base[indices[l]], lanes 32-bit indices
///   broadcast<T>(x), zero<T>(), ramp<T>()   x everywhere; +0; 0, 1, 2, ...
///   a + b, a - b, a * b, a / b              rounded once
///   fma(a, b, c)                            a * b + c, rounded once where the instruction set has it, else twice
///   min, max, abs, with_sign_of(a, sign)    of a NaN, min and max give either operand
///   bits_of_all(a, b, c), signed_lanes(a)  the bits that all three have; lanes whose sign bit is set
///   below(a, b), at_most(a, b)              a < b, a <= b; false for a NaN
///   first_lanes<T>(n), from_bits<T>(bits)   lanes below n; lane l where bit l is set
///   bits(m), any(m), all(m), &, |, ~        lane l as bit l, the bits above are 0
///   select(m, a, b), zero_where(m, a)       a where m, else b; +0 where m, else a
///   sum(a), largest(a)                      of all lanes, as a tree: lane l with lane l + lanes / 2, and again
namespace posgeo::simd {
inline namespace POSGEO_SIMD_ISA {

template <class T>
[[nodiscard]] inline bool any(mask<T> m) noexcept {
  return bits(m) != 0;
}
template <class T>
[[nodiscard]] inline bool all(mask<T> m) noexcept {
  return bits(m) == (std::uint64_t{1} << pack<T>::lanes) - 1;
}

namespace detail {

template <class T, std::int64_t Lanes>
struct short_vector {
  typedef T type __attribute__((vector_size(sizeof(T) * Lanes)));  // NOLINT(modernize-use-using)
};

/// Joins lane l and lane l + Lanes / 2 until one is left.
template <std::int64_t Lanes, class T, class Join>
[[nodiscard]] inline T halve(typename short_vector<T, Lanes>::type all, const Join& join) noexcept {
  if constexpr (Lanes == 1) {
    return all[0];
  } else {
    constexpr auto lower = std::make_index_sequence<Lanes / 2>{};
    const auto half = [&]<std::size_t... L>(std::index_sequence<L...>) {
      return join(__builtin_shufflevector(all, all, static_cast<int>(L)...),
                  __builtin_shufflevector(all, all, static_cast<int>(L + Lanes / 2)...));
    }
    (lower);
    return halve<Lanes / 2, T>(half, join);
  }
}

}  // namespace detail

template <class T>
[[nodiscard]] inline T sum(pack<T> a) noexcept {
  using vector = typename detail::short_vector<T, pack<T>::lanes>::type;
  return detail::halve<pack<T>::lanes, T>(std::bit_cast<vector>(a.value), [](auto x, auto y) { return x + y; });
}
template <class T>
[[nodiscard]] inline T largest(pack<T> a) noexcept {
  using vector = typename detail::short_vector<T, pack<T>::lanes>::type;
  return detail::halve<pack<T>::lanes, T>(std::bit_cast<vector>(a.value), [](auto x, auto y) { return x > y ? x : y; });
}

/// Asks for the cache line at p, which need not be memory of the program.
inline void prefetch(const void* p) noexcept { __builtin_prefetch(p); }
/// Asks for each line of a row.
template <class T>
inline void prefetch_row(std::span<const T> row) noexcept {
  for (std::size_t n = 0; n < row.size(); n += 64 / sizeof(T)) prefetch(row.data() + n);
}
/// The same of a row that will be written to.
template <class T>
inline void prefetch_row_to_write(std::span<T> row) noexcept {
  for (std::size_t n = 0; n < row.size(); n += 64 / sizeof(T)) __builtin_prefetch(row.data() + n, 1);
}

}  // namespace POSGEO_SIMD_ISA
}  // namespace posgeo::simd
