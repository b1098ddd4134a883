// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/attend/fused_memory.hpp>
#include <posgeo/attend/plan_gradients.hpp>
#include <posgeo/scale/softcap.hpp>

#include <array>

namespace posgeo {
inline namespace POSGEO_SIMD_ISA {
namespace kernel {

/// Whether a term has learned numbers.
template <class Term>
inline constexpr bool learns = false;
template <says_gradient Term>
inline constexpr bool learns<Term> = !std::same_as<gradient_of<Term>, nothing_learned>;

/// Which terms of a plan have gradients by offset or class, so that they are given sums of pairs.
template <class Plan>
struct backward_parts {
  using T = typename Plan::scalar;
  using parts = detail::plan_parts<Plan>;

  template <class Term>
  static constexpr bool class_content = class_content_gradient<Term, T>;
  template <class Term>
  static constexpr bool class_value = class_value_gradient<Term, T>;

  /// Biases by offset that learn.
  static constexpr index_t offset_biases = parts::template count<typename parts::biases>(
      []<class Term>(std::type_identity<Term>) { return offset_bias_gradient<Term, T> && learns<Term>; });
  /// Whether there are content terms: where positions lie too far apart for a line, each is given pairs.
  static constexpr bool contents = std::tuple_size_v<typename parts::contents> > 0;
};

/// The sizes of what one worker keeps for the backward pass. Units: numbers, unless said otherwise.
template <class Plan>
struct backward_sizes : fused_sizes<Plan> {
  using T = typename Plan::scalar;
  using parts = detail::plan_parts<Plan>;
  using shape = tile_shape<T>;

  /// Weights and score gradients of a chunk and a block stay in the second-level cache together: both are read once
  /// along the keys and once along the rows.
  static constexpr index_t block = shape::chunk_rows;
  static_assert(block % shape::keys == 0 && block % shape::rows == 0);

  index_t key_width = 0;  ///< of a key or query row in whole packs
  bool capped = false;

  backward_sizes(const Plan& plan, index_t values) : fused_sizes<Plan>(plan, values) {
    key_width = round_up(this->dim, shape::lanes);
    capped = plan.cap(scale::softcap_place::before_bias) || plan.cap(scale::softcap_place::after_bias);
    this->heads = 1;
    this->block_keys = block;
    this->weight_stride = block + shape::lanes;
    this->chunk_rows = std::min(round_up(this->queries, shape::rows), shape::chunk_rows);
    for (index_t& rows : this->line_rows) rows = std::min(rows, this->chunk_rows);
  }
};

/// Everything that one worker of the backward pass writes to on its way, beside what the scores need.
template <class Plan>
struct backward_memory {
  using T = typename Plan::scalar;
  using parts = detail::plan_parts<Plan>;
  using learned = backward_parts<Plan>;
  using shape = tile_shape<T>;

  backward_memory(detail::memory_parts& memory, const backward_sizes<Plan>& s) {
    const index_t padded_keys = round_up(s.keys, shape::keys);
    const index_t summed_keys = padded_keys + shape::rows;  // and what a tile of rows beyond the last may name
    const index_t scores = s.chunk_rows * s.weight_stride;
    value_tiles = memory.take<T>(padded_keys * s.value_dim + 1024);
    value_stage = memory.take<T>(shape::keys * std::max<index_t>(s.value_dim, 1));
    key_rows = memory.take<T>(padded_keys * s.key_width);
    key_stage = memory.take<T>(s.dims);
    d_keys = memory.take<T>(summed_keys * s.key_width);
    d_values = memory.take<T>(summed_keys * s.width);
    query_rows = memory.take<T>(s.chunk_rows * s.key_width);
    d_outputs = memory.take<T>((s.chunk_rows + shape::lanes) * s.width);
    d_output_columns = memory.take<T>(s.chunk_rows * s.width + shape::lanes);
    broken = memory.take<std::uint8_t>(s.chunk_rows);
    weighs = memory.take<std::uint8_t>(s.chunk_rows);
    seen = memory.take<std::uint8_t>(s.chunk_rows);
    minus_common = memory.take<T>(s.chunk_rows);
    d_queries = memory.take<T>(s.chunk_rows * s.key_width);
    weights = memory.take<T>(scores);
    d_scores = memory.take<T>(scores);
    tiles = memory.take<row_stretch>(s.chunk_rows / shape::rows);
    if constexpr (learned::contents) {
      pair_d_keys = memory.take<T>(padded_keys * s.key_width);
      pair_d_queries = memory.take<T>(s.chunk_rows * s.key_width);
    }
    if (s.capped) {
      to_bias = memory.take<T>(shape::rows * s.weight_stride);
      to_scaled = memory.take<T>(shape::rows * s.weight_stride);
    }
    if constexpr (parts::offset_biases > 0) bias_mass = memory.take<T>(line_memory<T>(s.bias_entries), line_margin<T>);
    for (std::size_t n = 0; n < query_mass.size(); ++n) {
      query_mass[n] = memory.take<T>(s.chunk_rows * round_up(s.query_entries[n], shape::lanes) + shape::rows);
      query_rows_of_class[n] = memory.take<T>(s.query_entries[n] * s.key_width);
      d_query_classes[n] = memory.take<T>((s.query_entries[n] + shape::rows) * s.key_width);
    }
    for (std::size_t n = 0; n < value_mass.size(); ++n) {
      value_classes[n] = class_rows<T>(memory, s.value_dim, s.value_entries[n]);
      value_lines[n] = memory.take<T>(s.chunk_rows * line_memory<T>(s.value_entries[n]), line_margin<T>);
      value_mass[n] = memory.take<T>(s.chunk_rows * round_up(s.value_entries[n], shape::lanes) + shape::rows);
      d_value_classes[n] = memory.take<T>((s.value_entries[n] + shape::rows) * s.width);
    }
    if constexpr (parts::class_values_terms > 0) value_line = memory.take<T>(shape::rows * s.weight_stride);
    row = memory.take<T>(std::max(s.key_width, s.width));
  }

  T* value_tiles;  ///< packed as keys are, as they are stored
  T* value_stage;
  T* key_rows;  ///< transformed, [keys][key_width], numbers that are not finite replaced by 0
  T* key_stage;
  T* d_keys;                    ///< [keys of the call][key_width], without the scale
  T* d_values;                  ///< [keys of the call][width]
  T* query_rows;                ///< transformed, natural, [chunk][key_width], numbers that are not finite replaced by 0
  T* d_outputs;                 ///< [chunk][width], likewise
  T* d_output_columns;          ///< the same, [chunk / rows][width][rows]
  std::uint8_t* broken;         ///< [chunk], whether the row of d_outputs has a number that is not finite
  std::uint8_t* weighs;         ///< [chunk], whether the row is a token that sees a key
  std::uint8_t* seen;           ///< [chunk], whether it saw one
  T* minus_common;              ///< [chunk], -dO . O
  T* d_queries;                 ///< [chunk][key_width], without the scale
  T* weights;                   ///< [chunk][weight_stride]
  T* d_scores;                  ///< [chunk][weight_stride]
  row_stretch* tiles;           ///< of each group: keys of the block that it reaches
  T* pair_d_keys = nullptr;     ///< [keys of the call][key_width], from terms that are given pairs
  T* pair_d_queries = nullptr;  ///< [chunk][key_width], likewise
  T* to_bias = nullptr;         ///< [rows][weight_stride], what a softcap passes on to a bias
  T* to_scaled = nullptr;       ///< [rows][weight_stride], what it passes on to the scaled score
  T* bias_mass = nullptr;       ///< score gradients by offset, of one head
  std::array<T*, parts::query_sides> query_mass;           ///< [chunk][entries], score gradients by offset
  std::array<T*, parts::query_sides> query_rows_of_class;  ///< [entries][key_width]
  std::array<T*, parts::query_sides> d_query_classes;      ///< [entries][key_width]
  std::array<class_rows<T>, parts::class_values_terms> value_classes;
  std::array<T*, parts::class_values_terms> value_lines;      ///< [chunk], d_outputs . class rows
  std::array<T*, parts::class_values_terms> value_mass;       ///< [chunk][entries], weights by offset
  std::array<T*, parts::class_values_terms> d_value_classes;  ///< [entries][width]
  T* value_line = nullptr;  ///< [rows][weight_stride], their sum for each key of a block
  T* row;
};

}  // namespace kernel
}  // namespace POSGEO_SIMD_ISA
}  // namespace posgeo
