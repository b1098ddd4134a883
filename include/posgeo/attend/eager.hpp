// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/attend/attend.hpp>
#include <posgeo/model/plan.hpp>

#include <unsupported/Eigen/CXX11/Tensor>

#include <algorithm>
#include <limits>

namespace posgeo {

/// The plain executor: one head at a time, the whole [queries, keys] tile, Eigen tensor expressions. It is what every
/// family means; faster executors are tested against it.
/// Shapes: those of attend. Memory: four tiles [queries, keys] of one head.
/// Throws: nothing of its own; attend checks.
/// Source: the score order in model/attention.hpp.
class eager {
 public:
  template <class Plan, class E, class O>
  void run(const Plan& plan, const qkv<E>& in, const attention_output<typename Plan::scalar, O>& out) const {
    using T = typename Plan::scalar;
    const heads& layout = plan.layout();
    const index_t group = layout.query / layout.key_value;
    for (const batch_index b : indices<batch_index>(plan.call().batch())) {
      for (index_t shared = 0; shared < layout.key_value; ++shared) {
        const head_index first{shared * group};
        const matrix<T> keys = transformed_keys<T>(plan, in, b, first, shared);
        const matrix<T> values = rows_of<T>(in.value, b, shared);
        for (const head_index h : indices<head_index>(first, head_index{(shared + 1) * group})) {
          one_head(plan, transformed_queries<T>(plan, in, b, h), keys, values, b, h, out);
        }
      }
    }
  }

 private:
  template <class T>
  using matrix = Eigen::Tensor<T, 2, Eigen::RowMajor, index_t>;
  template <class T>
  using column = Eigen::Tensor<T, 1, Eigen::RowMajor, index_t>;
  using mask = Eigen::Tensor<bool, 2, Eigen::RowMajor, index_t>;

  template <class T>
  static std::span<T> row_of(matrix<T>& m, index_t row) {
    return {m.data() + row * m.dimension(1), static_cast<std::size_t>(m.dimension(1))};
  }
  template <class T>
  static std::span<const T> row_of(const matrix<T>& m, index_t row) {
    return {m.data() + row * m.dimension(1), static_cast<std::size_t>(m.dimension(1))};
  }
  /// Numbers of one type in another: a widening is exact, a narrowing rounds to nearest even.
  template <class From, class To>
  static void copy_row(std::span<const From> from, std::span<To> to) {
    std::transform(from.begin(), from.end(), to.begin(), [](From x) { return static_cast<To>(x); });
  }
  template <class T, class E>
  static matrix<T> rows_of(const heads_view<const E>& view, batch_index b, index_t head) {
    matrix<T> copy(view.extent(2), view.extent(3));
    for (index_t row = 0; row < view.extent(2); ++row) {
      copy_row(view.row(b.value(), head, row), row_of(copy, row));
    }
    return copy;
  }
  template <class T, class Plan, class E>
  static matrix<T> transformed_queries(const Plan& plan, const qkv<E>& in, batch_index b, head_index h) {
    matrix<T> rows = rows_of<T>(in.query, b, h.value());
    for (const query_index i : indices<query_index>(plan.call().queries())) {
      plan.transform_query(b, h, i, row_of(rows, i.value()));
    }
    return rows;
  }
  template <class T, class Plan, class E>
  static matrix<T> transformed_keys(const Plan& plan, const qkv<E>& in, batch_index b, head_index h, index_t shared) {
    matrix<T> rows = rows_of<T>(in.key, b, shared);
    for (const key_index j : indices<key_index>(plan.call().keys())) {
      plan.transform_key(b, h, j, row_of(rows, j.value()));
    }
    return rows;
  }

  /// Calls visit(i, j) for each visible pair.
  template <class Plan, class Visit>
  static void for_each_visible(const Plan& plan, batch_index b, const Visit& visit) {
    for (const query_index i : indices<query_index>(plan.call().queries())) {
      const key_range keys = plan.keys(b, i);
      for (const key_index j : indices<key_index>(keys.begin, keys.end)) {
        if (plan.visible(b, i, j)) visit(i, j);
      }
    }
  }

  template <class T>
  static void apply_cap(matrix<T>& scores, std::optional<T> cap) {
    if (cap) scores = (scores / *cap).tanh() * *cap;
  }

  template <class T>
  struct normalised {
    matrix<T> weights;
    column<T> log_sum_exp;
  };

  /// Of each row: the weights of its visible keys and the log-sum-exp of their scores and of the sink. Hidden scores
  /// are -infinity, and so is a sink where there is none.
  template <class T>
  static normalised<T> softmax(const matrix<T>& scores, const mask& visible, T sink) {
    constexpr T nothing_seen = -std::numeric_limits<T>::infinity();
    const index_t queries = scores.dimension(0);
    const index_t keys = scores.dimension(1);
    normalised<T> row{matrix<T>(queries, keys), column<T>(queries)};
    row.log_sum_exp.setConstant(sink);
    if (keys == 0) return row;

    const Eigen::array<index_t, 1> over_keys{1};
    const Eigen::array<index_t, 2> as_column{queries, 1};
    const Eigen::array<index_t, 2> across{1, keys};
    const column<T> largest = scores.maximum(over_keys).cwiseMax(sink);
    const column<T> shift = (largest > largest.constant(nothing_seen)).select(largest, largest.constant(T{0}));
    matrix<T> weights = scores - shift.reshape(as_column).broadcast(across);
    // A weight below the smallest normal number is 0: there Eigen's exponential is slow, and wrong in its lanes.
    const mask vanishes = weights < weights.constant(std::log(std::numeric_limits<T>::min()));
    weights = visible.select(vanishes.select(weights.constant(T{0}), weights.exp()), weights.constant(T{0}));
    column<T> sum = weights.sum(over_keys);
    for (index_t i = 0; i < queries; ++i) {
      sum(i) += std::exp(sink - shift(i));
      if (sum(i) == T{0}) {
        sum(i) = T{1};  // a row that sees nothing keeps its zeros
      } else {
        row.log_sum_exp(i) = largest(i) + std::log(sum(i));
      }
    }
    row.weights = weights / sum.reshape(as_column).broadcast(across);
    return row;
  }

  template <class Plan, class T, class O>
  static void one_head(const Plan& plan, const matrix<T>& query, const matrix<T>& key, const matrix<T>& value,
                       batch_index b, head_index h, const attention_output<T, O>& out) {
    constexpr T hidden_score = -std::numeric_limits<T>::infinity();
    const index_t queries = query.dimension(0);
    const index_t keys = key.dimension(0);
    if (queries == 0) return;

    const Eigen::array<Eigen::IndexPair<index_t>, 1> along_head_dim{Eigen::IndexPair<index_t>(1, 1)};
    matrix<T> scores(queries, keys);
    if (keys > 0) scores = query.contract(key, along_head_dim);
    matrix<T> biases(queries, keys);
    biases.setZero();
    mask visible(queries, keys);
    visible.setConstant(false);
    for_each_visible(plan, b, [&](query_index i, key_index j) {
      T& bias = biases(i.value(), j.value());
      if constexpr (Plan::has_biases) bias = plan.bias(b, h, i, j);
      visible(i.value(), j.value()) = bias != hidden_score;  // a bias of -infinity removes its key
      if constexpr (Plan::has_contents) {
        scores(i.value(), j.value()) += plan.content(b, h, i, j, row_of(query, i.value()), row_of(key, j.value()));
      }
    });

    scores = scores * plan.scale();
    apply_cap(scores, plan.cap(scale::softcap_place::before_bias));
    scores = scores + biases;
    apply_cap(scores, plan.cap(scale::softcap_place::after_bias));
    const mask too_low = scores < scores.constant(std::numeric_limits<T>::lowest());  // by overflow: not hidden
    scores = too_low.select(scores.constant(std::numeric_limits<T>::lowest()), scores);
    scores = visible.select(scores, scores.constant(hidden_score));

    const normalised<T> row = softmax(scores, visible, plan.sink(h).value_or(hidden_score));
    write_output(plan, row.weights, visible, value, b, h, out);
    for (index_t i = 0; i < queries; ++i) {
      if (out.log_sum_exp) {
        out.log_sum_exp->row(b.value(), h.value())[static_cast<std::size_t>(i)] = row.log_sum_exp(i);
      }
      const auto hand_out = [&](const std::optional<heads_view<T>>& to, const matrix<T>& from) {
        if (to) std::copy_n(row_of(from, i).begin(), keys, to->row(b.value(), h.value(), i).begin());
      };
      hand_out(out.scores, scores);
      hand_out(out.probabilities, row.weights);
    }
  }

  /// Weighted values plus value terms. A value is read only under a visible pair: 0 times a hidden NaN would be NaN.
  template <class Plan, class T, class O>
  static void write_output(const Plan& plan, const matrix<T>& weights, const mask& visible, const matrix<T>& value,
                           batch_index b, head_index h, const attention_output<T, O>& out) {
    const index_t queries = weights.dimension(0);
    const index_t keys = weights.dimension(1);
    matrix<T> rows(queries, value.dimension(1));
    rows.setZero();
    if (keys > 0) {
      const mask finite = (value - value) >= value.constant(T{0});
      const matrix<T> readable = finite.select(value, value.constant(T{0}));
      const Eigen::array<Eigen::IndexPair<index_t>, 1> along_keys{Eigen::IndexPair<index_t>(1, 0)};
      rows = weights.contract(readable, along_keys);
      for (index_t j = 0; j < keys; ++j) {
        for (index_t d = 0; d < value.dimension(1); ++d) {
          if (finite(j, d)) continue;
          for (index_t i = 0; i < queries; ++i) {
            if (visible(i, j)) rows(i, d) += weights(i, j) * value(j, d);
          }
        }
      }
    }
    if constexpr (Plan::has_values) {
      for_each_visible(plan, b, [&](query_index i, key_index j) {
        if (!visible(i.value(), j.value())) return;
        plan.accumulate(b, h, i, j, weights(i.value(), j.value()), row_of(rows, i.value()));
      });
    }
    for (index_t i = 0; i < queries; ++i) {
      copy_row(std::span<const T>(row_of(rows, i)), out.output.row(b.value(), h.value(), i));
    }
  }
};

}  // namespace posgeo
