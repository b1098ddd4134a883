// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/attend/pack_rows.hpp>

namespace posgeo {
inline namespace POSGEO_SIMD_ISA {
namespace kernel {

/// What a sum of weighted values starts from.
enum class value_start {
  zero,    ///< 0; the output takes the sum when it is done
  output,  ///< the output, which is the sum so far
};

/// Adds weights . values to the output rows of one group. Values are numbers of T, or are widened to it.
template <class T, class V = T>
struct value_job {
  const T* weights;  ///< [rows][keys], a row weight_stride and a key weight_step after the one before
  index_t weight_stride;
  index_t weight_step;
  const V* values;  ///< [keys][value_stride]
  index_t value_stride;
  index_t keys;
  index_t width;  ///< a multiple of the lanes
  T* out;         ///< [rows][out_stride]
  index_t out_stride;
  const read_ahead* ahead;  ///< of a sum that goes on: asked for as many lines as are read
};

/// `Packs` packs of columns of `Rows` rows, summed over the keys in their order.
template <value_start Start, index_t Rows, index_t Packs, class T, class V>
[[gnu::noinline]] void value_tile(const value_job<T, V>& job, index_t row, index_t column) noexcept {
  using shape = tile_shape<T>;
  using simd::pack;
  constexpr index_t rows = Rows;
  constexpr index_t lanes = shape::lanes;
  const T* weights = job.weights + row * job.weight_stride;
  const V* values = job.values + column;
  T* const out = job.out + row * job.out_stride + column;
  const index_t weight_stride = job.weight_stride;
  const index_t weight_step = job.weight_step;
  const index_t value_stride = job.value_stride;
  constexpr index_t keys_ahead = 6;  // of packed values, which come from the second-level cache
  constexpr index_t lines = std::max<index_t>(Packs * lanes * static_cast<index_t>(sizeof(V)) / read_ahead::line, 1);
  read_ahead soon = Start == value_start::output ? *job.ahead : read_ahead();
  pack<T> sum[rows][Packs];
#pragma GCC unroll 16
  for (index_t r = 0; r < rows; ++r) {
#pragma GCC unroll 8
    for (index_t n = 0; n < Packs; ++n) {
      sum[r][n] = Start == value_start::zero ? simd::zero<T>() : simd::load(out + r * job.out_stride + n * lanes);
    }
  }
  for (index_t j = 0; j < job.keys; ++j) {
    pack<T> value[Packs];
#pragma GCC unroll 8
    for (index_t n = 0; n < Packs; ++n) {
      value[n] = load_stored<T>(values + n * lanes);
      if (Start == value_start::zero && starts_line<V>(n))
        simd::prefetch(values + keys_ahead * value_stride + n * lanes);
    }
    if constexpr (Start == value_start::output) {
#pragma GCC unroll 8
      for (index_t line = 0; line < lines; ++line) soon.next();
    }
#pragma GCC unroll 16
    for (index_t r = 0; r < rows; ++r) {
      const pack<T> weight = simd::broadcast<T>(weights[r * weight_stride]);
#pragma GCC unroll 8
      for (index_t n = 0; n < Packs; ++n) sum[r][n] = simd::fma(weight, value[n], sum[r][n]);
    }
    weights += weight_step;
    values += value_stride;
  }
#pragma GCC unroll 16
  for (index_t r = 0; r < rows; ++r) {
#pragma GCC unroll 8
    for (index_t n = 0; n < Packs; ++n) {
      T* const to = out + r * job.out_stride + n * lanes;
      simd::store(to, Start == value_start::zero ? simd::load(to) + sum[r][n] : sum[r][n]);
    }
  }
}

/// All columns of `Rows` rows.
template <value_start Start, index_t Rows, index_t Packs, class T, class V>
inline void value_columns(const value_job<T, V>& job, index_t row) noexcept {
  constexpr index_t step = Packs * tile_shape<T>::lanes;
  index_t column = 0;
  for (; column + step <= job.width; column += step) value_tile<Start, Rows, Packs>(job, row, column);
  for (; column < job.width; column += tile_shape<T>::lanes) value_tile<Start, Rows, 1>(job, row, column);
}

/// All columns of the first `rows` of a group, with no more work than the next power of two.
template <value_start Start, class T, class V>
void value_tiles(const value_job<T, V>& job, index_t rows = tile_shape<T>::rows) noexcept {
  using shape = tile_shape<T>;
  if (job.keys == 0) return;
  if (rows == 1) return value_columns<Start, 1, shape::value_packs_of_few>(job, 0);
  if (rows == 2) return value_columns<Start, 2, shape::value_packs_of_few>(job, 0);
  if (rows <= 4) return value_columns<Start, 4, shape::value_packs>(job, 0);
  if (shape::rows > 8 && rows <= 8) return value_columns<Start, 8, 2>(job, 0);
  for (index_t row = 0; row < shape::rows; row += shape::value_rows) {
    value_columns<Start, shape::value_rows, shape::value_packs>(job, row);
  }
}

/// out[n] += sum over rows r of [begin, end) of numbers[r][n] * of_row[r], for the first `count` numbers of a row.
/// Shapes: numbers [rows][stride], of_row [rows][width], out [a tile's rows][width].
template <class T>
void add_along_rows(const T* numbers, index_t stride, const T* of_row, index_t width, index_t begin, index_t end,
                    T* out, index_t count) noexcept {
  value_tiles<value_start::zero>(value_job<T>{.weights = numbers + begin * stride,
                                              .weight_stride = 1,
                                              .weight_step = stride,
                                              .values = of_row + begin * width,
                                              .value_stride = width,
                                              .keys = end - begin,
                                              .width = width,
                                              .out = out,
                                              .out_stride = width,
                                              .ahead = nullptr},
                                 count);
}

}  // namespace kernel
}  // namespace POSGEO_SIMD_ISA
}  // namespace posgeo
