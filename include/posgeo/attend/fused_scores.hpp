// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/attend/fused_lines.hpp>
#include <posgeo/scale/softcap.hpp>

#include <optional>

namespace posgeo {
inline namespace POSGEO_SIMD_ISA {
namespace kernel {

struct row_range {
  index_t first;
  index_t last;
};

/// Tiles of a block that a group of rows reaches, counted from the block.
struct tile_range {
  index_t first = 0;
  index_t last = 0;
  index_t whole_first = 0;  ///< those of [whole_first, whole_last) every row sees whole
  index_t whole_last = 0;
  index_t end = 0;  ///< keys of the block up to which a row may see
};

/// The scores of a chunk of query rows of one key head and sequence: who sees what, and how a score comes to be. What
/// becomes of the scores is for others to say.
template <class Plan, class E>
class fused_scores {
 public:
  using T = typename Plan::scalar;
  using parts = detail::plan_parts<Plan>;
  using shape = tile_shape<T>;
  static constexpr index_t rows = shape::rows;

  fused_scores(const Plan& plan, const fused_sizes<Plan>& sizes, fused_entry<Plan, E>& entry)
      : plan_(plan),
        sizes_(sizes),
        entry_(entry),
        memory_(entry.memory()),
        lines_(plan, sizes, entry),
        cap_first_(cap(scale::softcap_place::before_bias)),
        cap_last_(cap(scale::softcap_place::after_bias)),
        capped_(cap_first_ != T{0} || cap_last_ != T{0}) {}

  /// Query rows [first, last) of the heads that are bound, no more than a chunk altogether.
  void begin(row_range queries, index_t heads) noexcept {
    queries_ = queries;
    count_ = heads * (queries.last - queries.first);
  }
  [[nodiscard]] index_t groups() const noexcept { return round_up(count_, rows) / rows; }

  [[nodiscard]] row_group<T> group_of(index_t g) const noexcept {
    row_group<T> group;
    group.chunk_row = g * rows;
    group.count = std::min(rows, count_ - group.chunk_row);
    group.any = {std::numeric_limits<index_t>::max(), 0};
    group.each = {0, std::numeric_limits<index_t>::max()};
    const index_t per_head = queries_.last - queries_.first;
    index_t slot = group.chunk_row / per_head;
    index_t row = group.chunk_row % per_head;
    for (index_t r = 0; r < rows; ++r) {
      const query_index i{queries_.first + row};
      group.slot[r] = slot;
      group.head[r] = head_index{entry_.head().value() + slot};
      group.query[r] = i;
      if (r + 1 < group.count && ++row == per_head) {
        row = 0;
        ++slot;
      }
      group.position[r] = plan_.call().at(entry_.batch(), i).value();
      row_stretch reach = memory_.positions.reach(entry_.rule(), group.position[r]);
      if constexpr (!parts::only_ruled) {
        const key_range keys = plan_.keys(entry_.batch(), i);
        reach.begin = std::max(reach.begin, keys.begin.value() - entry_.stretch().begin);
        reach.end = std::max(reach.begin, std::min(reach.end, keys.end.value() - entry_.stretch().begin));
      }
      group.reach[r] = reach;
      group.each = {std::max(group.each.begin, reach.begin), std::min(group.each.end, reach.end)};
      if (reach.size() > 0) group.any = {std::min(group.any.begin, reach.begin), std::max(group.any.end, reach.end)};
    }
    if (!ranges_known()) group.each = {0, 0};
    return group;
  }
  /// Whether a row sees all keys of its reach.
  [[nodiscard]] bool ranges_known() const noexcept {
    return parts::only_ruled && parts::pair_biases == 0 && memory_.positions.ordered();
  }

  [[nodiscard]] bool any_reach(row_stretch block) const noexcept {
    for (index_t g = 0; g * rows < count_; ++g) {
      const row_group<T>& group = memory_.groups[g];
      if (group.any.begin < block.end && group.any.end > block.begin) return true;
    }
    return false;
  }

  /// A row of the group, scaled and in base 2. Those beyond the last repeat it.
  void load(const row_group<T>& group, index_t in_group) noexcept {
    const index_t r = group.chunk_row + in_group;
    const head_index h = group.head[in_group];
    const query_index i = group.query[in_group];
    T* const row = memory_.query_stage + in_group * sizes_.dims;
    const std::span<T> whole(row, static_cast<std::size_t>(sizes_.dim));
    entry_.load_query(h, i.value(), row);
    if constexpr (parts::pair_contents > 0) std::copy_n(row, sizes_.dim, memory_.query_rows + r * sizes_.dim);
    [[maybe_unused]] std::size_t side_index = 0;
    parts::each(plan_.contents(), [&](const auto& term) {
      if constexpr (query_sided<std::remove_cvref_t<decltype(term)>, T>) {
        const std::size_t n = side_index++;
        T* const shifted = memory_.class_queries[n] + r * sizes_.dim;
        std::copy_n(row, sizes_.dim, shifted);
        if (const auto side = term.query_side()) side->shift(h, {shifted, whole.size()});
        scale_row(shifted, sizes_.dim, entry_.scale());
      }
    });
    index_t at = sizes_.dim;
    parts::each(plan_.contents(), [&](const auto& term) {
      using Term = std::remove_cvref_t<decltype(term)>;
      if constexpr (adds_to_query<Term, T>) term.add_to_query(h, whole);
      if constexpr (appended_product<Term, T>) {
        term.append_query(entry_.batch(), h, i, {row + at, static_cast<std::size_t>(term.appended_dim())});
        at += term.appended_dim();
      }
    });
    scale_row(row, sizes_.dims, entry_.scale());
  }

  /// Turns the rows of a group that were loaded into what its jobs read.
  void turn(const row_group<T>& group) noexcept {
    pack_columns(memory_.query_stage, sizes_.dims, sizes_.dims, memory_.queries + group.chunk_row * sizes_.dims);
  }
  /// The row of the group that was loaded last.
  [[nodiscard]] const T* loaded(index_t in_group) const noexcept {
    return memory_.query_stage + in_group * sizes_.dims;
  }

  /// The tiles of a block that the group reaches, and what positions add to their scores; nothing if there are none.
  [[nodiscard]] std::optional<tile_range> prepare(const row_group<T>& group, row_stretch block) noexcept {
    const index_t begin = std::max(group.any.begin, block.begin);
    const index_t end = std::min(group.any.end, block.end);
    if (begin >= end) return std::nullopt;
    tile_range out;
    out.first = (begin - block.begin) / shape::keys;
    out.last = round_up(end - block.begin, shape::keys) / shape::keys;
    out.end = end - block.begin;
    if (!ranges_known()) {
      look(group, block.begin, out.first, out.last);
      while (out.first < out.last && !seen_by_any(group, out.first)) ++out.first;
      while (out.first < out.last && !seen_by_any(group, out.last - 1)) --out.last;
      if (out.first == out.last) return std::nullopt;
      out.end = std::min(out.end, out.last * shape::keys);
    }
    out.whole_first = round_up(std::max<index_t>(group.each.begin - block.begin, 0), shape::keys) / shape::keys;
    out.whole_last = (std::min(group.each.end, block.end) - block.begin) / shape::keys;
    lines_.prepare(group, block.begin, out.first, out.last, capped_);
    return out;
  }

  /// What a row sees of a tile, less what biases remove.
  [[nodiscard]] seen_bits seen_of(const row_group<T>& group, index_t r, index_t block, index_t tile) noexcept {
    const seen_bits bits = ranges_known() ? seen(group, r, block, tile) : noted(r, tile);
    if constexpr (parts::pair_biases > 0) {
      return bits & ~memory_.removed[r * (sizes_.block_keys / shape::keys) + tile];
    }
    return bits;
  }

  /// Tiles [first, last) of a block that starts at a key, to be stored as memory().weights has its rows.
  [[nodiscard]] score_job<T> job(const row_group<T>& group, index_t block, index_t first, index_t last) const noexcept {
    return {.queries = memory_.queries + group.chunk_row * sizes_.dims,
            .keys = entry_.keys_from(block),
            .dims = sizes_.dims,
            .first = first,
            .last = last,
            .shift = memory_.shift + group.chunk_row,
            .line = nullptr,
            .line_step = 0,
            .out = memory_.weights,
            .out_stride = sizes_.weight_stride,
            .sums = memory_.sums + group.chunk_row * shape::lanes,
            .seen = nullptr,
            .weights = nullptr,
            .ahead = nullptr};
  }

  /// Runs the tiles of a job, whose lines are prepared; gives the tile that it stopped at.
  template <score_end End>
  index_t run(score_job<T> work, const row_group<T>& group) noexcept {
    if constexpr (fused_lines<Plan, E>::sources == 0) {
      return score_tiles<score_start::reference, End>(work, group.count);
    } else {
      const index_t last = work.last;
      while (work.first < last) {
        const auto run = lines_.lines(group, work.first, last);
        work.line = run.line;
        work.line_step = run.step;
        work.last = run.end;
        const index_t stop = score_tiles<score_start::line, End>(work, group.count);
        if (stop < run.end) return stop;
        work.first = run.end;
      }
      return last;
    }
  }
  /// Raw scores of the one tile of a job; where a cap comes first, without the biases.
  void raw(const score_job<T>& work, const row_group<T>& group) noexcept {
    if (capped_ && fused_lines<Plan, E>::content_sources == 0) {
      score_tiles<score_start::reference, score_end::raw>(work, group.count);
    } else {
      run<score_end::raw>(work, group);
    }
  }
  /// The same with no reference subtracted, into memory().natural.
  void natural(score_job<T> work, const row_group<T>& group) noexcept {
    static constexpr T nothing[rows] = {};
    work.shift = nothing;
    work.out = memory_.natural - work.first * shape::keys;
    raw(work, group);
  }

  [[nodiscard]] fused_lines<Plan, E>& lines() noexcept { return lines_; }
  [[nodiscard]] bool capped() const noexcept { return capped_; }
  [[nodiscard]] T cap_first() const noexcept { return cap_first_; }
  [[nodiscard]] T cap_last() const noexcept { return cap_last_; }

 private:
  [[nodiscard]] T cap(scale::softcap_place place) const noexcept { return plan_.cap(place).value_or(T{0}) * log2_e<T>; }

  [[nodiscard]] seen_bits seen(const row_group<T>& group, index_t r, index_t block, index_t tile) const noexcept {
    const index_t from_stretch = block / shape::keys + tile;
    seen_bits bits = 0;
    if (memory_.positions.known()) {
      bits = memory_.positions.seen(entry_.rule(), group.position[r], group.reach[r], from_stretch);
    }
    if (!parts::only_ruled || !memory_.positions.known()) {
      const seen_bits by_rule = memory_.positions.known() ? bits : ~seen_bits{0};
      bits = 0;
      const index_t begin = std::max(from_stretch * shape::keys, group.reach[r].begin);
      const index_t end = std::min((from_stretch + 1) * shape::keys, group.reach[r].end);
      for (index_t n = begin; n < end; ++n) {
        const index_t k = n - from_stretch * shape::keys;
        if ((by_rule >> k & 1U) != 0 &&
            plan_.visible(entry_.batch(), group.query[r], key_index{entry_.stretch().begin + n})) {
          bits |= seen_bits{1} << k;
        }
      }
    }
    return bits;
  }

  /// Notes which keys of tiles [first, last) the rows see.
  void look(const row_group<T>& group, index_t block, index_t first, index_t last) noexcept {
    for (index_t tile = first; tile < last; ++tile) {
      for (index_t r = 0; r < group.count; ++r) noted(r, tile) = seen(group, r, block, tile);
    }
  }
  [[nodiscard]] seen_bits& noted(index_t r, index_t tile) noexcept {
    return memory_.seen[r * (sizes_.block_keys / shape::keys) + tile];
  }
  [[nodiscard]] bool seen_by_any(const row_group<T>& group, index_t tile) noexcept {
    seen_bits any = 0;
    for (index_t r = 0; r < group.count; ++r) any |= noted(r, tile);
    return any != 0;
  }

  const Plan& plan_;
  const fused_sizes<Plan>& sizes_;
  fused_entry<Plan, E>& entry_;
  const fused_memory<Plan>& memory_;
  fused_lines<Plan, E> lines_;
  T cap_first_;
  T cap_last_;
  bool capped_;
  row_range queries_{0, 0};
  index_t count_ = 0;
};

}  // namespace kernel
}  // namespace POSGEO_SIMD_ISA
}  // namespace posgeo
