// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/attend/fused_output.hpp>
#include <posgeo/attend/fused_scores.hpp>
#include <posgeo/attend/value_tiles.hpp>

#include <cmath>

namespace posgeo {
inline namespace POSGEO_SIMD_ISA {
namespace kernel {

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
      : sizes_(sizes),
        entry_(entry),
        memory_(entry.memory()),
        scores_(plan, sizes, entry),
        output_(plan, sizes, entry, out) {}

  /// Query rows [first, last) of the heads that are bound, no more than a chunk altogether. The keys are packed block
  /// by block if no other rows will read them.
  void run(row_range queries, index_t heads, key_use use) noexcept {
    scores_.begin(queries, heads);
    if (use == key_use::by_others_too) entry_.pack_all();
    const index_t groups = scores_.groups();
    passing_ = entry_.keys_pass && groups == 1 && use == key_use::only_here;
    for (index_t g = 0; g < groups; ++g) memory_.groups[g] = scores_.group_of(g);
    for (index_t g = 0; g < groups; ++g) {
      const row_group<T>& group = memory_.groups[g];
      if (g + 1 < groups) expect(memory_.groups[g + 1]);
      for (index_t r = 0; r < rows; ++r) load(group, r);
      scores_.turn(group);
      scores_.lines().begin_group(group);
      start(group);
    }
    const index_t keys = memory_.positions.size();
    for (index_t block = 0; block < keys; block += sizes_.block_keys) {
      const row_stretch of_block{block, std::min(block + sizes_.block_keys, keys)};
      if (!scores_.any_reach(of_block)) continue;
      if (use == key_use::only_here && !passing_) entry_.pack_tiles(of_block);
      scores_.lines().begin_block(of_block);
      for (index_t g = 0; g < groups; ++g) {
        const row_group<T>& group = memory_.groups[g];
        if (group.any.end > block && group.any.end <= of_block.end) output_.expect(group);
        run_block(group, of_block);
      }
    }
    for (index_t g = 0; g < groups; ++g) output_.finish(memory_.groups[g]);
  }

 private:
  [[nodiscard]] softmax_rows<T> state(index_t row) const noexcept {
    return {memory_.shift + row, memory_.sums + row * shape::lanes, memory_.out + row * sizes_.out_width,
            sizes_.out_width, memory_.started + row};
  }

  /// A row of the chunk. Those beyond the last stand far below any reference, and nobody reads them.
  void load(const row_group<T>& group, index_t in_group) noexcept {
    const index_t r = group.chunk_row + in_group;
    scores_.load(group, in_group);
    memory_.shift[r] = in_group < group.count ? T{0} : T{-1e30F};
    memory_.started[r] = 0;
    simd::store(memory_.sums + r * shape::lanes, simd::zero<T>());
    for (index_t d = 0; d < sizes_.out_width; d += shape::lanes) {
      simd::store(memory_.out + r * sizes_.out_width + d, simd::zero<T>());
    }
  }

  /// The key whose score starts a row, if it is known without asking; else -1.
  [[nodiscard]] index_t starting_key(const row_group<T>& group, index_t r) const noexcept {
    if (parts::pair_contents > 0 || !parts::only_ruled || parts::pair_biases > 0) return -1;
    if (scores_.capped() || !memory_.positions.known()) return -1;
    return memory_.positions.nearest(entry_.rule(), group.position[r], group.reach[r]);
  }
  /// Asks for what load and start will read, while the group before is loaded.
  void expect(const row_group<T>& group) const noexcept {
    for (index_t r = 0; r < group.count; ++r) {
      entry_.expect_query(group.head[r], group.query[r]);
      if (!memory_.positions.straight()) continue;
      if (const index_t key = starting_key(group, r); key >= 0) entry_.expect_key(key);
    }
  }

  /// The score of the nearest key that a row sees makes its first reference, if that key is known without asking: where
  /// scores rise with nearness, references found from the first tile would rise in every tile, and a tile whose rows
  /// have none takes another way.
  void start(const row_group<T>& group) noexcept {
    if constexpr (parts::pair_contents == 0) {
      for (index_t r = 0; r < group.count; ++r) {
        const index_t nearest = starting_key(group, r);
        if (nearest < 0) continue;
        const T* const key =
            entry_.key_as_packed(group.head[r], key_index{entry_.stretch().begin + nearest}, memory_.stage);
        const index_t row = group.chunk_row + r;
        const T score =
            scores_.lines().each_source().of_pair(group, r, nearest, key) + dot(scores_.loaded(r), key, sizes_.dims);
        if (!(std::abs(score) <= T{1e30F})) continue;  // its first tile will tell
        memory_.shift[row] = -softmax_rows<T>::reference_above(score);
        memory_.started[row] = 1;
      }
    }
  }

  void run_block(const row_group<T>& group, row_stretch block) noexcept {
    const auto tiles = scores_.prepare(group, block);
    if (!tiles) return;
    make_weights(group, state(group.chunk_row), block.begin, *tiles);
    const index_t begin = tiles->first * shape::keys;
    if (!passing_ || !output_.add_stored_values(group, block.begin, begin, tiles->end)) {
      if (passing_) entry_.pack_values(block);
      output_.add_values(group, block.begin, begin, tiles->end);
    }
    output_.add_value_terms(group, block.begin, tiles->first, tiles->last);
  }

  /// The weights of the tiles of a block.
  void make_weights(const row_group<T>& group, const softmax_rows<T>& of_group, index_t block,
                    const tile_range& tiles) noexcept {
    for (index_t tile = tiles.first; tile < tiles.last;) {
      if (passing_) entry_.pack_passing(block + tile * shape::keys);
      seen_bits bits[rows] = {};
      const bool in_range = tile >= tiles.whole_first && tile < tiles.whole_last;
      seen_bits all = ~seen_bits{0};
      seen_bits any = 0;
      bool ready = !scores_.capped();
      for (index_t r = 0; r < group.count; ++r) {
        bits[r] = in_range ? every_key : scores_.seen_of(group, r, block, tile) & every_key;
        all &= bits[r];
        any |= bits[r];
        ready = ready && (bits[r] == 0 || of_group.started[r] != 0);
      }
      const bool whole = (all & every_key) == every_key;
      if (any == 0) {
        for (index_t r = 0; r < group.count; ++r) {
          std::fill_n(memory_.weights + r * sizes_.weight_stride + tile * shape::keys, shape::keys, T{0});
        }
        ++tile;
        continue;
      }
      index_t stop = tile;
      if (ready) {
        const index_t end = in_range && !passing_ ? std::min(tiles.whole_last, tiles.last) : tile + 1;
        score_job<T> work = job(group, block, tile, end);
        work.seen = bits;
        stop = whole ? scores_.template run<score_end::weights>(work, group)
                     : scores_.template run<score_end::seen_weights>(work, group);
        if (stop == end) {
          tile = end;
          continue;
        }
      } else if (!scores_.capped()) {
        scores_.raw(job(group, block, tile, tile + 1), group);
      }
      finish_raw(group, of_group, block, stop, whole ? nullptr : bits);
      tile = stop + 1;
    }
  }
  static constexpr seen_bits every_key = (seen_bits{1} << shape::keys) - 1;

  [[nodiscard]] score_job<T> job(const row_group<T>& group, index_t block, index_t first, index_t last) const noexcept {
    score_job<T> work = scores_.job(group, block, first, last);
    if (passing_) work.ahead = entry_.ahead();
    return work;
  }

  /// Makes weights of a tile whose raw scores are there, or, with a cap, of one whose scores are not.
  void finish_raw(const row_group<T>& group, const softmax_rows<T>& of_group, index_t block, index_t tile,
                  const seen_bits* bits) noexcept {
    const bool capped = scores_.capped();
    const auto lines = scores_.lines().bias_lines(tile);
    tile_finish<T> work{.scores = memory_.weights + tile * shape::keys,
                        .natural = capped ? memory_.natural : nullptr,
                        .stride = sizes_.weight_stride,
                        .done = tile * shape::keys,
                        .seen = bits,
                        .cap = scores_.cap_first(),
                        .line = capped && has_biases ? lines.data() : nullptr,
                        .line_cap = scores_.cap_last(),
                        .rows = group.count,
                        .which = ~std::uint32_t{0}};
    if (capped) scores_.natural(job(group, block, tile, tile + 1), group);
    work.which = finish_tile(work, of_group);
    if (work.which == 0) return;
    scores_.natural(job(group, block, tile, tile + 1), group);
    work.natural = memory_.natural;
    finish_tile(work, of_group);
  }
  static constexpr bool has_biases = parts::offset_biases + parts::key_biases + parts::pair_biases > 0;

  const fused_sizes<Plan>& sizes_;
  fused_entry<Plan, E>& entry_;
  const fused_memory<Plan>& memory_;
  fused_scores<Plan, E> scores_;
  fused_output<Plan, E, O> output_;
  bool passing_ = false;  ///< keys and values are read as they are stored, once
};

}  // namespace kernel
}  // namespace POSGEO_SIMD_ISA
}  // namespace posgeo
