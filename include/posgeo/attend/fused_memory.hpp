// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/attend/class_lines.hpp>
#include <posgeo/attend/key_stretch.hpp>
#include <posgeo/attend/plan_parts.hpp>

#include <algorithm>
#include <array>

namespace posgeo {
inline namespace POSGEO_SIMD_ISA {
namespace kernel {

/// One group of query rows and the keys that they can see.
template <class T>
struct row_group {
  static constexpr index_t rows = tile_shape<T>::rows;
  index_t chunk_row;      ///< the place of the first in the chunk
  index_t count;          ///< rows that exist
  head_index head[rows];  ///< those beyond count repeat the last
  query_index query[rows];
  index_t slot[rows];  ///< which of the heads that are bound
  index_t position[rows];
  row_stretch reach[rows];
  row_stretch any;   ///< keys that a row may see
  row_stretch each;  ///< keys that every row sees; empty unless that is known
};

/// Which line of biases by offset a pair reads: that of others, or where one of the pair is [CLS].
enum class bias_case : index_t { plain, cls_query, cls_key };

/// The sizes of what one worker of the fused executor keeps. Units: numbers, unless said otherwise.
template <class Plan>
struct fused_sizes {
  using T = typename Plan::scalar;
  using parts = detail::plan_parts<Plan>;
  using shape = tile_shape<T>;

  index_t queries = 0;
  index_t keys = 0;
  index_t dim = 0;        ///< of a head
  index_t dims = 0;       ///< of a packed query or key: dim and what is appended
  index_t value_dim = 0;  ///< of a value
  index_t width = 0;      ///< of a packed value
  index_t out_width = 0;  ///< of a running output row: a value and the mass of each class of the value terms
  index_t block_keys = 0;
  index_t chunk_rows = 0;
  index_t weight_stride = 0;  ///< of the weights of a block: rows a power of two apart would meet in the cache
  index_t turning_dim = 0;
  index_t heads = 1;         ///< query heads that a chunk may hold rows of: those of a key head, or one
  index_t bias_entries = 0;  ///< of a line of the biases by offset
  static constexpr index_t bias_lines = parts::cls_biases ? 3 : 1;  ///< of a head, by bias_case
  std::array<index_t, parts::query_sides> query_entries{};
  std::array<index_t, parts::key_sides> key_entries{};
  std::array<index_t, parts::class_values_terms> value_entries{};
  std::array<index_t, parts::query_sides>
      line_rows{};  ///< rows that keep their class products: a chunk's, or a group's

  /// Whether nothing but biases differs from query head to query head, so that rows of several can be one group.
  static constexpr bool simple = parts::query_sides + parts::key_sides + parts::appended + parts::pair_contents +
                                     parts::query_additions + parts::class_values_terms + parts::pair_values ==
                                 0;

  fused_sizes(const Plan& plan, index_t values)
      : queries(plan.call().queries()), keys(plan.call().keys()), dim(plan.layout().dim), dims(dim), value_dim(values) {
    width = round_up(std::max<index_t>(value_dim, 1), shape::lanes);
    parts::each(plan.contents(), [this](const auto& term) {
      if constexpr (appended_product<std::remove_cvref_t<decltype(term)>, T>) dims += term.appended_dim();
    });
    parts::each(plan.transforms(), [this](const auto& term) {
      if constexpr (turning_transform<std::remove_cvref_t<decltype(term)>, T>) turning_dim = term.rotary_dim();
    });
    if constexpr (parts::offset_biases > 0) bias_entries = entries_for(plan, bias_level(plan));
    index_t n = 0;
    parts::each(plan.contents(), [&](const auto& term) {
      if constexpr (query_sided<std::remove_cvref_t<decltype(term)>, T>) {
        const auto side = term.query_side();
        query_entries[static_cast<std::size_t>(n++)] = side ? entries_for(plan, side->constant_beyond()) : 0;
      }
    });
    n = 0;
    parts::each(plan.contents(), [&](const auto& term) {
      if constexpr (key_sided<std::remove_cvref_t<decltype(term)>, T>) {
        const auto side = term.key_side();
        key_entries[static_cast<std::size_t>(n++)] = side ? entries_for(plan, side->constant_beyond()) : 0;
      }
    });
    n = 0;
    out_width = width;
    parts::each(plan.values(), [&](const auto& term) {
      if constexpr (class_values<std::remove_cvref_t<decltype(term)>, T>) {
        const auto side = term.classes_of_value();
        const index_t entries = side ? entries_for(plan, side->constant_beyond()) : 0;
        value_entries[static_cast<std::size_t>(n++)] = entries;
        out_width += round_up(entries, shape::lanes);
      }
    });
    const index_t group = plan.layout().query / plan.layout().key_value;
    heads = simple ? group : 1;
    // Scores of keys and classes are made once for each block and chunk: small blocks, many rows.
    block_keys = parts::key_sides > 0 ? shape::block_keys / 2 : shape::block_keys;
    weight_stride = block_keys + shape::lanes;
    chunk_rows = parts::key_sides > 0
                     ? std::min(round_up(queries, shape::rows), index_t{8192} / shape::rows * shape::rows)
                     : std::min(round_up(heads * queries, shape::rows), shape::chunk_rows);
    constexpr index_t few = 512;
    for (std::size_t side = 0; side < query_entries.size(); ++side) {
      line_rows[side] = query_entries[side] <= few ? chunk_rows : shape::rows;
    }
  }

  /// The offsets beyond which the sum of the biases is level, if it is.
  [[nodiscard]] static std::optional<coordinate::offset_bounds> bias_level(const Plan& plan) noexcept {
    std::optional<coordinate::offset_bounds> level;
    bool endless = false;
    parts::each(plan.biases(), [&](const auto& term) {
      using Term = std::remove_cvref_t<decltype(term)>;
      if constexpr (ended_offset_bias<Term, T>) {
        const coordinate::offset_bounds ends = term.constant_beyond();
        level = level ? coordinate::offset_bounds{std::min(level->lowest, ends.lowest),
                                                  std::max(level->highest, ends.highest)}
                      : ends;
      } else if constexpr (parts::template by_offset<Term>) {
        endless = true;
      }
    });
    return endless ? std::nullopt : level;
  }

 private:
  /// Entries that no line needs more of.
  [[nodiscard]] static index_t entries_for(const Plan& plan, const std::optional<coordinate::offset_bounds>& level) {
    const position_call& call = plan.call();
    index_t most = 0;
    for (const batch_index b : indices<batch_index>(call.batch())) {
      const line_span span = span_of(call.query_space().position_bounds(b.value()),
                                     call.key_space().position_bounds(b.value()), rule_of(plan), level);
      most = std::max(most, span.count);
    }
    return std::min(most, most_entries(call.queries(), call.keys()));
  }
};

/// Everything that one worker of the fused executor writes to on its way.
template <class Plan>
struct fused_memory {
  using T = typename Plan::scalar;
  using parts = detail::plan_parts<Plan>;
  using shape = tile_shape<T>;

  fused_memory(detail::memory_parts& memory, const fused_sizes<Plan>& s) {
    const index_t padded_keys = round_up(s.keys, shape::keys);
    keys = memory.take<T>(padded_keys * s.dims + 1024);  // and what a prefetch may name
    values = memory.take<T>(padded_keys * s.width);
    broken = memory.take<std::uint8_t>(padded_keys);
    stage = memory.take<T>(shape::keys * s.dims);
    class_row = memory.take<T>(s.dim);
    if constexpr (parts::key_sides > 0 || parts::pair_contents > 0) key_rows = memory.take<T>(padded_keys * s.dim);
    if constexpr (parts::pair_contents > 0) query_rows = memory.take<T>(s.chunk_rows * s.dim);
    if constexpr (parts::turns > 0) {
      key_turns = memory.take<T>(s.keys * s.turning_dim);
      query_turns = memory.take<T>(s.queries * s.turning_dim);
    }
    groups = memory.take<row_group<T>>(s.chunk_rows / shape::rows);
    query_stage = memory.take<T>(shape::whole_rows * s.dims);
    queries = memory.take<T>(s.chunk_rows * s.dims + shape::lanes);
    shift = memory.take<T>(s.chunk_rows);
    sums = memory.take<T>(s.chunk_rows * shape::lanes);
    out = memory.take<T>(s.chunk_rows * s.out_width);
    started = memory.take<std::uint8_t>(s.chunk_rows);
    block_sums = memory.take<T>(shape::rows * s.width);
    weights = memory.take<T>(shape::rows * s.weight_stride);
    natural = memory.take<T>(shape::rows * s.weight_stride);
    content_line = memory.take<T>(shape::rows * s.weight_stride);
    bias_line = memory.take<T>(shape::rows * s.weight_stride);
    seen = memory.take<seen_bits>(shape::rows * (s.block_keys / shape::keys));
    removed = memory.take<seen_bits>(shape::rows * (s.block_keys / shape::keys));
    if constexpr (parts::offset_biases > 0)
      biases = memory.take<T>(s.heads * s.bias_lines * line_memory<T>(s.bias_entries), line_margin<T>);
    if constexpr (parts::key_biases > 0) key_line = memory.take<T>(s.heads * padded_keys);
    positions = key_positions<T>(memory, s.keys);
    for (std::size_t n = 0; n < parts::query_sides; ++n) {
      query_classes[n] = class_rows<T>(memory, s.dim, s.query_entries[n]);
      class_queries[n] = memory.take<T>((s.chunk_rows + shape::lanes) * s.dim);
      lines[n] = memory.take<T>(s.line_rows[n] * line_memory<T>(s.query_entries[n]), line_margin<T>);
    }
    for (std::size_t n = 0; n < parts::key_sides; ++n) {
      key_classes[n] = class_rows<T>(memory, s.dim, s.key_entries[n]);
      class_keys[n] = memory.take<T>(shape::whole_rows * s.dim);
      key_lines[n] =
          memory.take<T>(round_up(s.block_keys, shape::rows) * line_memory<T>(s.key_entries[n]), line_margin<T>);
      key_ends[n] = memory.take<T>(2 * s.block_keys);
    }
    for (std::size_t n = 0; n < parts::class_values_terms; ++n) {
      value_rows[n] = memory.take<T>(s.value_entries[n] * s.width);
    }
  }

  T* keys;               ///< packed tiles
  T* values;             ///< [keys][width], numbers that are not finite replaced by 0
  std::uint8_t* broken;  ///< [keys], whether the value row has one
  T* stage;              ///< rows on their way
  T* class_row;
  T* key_rows = nullptr;    ///< transformed, [keys][dim]
  T* query_rows = nullptr;  ///< transformed, [chunk][dim]
  T* key_turns = nullptr;
  T* query_turns = nullptr;
  row_group<T>* groups;  ///< of the chunk
  T* query_stage;        ///< rows of a group on their way, scaled, in base 2
  T* queries;            ///< the same as columns, [chunk / rows][dims][rows]
  T* shift;
  T* sums;
  T* out;
  std::uint8_t* started;
  T* block_sums;  ///< [rows][width], weighted values of one block that are not yet known to be finite
  T* weights;     ///< [rows][weight_stride]
  T* natural;     ///< the scores of one tile, as weights
  T* content_line;
  T* bias_line;
  seen_bits* seen;        ///< [rows][tiles of a block]
  seen_bits* removed;     ///< likewise
  T* biases = nullptr;    ///< [heads][bias_lines], entry 0 of each line
  T* key_line = nullptr;  ///< [heads][keys]
  key_positions<T> positions;
  std::array<class_rows<T>, parts::query_sides> query_classes;
  std::array<T*, parts::query_sides> class_queries;
  std::array<T*, parts::query_sides> lines;
  std::array<class_rows<T>, parts::key_sides> key_classes;
  std::array<T*, parts::key_sides> class_keys;
  std::array<T*, parts::key_sides> key_lines;
  std::array<T*, parts::key_sides> key_ends;  ///< [2][block]: the first and the last entry of each key's line
  std::array<T*, parts::class_values_terms> value_rows;
};

}  // namespace kernel
}  // namespace POSGEO_SIMD_ISA
}  // namespace posgeo
