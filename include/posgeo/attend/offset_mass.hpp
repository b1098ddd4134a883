// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/attend/fused_memory.hpp>
#include <posgeo/attend/offset_line.hpp>
#include <posgeo/attend/pack_rows.hpp>

#include <algorithm>

namespace posgeo {
inline namespace POSGEO_SIMD_ISA {
namespace kernel {

/// The sum of numbers [begin, end), each in the lane of its own number, so that zeros before or behind change nothing.
template <class T>
[[nodiscard]] inline T sum_of(const T* numbers, index_t begin, index_t end) noexcept {
  constexpr index_t lanes = simd::pack<T>::lanes;
  constexpr index_t step = 4 * lanes;
  simd::pack<T> sum[4] = {simd::zero<T>(), simd::zero<T>(), simd::zero<T>(), simd::zero<T>()};
  for (index_t n = begin / step * step; n < end; n += step) {
    for (index_t part = 0; part < 4; ++part) {
      const index_t at = n + part * lanes;
      if (at >= begin && at + lanes <= end) {
        sum[part] = sum[part] + simd::load(numbers + at);
      } else if (at < end && at + lanes > begin) {
        const auto before = simd::first_lanes<T>(std::max<index_t>(begin - at, 0));
        sum[part] = sum[part] + simd::zero_where(before, simd::load_first(numbers + at, std::min(end - at, lanes)));
      }
    }
  }
  return simd::sum((sum[0] + sum[1]) + (sum[2] + sum[3]));
}

/// Adds the numbers of one query row, [begin, end) of those of a block of keys, to the entries of a line that the
/// offsets of the keys name; beyond an end of the line, to the end.
template <class T>
inline void add_by_offset(const key_positions<T>& positions, const line_span& span, index_t query, index_t block,
                          const T* numbers, index_t begin, index_t end, T* line) noexcept {
  if (!positions.straight()) {
    const std::int32_t* const relative = positions.relative() + block;
    const index_t origin = saturating_subtract(saturating_subtract(positions.first(), query), span.low);
    for (index_t n = begin; n < end; ++n) {
      line[std::clamp<index_t>(saturating_add(origin, relative[n]), 0, span.count - 1)] += numbers[n];
    }
    return;
  }
  // Of key 0 of the block; further out than the keys reach is as good as just beyond them.
  const index_t first = saturating_subtract(positions.first() + block, query);
  const index_t entry = std::clamp(saturating_subtract(first, span.low), -end, span.count);
  const index_t low = std::clamp(-entry, begin, end);
  const index_t high = std::clamp(span.count - entry, begin, end);
  if (low > begin) line[0] += sum_of(numbers, begin, low);
  if (high > low) add_row(line + entry + low, numbers + low, high - low);
  if (end > high) line[span.count - 1] += sum_of(numbers, high, end);
}

/// The same for the rows of a group, `stride` numbers apart. Where they stand one after another on a straight stretch,
/// the numbers of one offset are summed before the line takes them.
template <class T>
inline void add_group_by_offset(const key_positions<T>& positions, const line_span& span, const row_group<T>& group,
                                index_t block, const T* numbers, index_t stride, index_t begin, index_t end,
                                T* line) noexcept {
  constexpr index_t lanes = simd::pack<T>::lanes;
  const auto by_row = [&](index_t r, index_t from, index_t to) {
    if (to > from) add_by_offset(positions, span, group.position[r], block, numbers + r * stride, from, to, line);
  };
  bool in_order = positions.straight();
  for (index_t r = 1; r < group.count && in_order; ++r) in_order = group.position[r] == group.position[0] + r;
  const index_t first = saturating_subtract(positions.first() + block, group.position[0]);
  const index_t entry = std::clamp(saturating_subtract(first, span.low), -end, span.count + row_group<T>::rows);
  // Columns whose entries lie inside the line for every row.
  const index_t last_row = group.count - 1;
  const index_t low = std::clamp(last_row - entry, begin, end);
  const index_t high = std::clamp(span.count - entry, low, end);
  const index_t whole = in_order ? std::max<index_t>(high - low - last_row, 0) / lanes * lanes : 0;
  if (whole == 0) {
    for (index_t r = 0; r < group.count; ++r) by_row(r, begin, end);
    return;
  }
  for (index_t n = low; n < low + whole; n += lanes) {  // of row 0; row r reads the same entry r columns later
    T* const to = line + entry + n;
    simd::pack<T> even = simd::load(to);
    simd::pack<T> odd = simd::zero<T>();
    for (index_t r = 0; r + 1 < group.count; r += 2) {
      even = even + simd::load(numbers + r * (stride + 1) + n);
      odd = odd + simd::load(numbers + (r + 1) * (stride + 1) + n);
    }
    if (group.count % 2 != 0) even = even + simd::load(numbers + last_row * (stride + 1) + n);
    simd::store(to, even + odd);
  }
  for (index_t r = 0; r < group.count; ++r) {
    by_row(r, begin, low + r);
    by_row(r, low + r + whole, end);
  }
}

}  // namespace kernel
}  // namespace POSGEO_SIMD_ISA
}  // namespace posgeo
