// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/attend/tile_shape.hpp>

namespace posgeo {
inline namespace POSGEO_SIMD_ISA {
namespace kernel {

/// Adds weights . values to the output rows of one group.
template <class T>
struct value_job {
  const T* weights;  ///< [rows][weight_stride]
  index_t weight_stride;
  const T* values;  ///< [keys][width]
  index_t keys;
  index_t width;  ///< a multiple of the lanes
  T* out;         ///< [rows][out_stride]
  index_t out_stride;
};

/// `Packs` packs of columns of `Rows` rows, summed from zero over the keys in their order and then added.
template <index_t Rows, index_t Packs, class T>
[[gnu::noinline]] void value_tile(const T* weights, index_t weight_stride, const T* values, index_t width, index_t keys,
                                  T* out, index_t out_stride) noexcept {
  using shape = tile_shape<T>;
  using simd::pack;
  constexpr index_t rows = Rows;
  constexpr index_t lanes = shape::lanes;
  constexpr index_t ahead = 6;  // keys prefetched
  pack<T> sum[rows][Packs];
#pragma GCC unroll 16
  for (index_t r = 0; r < rows; ++r) {
#pragma GCC unroll 4
    for (index_t n = 0; n < Packs; ++n) sum[r][n] = simd::zero<T>();
  }
  for (index_t j = 0; j < keys; ++j) {
    pack<T> value[Packs];
#pragma GCC unroll 4
    for (index_t n = 0; n < Packs; ++n) {
      value[n] = simd::load(values + n * lanes);
      simd::prefetch(values + ahead * width + n * lanes);
    }
#pragma GCC unroll 16
    for (index_t r = 0; r < rows; ++r) {
      const pack<T> weight = simd::broadcast<T>(weights[r * weight_stride]);
#pragma GCC unroll 4
      for (index_t n = 0; n < Packs; ++n) sum[r][n] = simd::fma(weight, value[n], sum[r][n]);
    }
    ++weights;
    values += width;
  }
#pragma GCC unroll 16
  for (index_t r = 0; r < rows; ++r) {
#pragma GCC unroll 4
    for (index_t n = 0; n < Packs; ++n) {
      T* const to = out + r * out_stride + n * lanes;
      simd::store(to, simd::load(to) + sum[r][n]);
    }
  }
}

/// All columns of `Rows` rows.
template <index_t Rows, index_t Packs, class T>
inline void value_columns(const value_job<T>& job, index_t row) noexcept {
  using shape = tile_shape<T>;
  constexpr index_t step = Packs * shape::lanes;
  const T* const weights = job.weights + row * job.weight_stride;
  T* const out = job.out + row * job.out_stride;
  index_t column = 0;
  for (; column + step <= job.width; column += step) {
    value_tile<Rows, Packs>(weights, job.weight_stride, job.values + column, job.width, job.keys, out + column,
                            job.out_stride);
  }
  for (; column < job.width; column += shape::lanes) {
    value_tile<Rows, 1>(weights, job.weight_stride, job.values + column, job.width, job.keys, out + column,
                        job.out_stride);
  }
}

/// All columns of the first `rows` of a group, with no more work than the next power of two.
template <class T>
void value_tiles(const value_job<T>& job, index_t rows = tile_shape<T>::rows) noexcept {
  using shape = tile_shape<T>;
  if (job.keys == 0) return;
  if (rows == 1) return value_columns<1, shape::value_packs_of_few>(job, 0);
  if (rows == 2) return value_columns<2, shape::value_packs_of_few>(job, 0);
  if (rows <= 4) return value_columns<4, shape::value_packs>(job, 0);
  if (shape::rows > 8 && rows <= 8) return value_columns<8, 2>(job, 0);
  for (index_t row = 0; row < shape::rows; row += shape::value_rows) {
    value_columns<shape::value_rows, shape::value_packs>(job, row);
  }
}

}  // namespace kernel
}  // namespace POSGEO_SIMD_ISA
}  // namespace posgeo
