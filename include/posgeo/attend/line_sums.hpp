// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/attend/offset_line.hpp>
#include <posgeo/simd/transpose.hpp>

#include <algorithm>
#include <limits>
#include <type_traits>
#include <utility>

// Ways in which the numbers of one tile of keys are added to a row of scores.
namespace posgeo {
inline namespace POSGEO_SIMD_ISA {
namespace kernel {

/// to[k] += from[k] for the keys of a tile.
template <class T>
inline void add_tile(T* to, const T* from) noexcept {
  using shape = tile_shape<T>;
  for (index_t k = 0; k < shape::keys; k += shape::lanes) {
    simd::store(to + k, simd::load(to + k) + simd::load(from + k));
  }
}

/// to[k] += line[origin + relative[k]], no further out than the line's ends. `bounds` are the lowest and the highest of
/// `relative`.
template <class T>
inline void gather_line(T* to, const T* line, index_t count, index_t origin, const std::int32_t* relative,
                        std::pair<index_t, index_t> bounds) noexcept {
  using shape = tile_shape<T>;
  const index_t lowest = saturating_add(origin, bounds.first);
  const index_t highest = saturating_add(origin, bounds.second);
  if (lowest > highest) return;  // nobody sees the tile
  if (highest <= 0 || lowest >= count - 1) {
    const simd::pack<T> level = simd::broadcast<T>(line[highest <= 0 ? 0 : count - 1]);
    for (index_t k = 0; k < shape::keys; k += shape::lanes) simd::store(to + k, simd::load(to + k) + level);
    return;
  }
  std::int32_t inside[shape::keys];
  const std::int32_t* entry = relative;
  if (lowest >= 0 && highest < count) {
    line += origin;
  } else {
    for (index_t k = 0; k < shape::keys; ++k) {
      inside[k] = static_cast<std::int32_t>(std::clamp<index_t>(origin + relative[k], 0, count - 1));
    }
    entry = inside;
  }
  for (index_t k = 0; k < shape::keys; k += shape::lanes) {
    simd::store(to + k, simd::load(to + k) + simd::gather(line, entry + k));
  }
}

/// Adds natural numbers of the caller's memory, in base 2; gives the keys whose number is -infinity.
template <class T, class Element>
[[nodiscard]] inline seen_bits add_caller_line(T* to, const Element* from, index_t step, index_t count) noexcept {
  using shape = tile_shape<T>;
  T numbers[shape::keys] = {};
  const T* natural = numbers;
  if constexpr (std::is_same_v<T, Element>) {
    if (step == 1 && count == shape::keys) natural = from;
  }
  if (natural == numbers) {
    for (index_t k = 0; k < count; ++k) numbers[k] = static_cast<T>(from[k * step]);
  }
  const simd::pack<T> lowest = simd::broadcast<T>(std::numeric_limits<T>::lowest());
  seen_bits removed = 0;
  for (index_t k = 0; k < shape::keys; k += shape::lanes) {
    const simd::pack<T> x = simd::load(natural + k);
    const simd::mask<T> hidden = simd::below(x, lowest);
    removed |= seen_bits{simd::bits(hidden)} << k;
    const simd::pack<T> finite = simd::zero_where(hidden, x * simd::broadcast<T>(log2_e<T>));
    simd::store(to + k, simd::max(simd::load(to + k) + simd::max(finite, lowest), lowest));
  }
  return removed;
}

/// Adds the products of the keys of a tile with class rows to a group of rows that stand one after another. A key has
/// its products along its own line of `stride` numbers, from entry 0 at of_tile + k * stride on, and the first row
/// reads entry `first` + k of it, the next row the one before: squares of lanes x lanes are transposed. Gives false,
/// and adds nothing, where a square would reach beyond the lines.
template <class T>
[[nodiscard]] inline bool add_squares(T* to, index_t to_stride, index_t rows, const T* of_tile, index_t stride,
                                      index_t first, index_t count) noexcept {
  using shape = tile_shape<T>;
  constexpr index_t lanes = shape::lanes;
  const bool level_low = first + shape::keys <= 0;
  const bool level_high = first - rows >= count;
  if (level_low || level_high) {
    T level[shape::keys];
    for (index_t k = 0; k < shape::keys; ++k) level[k] = of_tile[k * stride + (level_low ? 0 : count - 1)];
    for (index_t r = 0; r < rows; ++r) add_tile<T>(to + r * to_stride, level);
    return true;
  }
  if (first - round_up(rows, lanes) < -line_margin<T> || first + shape::keys > count + line_margin<T>) return false;
  for (index_t r = 0; r < rows; r += lanes) {
    for (index_t k = 0; k < shape::keys; k += lanes) {
      T square[lanes * lanes];  // row lanes - 1 - n is query r + n
      simd::transpose(of_tile + k * stride + first + k - r - (lanes - 1), stride + 1, square, lanes);
      for (index_t q = r; q < std::min(r + lanes, rows); ++q) {
        T* const row = to + q * to_stride + k;
        simd::store(row, simd::load(row) + simd::load(square + (lanes - 1 - (q - r)) * lanes));
      }
    }
  }
  return true;
}

}  // namespace kernel
}  // namespace POSGEO_SIMD_ISA
}  // namespace posgeo
