// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/attend/fused_lines.hpp>
#include <posgeo/attend/fused_output.hpp>
#include <posgeo/attend/value_tiles.hpp>
#include <posgeo/scale/softcap.hpp>

#include <cmath>

namespace posgeo {
inline namespace POSGEO_SIMD_ISA {
namespace kernel {

struct row_range {
  index_t first;
  index_t last;
};
/// Who reads a packed key.
enum class key_use { only_here, by_others_too };

/// Runs a chunk of query rows of one key head and sequence against all of its keys: block after block of keys, and
/// within a block group after group of rows. What a row computes, and in which order, depends on its own keys alone.
template <class Plan, class E, class O>
class fused_rows {
 public:
  using T = typename Plan::scalar;
  using parts = detail::plan_parts<Plan>;
  using shape = tile_shape<T>;
  static constexpr index_t rows = shape::rows;

  fused_rows(const Plan& plan, const fused_sizes<Plan>& sizes, fused_entry<Plan, E>& entry,
             const attention_output<T, O>& out)
      : plan_(plan),
        sizes_(sizes),
        entry_(entry),
        memory_(entry.memory()),
        lines_(plan, sizes, entry),
        output_(plan, sizes, entry, out),
        cap_first_(cap(scale::softcap_place::before_bias)),
        cap_last_(cap(scale::softcap_place::after_bias)),
        scale_(entry.scale()),
        capped_(cap_first_ != T{0} || cap_last_ != T{0}) {}

  /// Query rows [first, last) of the heads that are bound, no more than a chunk altogether. The keys are packed block
  /// by block if no other rows will read them.
  void run(row_range queries, index_t heads, key_use use) noexcept {
    queries_ = queries;
    count_ = heads * (queries.last - queries.first);
    if (use == key_use::by_others_too) entry_.pack_all();
    const index_t groups = round_up(count_, rows) / rows;
    passing_ = entry_.keys_pass && groups == 1 && use == key_use::only_here;
    for (index_t g = 0; g < groups; ++g) {
      row_group<T>& group = memory_.groups[g];
      group = group_of(g);
      for (index_t r = 0; r < rows; ++r) load(group, r);
      lines_.begin_group(group);
      start(group);
    }
    const index_t keys = memory_.positions.size();
    for (index_t block = 0; block < keys; block += sizes_.block_keys) {
      const row_stretch of_block{block, std::min(block + sizes_.block_keys, keys)};
      if (!any_reach(of_block)) continue;
      if (use == key_use::only_here && !passing_) entry_.pack_tiles(of_block);
      lines_.begin_block(of_block);
      for (index_t g = 0; g < groups; ++g) run_block(memory_.groups[g], of_block);
    }
    for (index_t g = 0; g < groups; ++g) output_.finish(memory_.groups[g]);
  }

 private:
  [[nodiscard]] T cap(scale::softcap_place place) const noexcept { return plan_.cap(place).value_or(T{0}) * log2_e<T>; }
  [[nodiscard]] softmax_rows<T> state(index_t row) const noexcept {
    return {memory_.shift + row, memory_.sums + row * shape::lanes, memory_.out + row * sizes_.out_width,
            sizes_.out_width, memory_.started + row};
  }

  /// A row of the chunk. Those beyond the last repeat it, far below any reference, and nobody reads them.
  void load(const row_group<T>& group, index_t in_group) noexcept {
    const index_t r = group.chunk_row + in_group;
    const head_index h = group.head[in_group];
    const query_index i = group.query[in_group];
    T* const row = memory_.queries + r * sizes_.dims;
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
        scale_row(shifted, sizes_.dim, scale_);
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
    scale_row(row, sizes_.dims, scale_);
    memory_.shift[r] = in_group < group.count ? T{0} : T{-1e30F};
    memory_.started[r] = 0;
    simd::store(memory_.sums + r * shape::lanes, simd::zero<T>());
    for (index_t d = 0; d < sizes_.out_width; d += shape::lanes) {
      simd::store(memory_.out + r * sizes_.out_width + d, simd::zero<T>());
    }
  }

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

  /// Where scores rise with nearness, references found from the first tile would rise in every tile. The score of the
  /// nearest key that a row sees is a better start, if that key is known without asking.
  void start(const row_group<T>& group) noexcept {
    if constexpr (fused_lines<Plan, E>::sources > 0 && parts::pair_contents == 0) {
      if (capped_ || !parts::only_ruled || parts::pair_biases > 0 || !memory_.positions.known()) return;
      for (index_t r = 0; r < group.count; ++r) {
        const index_t nearest = memory_.positions.nearest(entry_.rule(), group.position[r], group.reach[r]);
        if (nearest < 0) continue;
        T* const key = memory_.stage;
        entry_.load_key(group.head[r], key_index{entry_.stretch().begin + nearest}, key);
        const index_t row = group.chunk_row + r;
        const T score = lines_.each_source().of_pair(group, r, nearest, key) +
                        dot(memory_.queries + row * sizes_.dims, key, sizes_.dims);
        if (!(std::abs(score) <= T{1e30F})) continue;  // its first tile will tell
        memory_.shift[row] = -softmax_rows<T>::reference_above(score);
        memory_.started[row] = 1;
      }
    }
  }
  [[nodiscard]] bool any_reach(row_stretch block) const noexcept {
    for (index_t g = 0; g * rows < count_; ++g) {
      const row_group<T>& group = memory_.groups[g];
      if (group.any.begin < block.end && group.any.end > block.begin) return true;
    }
    return false;
  }

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
  /// What a row sees of a tile, less what biases remove.
  [[nodiscard]] seen_bits seen_of(const row_group<T>& group, index_t r, index_t block, index_t tile) noexcept {
    const seen_bits bits = ranges_known() ? seen(group, r, block, tile) : noted(r, tile);
    if constexpr (parts::pair_biases > 0) {
      return bits & ~memory_.removed[r * (sizes_.block_keys / shape::keys) + tile];
    }
    return bits;
  }

  void run_block(const row_group<T>& group, row_stretch block) noexcept {
    const index_t begin = std::max(group.any.begin, block.begin);
    index_t end = std::min(group.any.end, block.end);
    if (begin >= end) return;
    index_t first = (begin - block.begin) / shape::keys;
    index_t last = round_up(end - block.begin, shape::keys) / shape::keys;
    if (!ranges_known()) {
      look(group, block.begin, first, last);
      while (first < last && !seen_by_any(group, first)) ++first;
      while (first < last && !seen_by_any(group, last - 1)) --last;
      if (first == last) return;
      end = std::min(end, block.begin + last * shape::keys);
    }
    lines_.prepare(group, block.begin, first, last, capped_);
    const softmax_rows<T> of_group = state(group.chunk_row);
    // Tiles that every row sees whole.
    const index_t whole_first =
        round_up(std::max<index_t>(group.each.begin - block.begin, 0), shape::keys) / shape::keys;
    const index_t whole_last = (std::min(group.each.end, block.end) - block.begin) / shape::keys;
    make_weights(group, of_group, block.begin, first, last, whole_first, whole_last);
    if (!passing_ || !output_.add_stored_values(group, block.begin, first * shape::keys, end - block.begin)) {
      if (passing_) entry_.pack_values(block);
      output_.add_values(group, block.begin, first * shape::keys, end - block.begin);
    }
    output_.add_value_terms(group, block.begin, first, last);
  }

  /// The weights of tiles [first, last) of a block; those of [whole_first, whole_last) are seen whole by every row.
  void make_weights(const row_group<T>& group, const softmax_rows<T>& of_group, index_t block, index_t first,
                    index_t last, index_t whole_first, index_t whole_last) noexcept {
    for (index_t tile = first; tile < last;) {
      if (passing_) entry_.pack_passing(block + tile * shape::keys);
      bool started = true;
      for (index_t r = 0; r < group.count; ++r) started = started && of_group.started[r] != 0;
      const bool whole = tile >= whole_first && tile < whole_last;
      if (whole && started && !capped_) {
        const index_t end = passing_ ? tile + 1 : std::min(whole_last, last);
        const index_t stop = weigh(group, block, tile, end);
        if (stop == end) {
          tile = stop;
          continue;
        }
        finish_raw(group, of_group, block, stop, nullptr);
        tile = stop + 1;
        continue;
      }
      seen_bits bits[rows] = {};
      seen_bits all = ~seen_bits{0};
      seen_bits any = 0;
      for (index_t r = 0; r < group.count; ++r) {
        bits[r] = whole ? ~seen_bits{0} : seen_of(group, r, block, tile);
        all &= bits[r];
        any |= bits[r];
      }
      const seen_bits full = (seen_bits{1} << shape::keys) - 1;
      if (any == 0) {
        for (index_t r = 0; r < group.count; ++r) {
          std::fill_n(memory_.weights + r * sizes_.weight_stride + tile * shape::keys, shape::keys, T{0});
        }
        ++tile;
        continue;
      }
      if ((all & full) == full && started && !capped_) {
        const index_t stop = weigh(group, block, tile, tile + 1);
        if (stop == tile) finish_raw(group, of_group, block, tile, nullptr);
      } else {
        if (!capped_) raw(group, block, tile, false);
        finish_raw(group, of_group, block, tile, bits);
      }
      ++tile;
    }
  }

  [[nodiscard]] score_job<T> job(const row_group<T>& group, index_t block, index_t first, index_t last) const noexcept {
    return {.queries = memory_.queries + group.chunk_row * sizes_.dims,
            .query_stride = sizes_.dims,
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
            .ahead = passing_ ? entry_.ahead() : nullptr};
  }

  /// Weights of whole tiles [first, last), or up to one that is stored raw.
  [[nodiscard]] index_t weigh(const row_group<T>& group, index_t block, index_t first, index_t last) noexcept {
    score_job<T> work = job(group, block, first, last);
    if constexpr (fused_lines<Plan, E>::sources == 0) {
      return score_tiles<score_start::reference, score_end::weights>(work, group.count);
    } else {
      while (work.first < last) {
        const auto run = lines_.lines(group, work.first, last);
        work.line = run.line;
        work.line_step = run.step;
        work.last = run.end;
        const index_t stop = score_tiles<score_start::line, score_end::weights>(work, group.count);
        if (stop < run.end) return stop;
        work.first = run.end;
      }
      return last;
    }
  }
  /// Raw scores of one tile: as weigh() leaves them, or natural ones, with no reference subtracted and, where a cap
  /// comes first, without the biases.
  void raw(const row_group<T>& group, index_t block, index_t tile, bool natural) noexcept {
    static constexpr T nothing[rows] = {};
    score_job<T> work = job(group, block, tile, tile + 1);
    if (natural) {
      work.shift = nothing;
      work.out = memory_.natural - tile * shape::keys;
    }
    constexpr bool only_biases = fused_lines<Plan, E>::content_sources == 0;
    if (fused_lines<Plan, E>::sources == 0 || (capped_ && only_biases)) {
      score_tiles<score_start::reference, score_end::raw>(work, group.count);
    } else {
      const auto run = lines_.lines(group, tile, tile + 1);
      work.line = run.line;
      work.line_step = run.step;
      score_tiles<score_start::line, score_end::raw>(work, group.count);
    }
  }
  /// Makes weights of a tile whose raw scores are there, or, with a cap, of one whose scores are not.
  void finish_raw(const row_group<T>& group, const softmax_rows<T>& of_group, index_t block, index_t tile,
                  const seen_bits* bits) noexcept {
    const auto lines = lines_.bias_lines(tile);
    tile_finish<T> work{.scores = memory_.weights + tile * shape::keys,
                        .natural = capped_ ? memory_.natural : nullptr,
                        .stride = sizes_.weight_stride,
                        .done = tile * shape::keys,
                        .seen = bits,
                        .cap = cap_first_,
                        .line = capped_ && has_biases ? lines.data() : nullptr,
                        .line_cap = cap_last_,
                        .rows = group.count,
                        .which = ~std::uint32_t{0}};
    if (capped_) raw(group, block, tile, true);
    work.which = finish_tile(work, of_group);
    if (work.which == 0) return;
    raw(group, block, tile, true);
    work.natural = memory_.natural;
    finish_tile(work, of_group);
  }
  static constexpr bool has_biases = parts::offset_biases + parts::key_biases + parts::pair_biases > 0;

  const Plan& plan_;
  const fused_sizes<Plan>& sizes_;
  fused_entry<Plan, E>& entry_;
  const fused_memory<Plan>& memory_;
  fused_lines<Plan, E> lines_;
  fused_output<Plan, E, O> output_;
  T cap_first_;
  T cap_last_;
  T scale_;
  bool capped_;
  row_range queries_{0, 0};
  index_t count_ = 0;
  bool passing_ = false;  ///< keys and values are read as they are stored, once
};

}  // namespace kernel
}  // namespace POSGEO_SIMD_ISA
}  // namespace posgeo
