// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/attend/offset_line.hpp>
#include <posgeo/attend/pack_rows.hpp>
#include <posgeo/attend/score_tiles.hpp>
#include <posgeo/coordinate/class_side.hpp>

namespace posgeo {
inline namespace POSGEO_SIMD_ISA {
namespace kernel {

/// The class rows of one side and head, in the order of the offsets that read them, packed as keys are.
template <class T>
class class_rows {
 public:
  using shape = tile_shape<T>;

  class_rows() = default;
  class_rows(detail::memory_parts& memory, index_t dims, index_t most)
      : dims_(dims),
        packed_(memory.take<T>(round_up(most, shape::keys) * dims)),
        stage_(memory.take<T>(shape::keys * dims)) {}

  template <class Side>
  void bind(const Side& side, head_index h, const line_span& span, T factor) noexcept {
    span_ = span;
    for (index_t tile = 0; tile < tiles(); ++tile) {
      for (index_t k = 0; k < shape::keys; ++k) {
        T* const row = stage_ + k * dims_;
        const index_t entry = tile * shape::keys + k;
        if (entry < span.count) {
          side.row(h, side.of(relative_offset{span.low + entry}), {row, static_cast<std::size_t>(dims_)});
          if (factor != T{1}) scale_row(row, dims_, factor);
        } else {
          std::fill_n(row, dims_, T{0});
        }
      }
      pack_tile(stage_, dims_, dims_, packed_ + tile * shape::keys * dims_);
    }
  }

  [[nodiscard]] const line_span& span() const noexcept { return span_; }
  [[nodiscard]] index_t tiles() const noexcept { return round_up(span_.count, shape::keys) / shape::keys; }

  /// The lines of the first `count` rows of a group over tiles [first, last) of the entries: row r's entry 0 is at
  /// lines + r * stride - first * keys, margins at the ends included where they are among the tiles.
  void products(const T* rows, index_t row_stride, index_t count, index_t first, index_t last, T* lines,
                index_t stride) const noexcept {
    T* const entry = lines - first * shape::keys;
    score_tiles<score_start::zero, score_end::raw, T>({.queries = rows,
                                                       .query_stride = row_stride,
                                                       .keys = packed_,
                                                       .dims = dims_,
                                                       .first = first,
                                                       .last = last,
                                                       .shift = nullptr,
                                                       .line = nullptr,
                                                       .line_step = 0,
                                                       .out = entry,
                                                       .out_stride = stride,
                                                       .sums = nullptr},
                                                      count);
    for (index_t r = 0; r < count; ++r) {
      T* const of_row = entry + r * stride;
      if (first == 0) std::fill(of_row - line_margin<T>, of_row, of_row[0]);
      if (last == tiles()) {
        std::fill(of_row + span_.count, of_row + span_.count + line_margin<T>, of_row[span_.count - 1]);
      }
    }
  }

 private:
  index_t dims_ = 0;
  T* packed_ = nullptr;
  T* stage_ = nullptr;
  line_span span_;
};

}  // namespace kernel
}  // namespace POSGEO_SIMD_ISA
}  // namespace posgeo
