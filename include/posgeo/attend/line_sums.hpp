// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/attend/offset_line.hpp>
#include <posgeo/simd/transpose.hpp>

#include <algorithm>
#include <limits>
#include <type_traits>
#include <utility>

namespace posgeo {
inline namespace POSGEO_SIMD_ISA {
namespace kernel {

/// The sum of what positions add to one row's scores of one tile of keys, in registers.
template <class T>
class tile_sum {
 public:
  using shape = tile_shape<T>;
  static constexpr index_t lanes = shape::lanes;

  tile_sum() noexcept {
    for (simd::pack<T>& x : sum_) x = simd::zero<T>();
  }

  /// Numbers that lie one behind the other.
  void add(const T* from) noexcept {
    each([from](simd::pack<T> x, index_t k) { return x + simd::load(from + k); });
  }
  void add_level(T number) noexcept {
    each([level = simd::broadcast<T>(number)](simd::pack<T> x, index_t) { return x + level; });
  }
  void add(const tile_sum& other) noexcept {
    each([&other](simd::pack<T> x, index_t k) { return x + other.sum_[k / lanes]; });
  }
  /// line[origin + relative[k]], no further out than the line's ends. `bounds` are the lowest and the highest of
  /// `relative`.
  void add_gathered(const T* line, index_t count, index_t origin, const std::int32_t* relative,
                    std::pair<index_t, index_t> bounds) noexcept {
    const index_t lowest = saturating_add(origin, bounds.first);
    const index_t highest = saturating_add(origin, bounds.second);
    if (lowest > highest) return;  // nobody sees the tile
    if (highest <= 0 || lowest >= count - 1) return add_level(line[highest <= 0 ? 0 : count - 1]);
    if (lowest >= 0 && highest < count) {
      return add_gathered(line + origin, relative);
    }
    std::int32_t inside[shape::keys];
    for (index_t k = 0; k < shape::keys; ++k) {
      inside[k] = static_cast<std::int32_t>(std::clamp<index_t>(origin + relative[k], 0, count - 1));
    }
    add_gathered(line, inside);
  }
  /// line[entry[k]].
  void add_gathered(const T* line, const std::int32_t* entry) noexcept {
    each([=](simd::pack<T> x, index_t k) { return x + simd::gather(line, entry + k); });
  }
  /// Natural numbers of the caller's memory, in base 2; gives the keys whose number is -infinity.
  template <class Element>
  [[nodiscard]] seen_bits add_caller_line(const Element* from, index_t step, index_t count) noexcept {
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
    each([&](simd::pack<T> sum, index_t k) {
      const simd::pack<T> x = simd::load(natural + k);
      const simd::mask<T> hidden = simd::below(x, lowest);
      removed |= seen_bits{simd::bits(hidden)} << k;
      const simd::pack<T> finite = simd::zero_where(hidden, x * simd::broadcast<T>(log2_e<T>));
      return simd::max(sum + simd::max(finite, lowest), lowest);
    });
    return removed;
  }
  /// Finite penalties hide no key, whatever their sum.
  void bound() noexcept {
    each([](simd::pack<T> x, index_t) { return simd::max(x, simd::broadcast<T>(std::numeric_limits<T>::lowest())); });
  }

  void store(T* to) const noexcept {
    for (index_t k = 0; k < shape::keys; k += lanes) simd::store(to + k, sum_[k / lanes]);
  }

 private:
  template <class Visit>
  void each(const Visit& visit) noexcept {
    for (index_t k = 0; k < shape::keys; k += lanes) sum_[k / lanes] = visit(sum_[k / lanes], k);
  }
  simd::pack<T> sum_[shape::key_packs];
};

/// Writes the products of the keys of a tile with class rows for a group of rows that stand one after another. A key
/// has its products along its own line of `stride` numbers, from entry 0 at of_tile + k * stride on, and the first row
/// reads entry `first` + k of it, the next row the one before: squares of lanes x lanes are transposed. `ends` are the
/// first and, `to_high` further on, the last entries of the keys. Gives false, and writes nothing, where a square would
/// reach beyond the lines.
template <class T>
[[nodiscard]] inline bool write_squares(T* to, index_t to_stride, index_t rows, const T* of_tile, index_t stride,
                                        index_t first, index_t count, const T* ends, index_t to_high) noexcept {
  using shape = tile_shape<T>;
  constexpr index_t lanes = shape::lanes;
  const bool level_low = first + shape::keys <= 0;
  const bool level_high = first - rows >= count;
  if (level_low || level_high) {
    tile_sum<T> level;
    level.add(level_low ? ends : ends + to_high);
    for (index_t r = 0; r < rows; ++r) level.store(to + r * to_stride);
    return true;
  }
  if (first - round_up(rows, lanes) < -line_margin<T> || first + shape::keys > count + line_margin<T>) return false;
  for (index_t r = 0; r < rows; r += lanes) {
    for (index_t k = 0; k < shape::keys; k += lanes) {
      T square[lanes * lanes];  // row lanes - 1 - n is query r + n
      simd::transpose(of_tile + k * stride + first + k - r - (lanes - 1), stride + 1, square, lanes);
      for (index_t q = r; q < std::min(r + lanes, rows); ++q) {
        simd::store(to + q * to_stride + k, simd::load(square + (lanes - 1 - (q - r)) * lanes));
      }
    }
  }
  return true;
}

}  // namespace kernel
}  // namespace POSGEO_SIMD_ISA
}  // namespace posgeo
