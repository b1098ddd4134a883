// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/attend/offset_line.hpp>
#include <posgeo/attend/pack_rows.hpp>
#include <posgeo/attend/score_tiles.hpp>
#include <posgeo/coordinate/class_side.hpp>

namespace posgeo {
inline namespace POSGEO_SIMD_ISA {
namespace kernel {

/// The class rows of one side and head, in the order of the offsets that read them, packed as keys are. Neighbouring
/// offsets of one class are a run, which has one packed row; the entries of a line are its runs' numbers, repeated.
template <class T>
class class_rows {
 public:
  using shape = tile_shape<T>;

  class_rows() = default;
  class_rows(detail::memory_parts& memory, index_t dims, index_t most)
      : dims_(dims),
        packed_(memory.take<T>(round_up(most, shape::keys) * dims)),
        stage_(memory.take<T>(shape::keys * dims)),
        columns_(memory.take<T>(shape::rows * dims + shape::lanes)),
        run_(memory.take<std::int32_t>(round_up(most, shape::keys))),
        first_run_(memory.take<std::int32_t>(round_up(most, shape::keys) / shape::lanes)),
        of_runs_(memory.take<T>(shape::rows * run_stride(most))),
        run_stride_(run_stride(most)) {}

  template <class Side>
  void bind(const Side& side, head_index h, const line_span& span, T factor) noexcept {
    span_ = span;
    runs_ = 0;
    index_t last = 0;
    for (index_t entry = 0; entry < round_up(span.count, shape::keys); ++entry) {
      const index_t c = side.of(relative_offset{span.low + std::min(entry, span.count - 1)});
      if (entry == 0 || c != last) {
        T* const row = stage_ + runs_++ % shape::keys * dims_;
        side.row(h, c, {row, static_cast<std::size_t>(dims_)});
        if (factor != T{1}) scale_row(row, dims_, factor);
        if (runs_ % shape::keys == 0) pack_staged(runs_ / shape::keys - 1);
        last = c;
      }
      const auto run = static_cast<std::int32_t>(runs_ - 1);
      if (entry % shape::lanes == 0) first_run_[entry / shape::lanes] = run;
      run_[entry] = run - first_run_[entry / shape::lanes];
    }
    if (runs_ % shape::keys == 0) return;
    std::fill(stage_ + runs_ % shape::keys * dims_, stage_ + shape::keys * dims_, T{0});
    pack_staged(runs_ / shape::keys);
  }

  [[nodiscard]] const line_span& span() const noexcept { return span_; }
  [[nodiscard]] index_t tiles() const noexcept { return round_up(span_.count, shape::keys) / shape::keys; }

  /// The lines of the first `count` of a group's whole rows over tiles [first, last) of the entries: row r's entry 0 is
  /// at lines + r * stride - first * keys, margins at the ends included where they are among the tiles.
  void products(const T* rows, index_t row_stride, index_t count, index_t first, index_t last, T* lines,
                index_t stride) const noexcept {
    T* const entry = lines - first * shape::keys;
    pack_columns(rows, row_stride, dims_, columns_);
    if (runs_ == span_.count) {
      multiply(count, first, last, entry, stride);
    } else {
      const index_t first_run = first_run_[first * shape::key_packs];
      const index_t last_entry = last * shape::keys - 1;
      const index_t last_run = first_run_[last_entry / shape::lanes] + run_[last_entry];
      multiply(count, first_run / shape::keys, last_run / shape::keys + 1, of_runs_, run_stride_);
      for (index_t r = 0; r < count; ++r) {
        const T* const from = of_runs_ + r * run_stride_;
        for (index_t e = first * shape::keys; e < last * shape::keys; e += shape::lanes) {
          simd::store(entry + r * stride + e, simd::permute(simd::load(from + first_run_[e / shape::lanes]), run_ + e));
        }
      }
    }
    for (index_t r = 0; r < count; ++r) {
      T* const of_row = entry + r * stride;
      if (first == 0) level_low(of_row);
      if (last == tiles()) level_high(of_row, span_.count);
    }
  }

 private:
  /// Numbers of a row's runs, and what a pack that starts at the last of them reads beyond.
  [[nodiscard]] static index_t run_stride(index_t most) noexcept {
    return round_up(most, shape::keys) + 2 * shape::lanes;
  }
  void pack_staged(index_t tile) noexcept { pack_tile(stage_, dims_, dims_, packed_ + tile * shape::keys * dims_); }

  /// Products of the columns with the packed rows of tiles [first, last), those of row r with the first packed row of
  /// all at out + r * stride.
  void multiply(index_t count, index_t first, index_t last, T* out, index_t stride) const noexcept {
    score_tiles_of<score_start::zero, score_end::raw, key_source::packed, T>({.queries = columns_,
                                                                              .keys = packed_,
                                                                              .dims = dims_,
                                                                              .first = first,
                                                                              .last = last,
                                                                              .shift = nullptr,
                                                                              .line = nullptr,
                                                                              .line_step = 0,
                                                                              .out = out,
                                                                              .out_stride = stride,
                                                                              .sums = nullptr,
                                                                              .seen = nullptr,
                                                                              .weights = nullptr,
                                                                              .ahead = nullptr},
                                                                             count);
  }

  index_t dims_ = 0;
  T* packed_ = nullptr;
  T* stage_ = nullptr;
  T* columns_ = nullptr;               ///< of the rows that are multiplied
  std::int32_t* run_ = nullptr;        ///< of each entry, counted from the first of its pack
  std::int32_t* first_run_ = nullptr;  ///< of each pack of entries
  T* of_runs_ = nullptr;               ///< products of a group's rows with the runs
  index_t run_stride_ = 0;
  index_t runs_ = 0;
  line_span span_;
};

}  // namespace kernel
}  // namespace POSGEO_SIMD_ISA
}  // namespace posgeo
