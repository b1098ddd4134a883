// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/attend/backward.hpp>
#include <posgeo/attend/backward_sums.hpp>
#include <posgeo/attend/backward_weights.hpp>
#include <posgeo/attend/value_tiles.hpp>

#include <algorithm>
#include <limits>

namespace posgeo {
inline namespace POSGEO_SIMD_ISA {
namespace kernel {

/// The backward pass of a chunk of query rows of one head against all keys of a sequence. Weights are made again from
/// the log-sum-exp, tile by tile; within a block of keys those of the whole chunk are kept, so that queries, keys and
/// values get their shares as products. Sums by offset and class are sums of such rows; what knows only pairs is given
/// pairs. Orders of sums depend on the call alone.
template <class Plan, class E, class O>
class backward_rows {
 public:
  using T = typename Plan::scalar;
  using parts = detail::plan_parts<Plan>;
  using learned = backward_parts<Plan>;
  using shape = tile_shape<T>;
  static constexpr index_t rows = shape::rows;

  backward_rows(const Plan& plan, const forward_result<T, O>& forward, const heads_view<const O>& d_output,
                const qkv_gradient<T>& to, const backward_sizes<Plan>& sizes, fused_entry<Plan, E>& entry,
                const backward_memory<Plan>& memory, plan_gradients_of<Plan>& gradients)
      : plan_(plan),
        forward_(forward),
        d_output_(d_output),
        to_(to),
        sizes_(sizes),
        entry_(entry),
        of_scores_(entry.memory()),
        memory_(memory),
        gradients_(gradients),
        scores_(plan, sizes, entry),
        weights_(sizes, entry.memory(), memory_, scores_),
        sums_(plan, d_output, sizes, entry, memory_, gradients) {}

  /// Forgets what the keys of another key head were given.
  void begin_keys() noexcept {
    const index_t keys = plan_.call().keys();
    std::fill_n(memory_.d_keys, keys * sizes_.key_width, T{0});
    std::fill_n(memory_.d_values, keys * sizes_.width, T{0});
    if constexpr (learned::contents) std::fill_n(memory_.pair_d_keys, keys * sizes_.key_width, T{0});
  }
  /// Packs the keys and values of the sequence that is bound.
  void begin_sequence() noexcept {
    const index_t keys = of_scores_.positions.size();
    for (index_t n = 0; n < keys; ++n) {
      entry_.load_key(entry_.head(), key_index{entry_.stretch().begin + n}, memory_.key_stage);
      (void)keep_finite(memory_.key_stage, memory_.key_rows + n * sizes_.key_width, sizes_.dim, sizes_.key_width);
    }
    const index_t width = sizes_.value_dim;
    for (index_t n = 0; n < keys; n += shape::keys) {
      const index_t end = std::min(n + shape::keys, keys);
      for (index_t k = n; k < end; ++k) {
        widen_row<T, E>(entry_.value_row(key_index{entry_.stretch().begin + k}), memory_.value_stage + (k - n) * width);
      }
      std::fill(memory_.value_stage + (end - n) * width, memory_.value_stage + shape::keys * width, T{0});
      pack_tile(memory_.value_stage, width, width, memory_.value_tiles + n * width);
    }
  }
  /// Makes the query head that is bound ready.
  void begin_head() noexcept {
    entry_.pack_all();
    sums_.begin_head();
  }
  /// Query rows of the head that is bound, no more than a chunk.
  void run(row_range queries) noexcept {
    scores_.begin(queries, 1);
    count_ = queries.last - queries.first;
    const index_t groups = scores_.groups();
    for (index_t g = 0; g < groups; ++g) {
      row_group<T>& group = of_scores_.groups[g];
      group = scores_.group_of(g);
      for (index_t r = 0; r < rows; ++r) load(group, r);
      scores_.turn(group);
      pack_columns(memory_.d_outputs + group.chunk_row * sizes_.width, sizes_.width, sizes_.width,
                   memory_.d_output_columns + group.chunk_row * sizes_.width);
      scores_.lines().begin_group(group);
      sums_.begin_group(group);
    }
    const index_t keys = of_scores_.positions.size();
    for (index_t at = 0; at < keys; at += sizes_.block_keys) {
      const row_stretch block{at, std::min(at + sizes_.block_keys, keys)};
      if (!scores_.any_reach(block)) continue;
      scores_.lines().begin_block(block);
      for (index_t g = 0; g < groups; ++g) run_group(of_scores_.groups[g], block, memory_.tiles[g]);
      add_to_keys(block);
    }
    sums_.end_chunk(scores_.groups(), count_);
    for (index_t g = 0; g < groups; ++g) {
      for (index_t r = 0; r < of_scores_.groups[g].count; ++r) finish(of_scores_.groups[g], r);
    }
  }

  /// Hands over what was summed by offset and class for the query head that is bound.
  void finish_head() noexcept { sums_.finish_head(); }
  /// Writes the gradients of the keys and values of one key head.
  void finish_keys(batch_index b, head_index first, index_t shared, call::memory_gradient memory) noexcept {
    for (const key_index j : indices<key_index>(plan_.call().keys())) {
      T* const d_key = memory_.d_keys + j.value() * sizes_.key_width;
      T* const d_value = memory_.d_values + j.value() * sizes_.width;
      scale_row(d_key, sizes_.key_width, plan_.scale());
      if constexpr (learned::contents) {
        add_row(d_key, memory_.pair_d_keys + j.value() * sizes_.key_width, sizes_.key_width);
      }
      if (memory == call::memory_gradient::detached && detail::is_memory(plan_.call(), b, j)) {
        std::fill_n(d_key, sizes_.key_width, T{0});
        std::fill_n(d_value, sizes_.width, T{0});
      }
      write(b, first, j, d_key, to_.key.row(b.value(), shared, j.value()));
      std::copy_n(d_value, sizes_.value_dim, to_.value.row(b.value(), shared, j.value()).begin());
    }
  }

 private:
  /// Copies a row, what is not finite as 0, and widens it by zeros; gives whether all of it is finite.
  [[nodiscard]] static bool keep_finite(const T* from, T* to, index_t count, index_t width) noexcept {
    const bool finite = copy_finite_row<T, T>({from, static_cast<std::size_t>(count)}, to, width);
    if (!finite)
      std::replace_if(
          to, to + width, [](T x) { return x - x != T{0}; }, T{0});
    return finite;
  }

  void load(const row_group<T>& group, index_t in_group) noexcept {
    const index_t r = group.chunk_row + in_group;
    const head_index h = group.head[in_group];
    const query_index i = group.query[in_group];
    const batch_index b = entry_.batch();
    scores_.load(group, in_group);
    entry_.load_query(h, i.value(), memory_.key_stage);
    (void)keep_finite(memory_.key_stage, memory_.query_rows + r * sizes_.key_width, sizes_.dim, sizes_.key_width);

    const auto d_out = d_output_.row(b.value(), h.value(), i.value());
    widen_row<T, O>(d_out, memory_.row);
    memory_.broken[r] = keep_finite(memory_.row, memory_.d_outputs + r * sizes_.width, sizes_.value_dim, sizes_.width)
                            ? std::uint8_t{0}
                            : std::uint8_t{1};
    const auto out = forward_.output.row(b.value(), h.value(), i.value());
    T in_common{0};
    for (std::size_t d = 0; d < out.size(); ++d) in_common += memory_.row[d] * static_cast<T>(out[d]);
    memory_.minus_common[r] = -in_common;
    const T log_sum = forward_.log_sum_exp.row(b.value(), h.value())[static_cast<std::size_t>(i.value())];
    const bool weighs =
        in_group < group.count && plan_.call().active(b, i) && !(log_sum < std::numeric_limits<T>::lowest());
    memory_.weighs[r] = weighs ? std::uint8_t{1} : std::uint8_t{0};
    of_scores_.shift[r] = weighs ? -log_sum * log2_e<T> : T{-1e30F};
    memory_.seen[r] = 0;
    std::fill_n(memory_.d_queries + r * sizes_.key_width, sizes_.key_width, T{0});
    if constexpr (learned::contents) {
      std::fill_n(memory_.pair_d_queries + r * sizes_.key_width, sizes_.key_width, T{0});
    }
  }
  /// The weights and score gradients of a group and a block, and everything that is summed by row.
  void run_group(const row_group<T>& group, row_stretch block, row_stretch& reached) noexcept {
    const index_t stride = sizes_.weight_stride;
    T* const weights = memory_.weights + group.chunk_row * stride;
    T* const d_scores = memory_.d_scores + group.chunk_row * stride;
    const auto tiles = scores_.prepare(group, block);
    reached = tiles ? row_stretch{tiles->first * shape::keys, tiles->end} : row_stretch{0, 0};
    const index_t begin = reached.begin;
    const index_t end = tiles ? tiles->last * shape::keys : 0;
    for (index_t r = 0; r < group.count; ++r) {
      for (T* const row : {weights + r * stride, d_scores + r * stride}) {
        std::fill(row, row + begin, T{0});
        std::fill(row + end, row + stride, T{0});
      }
    }
    if (!tiles) return;
    weights_.make(group, block.begin, *tiles, weights);
    make_d_scores(group, block.begin, *tiles, weights, d_scores);
    add_biases(group, block.begin, *tiles, weights, d_scores);
    add_contents(group, block.begin, *tiles, weights, d_scores);
    value_tiles<value_start::zero>(value_job<T>{.weights = d_scores + begin,
                                                .weight_stride = stride,
                                                .weight_step = 1,
                                                .values = memory_.key_rows + (block.begin + begin) * sizes_.key_width,
                                                .value_stride = sizes_.key_width,
                                                .keys = reached.end - begin,
                                                .width = sizes_.key_width,
                                                .out = memory_.d_queries + group.chunk_row * sizes_.key_width,
                                                .out_stride = sizes_.key_width,
                                                .ahead = nullptr},
                                   group.count);
  }

  /// weight * (dO . v + value terms - dO . O), and what the values learn.
  void make_d_scores(const row_group<T>& group, index_t block, const tile_range& tiles, const T* weights,
                     T* d_scores) noexcept {
    score_job<T> job{.queries = memory_.d_output_columns + group.chunk_row * sizes_.width,
                     .keys = memory_.value_tiles + block * sizes_.value_dim,
                     .dims = sizes_.value_dim,
                     .first = tiles.first,
                     .last = tiles.last,
                     .shift = memory_.minus_common + group.chunk_row,
                     .line = nullptr,
                     .line_step = shape::keys,
                     .out = d_scores,
                     .out_stride = sizes_.weight_stride,
                     .sums = nullptr,
                     .seen = nullptr,
                     .weights = weights,
                     .ahead = nullptr};
    if constexpr (!Plan::has_values) {
      score_tiles_of<score_start::reference, score_end::weighted, key_source::packed>(job, group.count);
    } else {
      make_value_line(group, block, tiles, weights);
      const T* line[rows];
      for (index_t r = 0; r < rows; ++r) {
        line[r] = memory_.value_line + std::min(r, group.count - 1) * sizes_.weight_stride + tiles.first * shape::keys;
      }
      job.line = line;
      score_tiles_of<score_start::line, score_end::weighted, key_source::packed>(job, group.count);
    }
    weights_.pass_to_biases(group, tiles, d_scores);
  }
  /// dO . class row of each pair, summed over the value terms; each term is given the weights.
  void make_value_line(const row_group<T>& group, index_t block, const tile_range& tiles, const T* weights) noexcept {
    const index_t stride = sizes_.weight_stride;
    for (index_t r = 0; r < group.count; ++r) {
      for (index_t tile = tiles.first; tile < tiles.last; ++tile) {
        tile_sum<T> sum;
        sums_.add_value_lines(scores_.lines().each_source(), group, r, tile, sum);
        sum.store(memory_.value_line + r * stride + tile * shape::keys);
      }
    }
    const index_t first_key = tiles.first * shape::keys;
    const index_t end = keys_of(block, tiles);
    sums_.add_weights(group, block, first_key, end, weights);
    [[maybe_unused]] std::size_t side_index = 0;
    detail::each_term(plan_.values(), [&]<std::size_t N>(const auto& term, term_number<N>) {
      using Term = std::remove_cvref_t<decltype(term)>;
      bool by_pair = true;
      if constexpr (class_values<Term, T>) {
        const std::size_t n = side_index++;
        by_pair = !sums_.values_by_class(term, n);
      }
      if (!by_pair) return;
      each_pair(group, block, tiles, weights, [&](index_t r, index_t n, key_index j, T weight) {
        memory_.value_line[r * stride + n] +=
            term.add_gradient(entry_.batch(), group.head[r], group.query[r], j, weight,
                              sums_.raw_d_output(group.head[r], group.query[r]), gradients_.template value<N>());
      });
    });
  }
  void add_biases(const row_group<T>& group, index_t block, const tile_range& tiles, const T* weights,
                  const T* d_scores) noexcept {
    sums_.add_to_biases(group, block, tiles.first * shape::keys, keys_of(block, tiles), d_scores);
    detail::each_term(plan_.biases(), [&]<std::size_t N>(const auto& term, term_number<N>) {
      using Term = std::remove_cvref_t<decltype(term)>;
      if constexpr (learns<Term>) {
        if (offset_bias_gradient<Term, T> && entry_.bias_span().count > 0) return;
        each_pair(group, block, tiles, weights, [&](index_t r, index_t n, key_index j, T) {
          term.add_gradient(entry_.batch(), group.head[r], group.query[r], j, d_scores[r * sizes_.weight_stride + n],
                            gradients_.template bias<N>());
        });
      }
    });
  }
  void add_contents(const row_group<T>& group, index_t block, const tile_range& tiles, const T* weights,
                    T* d_scores) noexcept {
    weights_.pass_to_contents(group, tiles, d_scores);
    sums_.add_to_contents(group, block, tiles.first * shape::keys, keys_of(block, tiles), d_scores);
    [[maybe_unused]] std::size_t side_index = 0;
    detail::each_term(plan_.contents(), [&]<std::size_t N>(const auto& term, term_number<N>) {
      using Term = std::remove_cvref_t<decltype(term)>;
      if constexpr (query_sided<Term, T>) {
        const std::size_t n = side_index++;
        if (sums_.by_class(term, n)) return;
      }
      add_pairs<N>(group, block, tiles, weights, d_scores, term);
    });
  }
  template <std::size_t N, class Term>
  void add_pairs(const row_group<T>& group, index_t block, const tile_range& tiles, const T* weights, const T* d_scores,
                 const Term& term) noexcept {
    const auto dim = static_cast<std::size_t>(sizes_.dim);
    each_pair(group, block, tiles, weights, [&](index_t r, index_t n, key_index j, T) {
      const index_t row = (group.chunk_row + r) * sizes_.key_width;
      const std::span<const T> query(memory_.query_rows + row, dim);
      const std::span<const T> key(memory_.key_rows + (block + n) * sizes_.key_width, dim);
      term.add_gradient(entry_.batch(), group.head[r], group.query[r], j, query, key,
                        d_scores[r * sizes_.weight_stride + n] * plan_.scale(), pair_row(memory_.pair_d_queries, row),
                        pair_row(memory_.pair_d_keys, j.value() * sizes_.key_width), gradients_.template content<N>());
    });
  }
  [[nodiscard]] std::span<T> pair_row(T* rows_of, index_t at) const noexcept {
    return {rows_of + at, static_cast<std::size_t>(sizes_.dim)};
  }

  /// Adds what the chunk gives the keys and values of a block.
  void add_to_keys(row_stretch block) noexcept {
    for (index_t n = 0; n < block.size(); n += rows) {
      index_t first = scores_.groups();
      index_t last = 0;
      for (index_t g = 0; g < scores_.groups(); ++g) {
        if (memory_.tiles[g].begin >= n + rows || memory_.tiles[g].end <= n) continue;
        first = std::min(first, g);
        last = g + 1;
      }
      if (first >= last) continue;
      const index_t begin = first * rows;
      const index_t end = std::min(last * rows, count_);
      const index_t key = entry_.stretch().begin + block.begin + n;
      const index_t stride = sizes_.weight_stride;
      const index_t count = std::min(rows, block.size() - n);
      add_along_rows(memory_.d_scores + n, stride, memory_.query_rows, sizes_.key_width, begin, end,
                     memory_.d_keys + key * sizes_.key_width, count);
      add_along_rows(memory_.weights + n, stride, memory_.d_outputs, sizes_.width, begin, end,
                     memory_.d_values + key * sizes_.width, count);
    }
    for (index_t r = 0; r < count_; ++r) {
      if (memory_.broken[r] == 0) continue;
      for (index_t n = 0; n < block.size(); ++n) {
        sums_.add_broken(r, memory_.weights[r * sizes_.weight_stride + n],
                         memory_.d_values + (entry_.stretch().begin + block.begin + n) * sizes_.width);
      }
    }
  }
  void finish(const row_group<T>& group, index_t in_group) noexcept {
    const index_t r = group.chunk_row + in_group;
    const head_index h = group.head[in_group];
    const query_index i = group.query[in_group];
    T* const d_query = memory_.d_queries + r * sizes_.key_width;
    scale_row(d_query, sizes_.key_width, plan_.scale());
    if constexpr (learned::contents) {
      add_row(d_query, memory_.pair_d_queries + r * sizes_.key_width, sizes_.key_width);
    }
    if constexpr (Plan::has_sink) {
      const T log_sum =
          forward_.log_sum_exp.row(entry_.batch().value(), h.value())[static_cast<std::size_t>(i.value())];
      const T minus_common = memory_.seen[r] != 0 ? memory_.minus_common[r] : T{0};
      const T share = detail::weight_of(*plan_.sink(h), log_sum);
      std::get<0>(plan_.sinks()).add_gradient(h, share * minus_common, gradients_.sink());
    }
    write(entry_.batch(), h, i, d_query, to_.query.row(entry_.batch().value(), h.value(), i.value()));
  }
  template <class Row>
  void write(batch_index b, head_index h, Row at, T* row, std::span<T> to) const noexcept {
    const std::span<T> whole(row, static_cast<std::size_t>(sizes_.dim));
    std::apply([&](const auto&... term) { (term.turn_back(b, h, at, whole), ...); }, plan_.transforms());
    std::copy(whole.begin(), whole.end(), to.begin());
  }

  /// Keys of a block up to which its tiles go.
  [[nodiscard]] index_t keys_of(index_t block, const tile_range& tiles) const noexcept {
    return std::min(tiles.last * shape::keys, of_scores_.positions.size() - block);
  }
  /// Calls visit(row, key of the block, key, weight) for each pair with a weight.
  template <class Visit>
  void each_pair(const row_group<T>& group, index_t block, const tile_range& tiles, const T* weights,
                 const Visit& visit) const noexcept {
    const index_t end = keys_of(block, tiles);
    for (index_t r = 0; r < group.count; ++r) {
      for (index_t n = tiles.first * shape::keys; n < end; ++n) {
        const T weight = weights[r * sizes_.weight_stride + n];
        if (weight != T{0}) visit(r, n, key_index{entry_.stretch().begin + block + n}, weight);
      }
    }
  }

  const Plan& plan_;
  const forward_result<T, O>& forward_;
  const heads_view<const O>& d_output_;
  const qkv_gradient<T>& to_;
  const backward_sizes<Plan>& sizes_;
  fused_entry<Plan, E>& entry_;
  const fused_memory<Plan>& of_scores_;
  backward_memory<Plan> memory_;
  plan_gradients_of<Plan>& gradients_;
  fused_scores<Plan, E> scores_;
  backward_weights<Plan, E> weights_;
  backward_sums<Plan, E, O> sums_;
  index_t count_ = 0;
};

}  // namespace kernel
}  // namespace POSGEO_SIMD_ISA
}  // namespace posgeo
