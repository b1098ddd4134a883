// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/attend/read_ahead.hpp>
#include <posgeo/attend/tile_shape.hpp>
#include <posgeo/simd/convert.hpp>
#include <posgeo/simd/transpose.hpp>

#include <algorithm>
#include <span>
#include <type_traits>

namespace posgeo {
inline namespace POSGEO_SIMD_ISA {
namespace kernel {

/// A pack of stored numbers in T.
template <class T, class E>
[[nodiscard]] inline simd::pack<T> load_stored(const E* from) noexcept {
  if constexpr (std::is_same_v<E, T>) {
    return simd::load(from);
  } else {
    return simd::load_wide(from);
  }
}
/// Stored numbers in T.
template <class T, class E>
inline void widen_row(std::span<const E> from, T* to) noexcept {
  constexpr index_t lanes = simd::pack<T>::lanes;
  const auto count = static_cast<index_t>(from.size());
  index_t n = 0;
  for (; n + lanes <= count; n += lanes) simd::store(to + n, load_stored<T>(from.data() + n));
  if (n == count) return;
  if constexpr (std::is_same_v<E, T>) {
    simd::store_first(to + n, simd::load_first(from.data() + n, count - n), count - n);
  } else {
    simd::store_first(to + n, simd::load_wide_first(from.data() + n, count - n), count - n);
  }
}
/// factor * from[d], each rounded once to T and, where that is another type, once to O.
template <class T, class O>
inline void narrow_row(const T* from, T factor, std::span<O> to) noexcept {
  constexpr index_t lanes = simd::pack<T>::lanes;
  const simd::pack<T> times = simd::broadcast<T>(factor);
  const auto count = static_cast<index_t>(to.size());
  index_t n = 0;
  if constexpr (std::is_same_v<O, T>) {
    for (; n + lanes <= count; n += lanes) simd::store(to.data() + n, simd::load(from + n) * times);
    if (n < count) simd::store_first(to.data() + n, simd::load_first(from + n, count - n) * times, count - n);
  } else {
    for (; n + lanes <= count; n += lanes) simd::store_narrow(to.data() + n, simd::load(from + n) * times);
    if (n < count) simd::store_narrow_first(to.data() + n, simd::load_first(from + n, count - n) * times, count - n);
  }
}

/// One tile of keys, [dims][tile keys], from as many rows, [tile keys][row_stride], of T or bfloat16. Asks for `lines`
/// lines ahead with each square that it transposes.
template <class T, class E>
inline void pack_tile(const E* rows, index_t row_stride, index_t dims, T* tile, read_ahead* ahead = nullptr,
                      index_t lines = 0) noexcept {
  using shape = tile_shape<T>;
  constexpr index_t lanes = shape::lanes;
  for (index_t n = 0; n < shape::keys; n += lanes) {
    const E* const from = rows + n * row_stride;
    index_t d = 0;
    constexpr index_t columns = std::is_same_v<E, T> ? lanes : 2 * lanes;
    for (; d + columns <= dims; d += columns) {
      for (index_t line = 0; line < lines; ++line) ahead->next();
      T* const square = tile + d * shape::keys + n;
      if constexpr (std::is_same_v<E, T>) {
        simd::transpose(from + d, row_stride, square, shape::keys);
      } else {
        simd::transpose_pairs(from + d, row_stride, square, shape::keys);
      }
    }
    for (; d < dims; ++d) {
      for (index_t k = 0; k < lanes; ++k) tile[d * shape::keys + n + k] = static_cast<T>(from[k * row_stride + d]);
    }
  }
}

/// A group's rows as columns, [dims][tile rows], from [whole rows][row_stride], of which those beyond a tile's are
/// read: what they leave behind lies where the next column will, and in `lanes` numbers after the last one.
template <class T>
inline void pack_columns(const T* rows, index_t row_stride, index_t dims, T* columns) noexcept {
  using shape = tile_shape<T>;
  constexpr index_t lanes = shape::lanes;
  for (index_t r = shape::whole_rows - lanes; r >= 0; r -= lanes) {
    const T* const from = rows + r * row_stride;
    index_t d = 0;
    for (; d + lanes <= dims; d += lanes) {
      simd::transpose(from + d, row_stride, columns + d * shape::rows + r, shape::rows);
    }
    for (; d < dims; ++d) {
      for (index_t n = r; n < std::min(r + lanes, shape::rows); ++n) {
        columns[d * shape::rows + n] = rows[n * row_stride + d];
      }
    }
  }
}

/// Calls visit(pack, d) for the packs of a row, what is missing of the last one being 0, and stores what it returns.
template <class T, class Visit>
inline void map_row(T* row, index_t count, const Visit& visit) noexcept {
  constexpr index_t lanes = simd::pack<T>::lanes;
  index_t d = 0;
  for (; d + lanes <= count; d += lanes) simd::store(row + d, visit(simd::load(row + d), d));
  if (d < count) simd::store_first(row + d, visit(simd::load_first(row + d, count - d), d), count - d);
}

/// row[d] *= factor.
template <class T>
inline void scale_row(T* row, index_t count, T factor) noexcept {
  map_row(row, count, [factor](simd::pack<T> x, index_t) { return x * simd::broadcast<T>(factor); });
}
/// row[d] += from[d].
template <class T>
inline void add_row(T* row, const T* from, index_t count) noexcept {
  constexpr index_t lanes = simd::pack<T>::lanes;
  map_row(row, count, [from, count](simd::pack<T> x, index_t d) {
    return x + (d + lanes <= count ? simd::load(from + d) : simd::load_first(from + d, count - d));
  });
}

template <class T>
[[nodiscard]] inline T dot(const T* a, const T* b, index_t count) noexcept {
  constexpr index_t lanes = simd::pack<T>::lanes;
  simd::pack<T> sum = simd::zero<T>();
  index_t d = 0;
  for (; d + lanes <= count; d += lanes) sum = simd::fma(simd::load(a + d), simd::load(b + d), sum);
  if (d < count) sum = simd::fma(simd::load_first(a + d, count - d), simd::load_first(b + d, count - d), sum);
  return simd::sum(sum);
}

/// Stored numbers in T, widened to a multiple of the lanes by zeros; gives whether all of them are finite.
template <class T, class E>
[[nodiscard]] inline bool copy_finite_row(std::span<const E> from, T* to, index_t width) noexcept {
  if constexpr (!std::is_same_v<E, T>) {
    widen_row<T, E>(from, to);
    std::fill(to + from.size(), to + width, T{0});
  }
  constexpr index_t lanes = simd::pack<T>::lanes;
  const auto count = static_cast<index_t>(from.size());
  simd::pack<T> sum = simd::zero<T>();
  for (index_t d = 0; d < width; d += lanes) {
    simd::pack<T> x = simd::zero<T>();
    if constexpr (std::is_same_v<E, T>) {
      x = d + lanes <= count ? simd::load(from.data() + d)
                             : simd::load_first(from.data() + d, std::max<index_t>(count - d, 0));
      simd::store(to + d, x);
    } else {
      x = simd::load(to + d);
    }
    sum = sum + (x - x);
  }
  return simd::all(simd::at_most(sum, simd::zero<T>()));
}

}  // namespace kernel
}  // namespace POSGEO_SIMD_ISA
}  // namespace posgeo
