// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/attend/backward.hpp>
#include <posgeo/attend/eager.hpp>
#include <posgeo/core/row_product.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

namespace posgeo {

namespace detail {

/// The plain backward pass: pair by pair, in one order. It is what the gradients mean; faster ones are tested against
/// it. The score order of model/attention.hpp, differentiated from its end:
///   p = exp(s - L), dp = dO . v + value terms, D = dO . O, ds = p (dp - D), and - p_sink D for the sink;
///   a softcap c turns ds into ds (1 - (s / c)^2), s being what it gave;
///   biases get ds; times the scale it is the gradient of the raw score, which query, key and content terms share;
///   transforms turn the gradients of their rows back.
/// Memory: one head's query rows, and rows and gradients of one key head.
template <class Plan, class E, class O>
class eager_backward {
  using T = typename Plan::scalar;

 public:
  eager_backward(const Plan& plan, const qkv<E>& in, const forward_result<T, O>& forward,
                 const heads_view<const O>& d_output, const qkv_gradient<T>& to, plan_gradients_of<Plan>& gradients,
                 call::memory_gradient memory)
      : plan_(plan),
        in_(in),
        forward_(forward),
        d_output_(d_output),
        to_(to),
        gradients_(gradients),
        memory_(memory),
        dim_(static_cast<std::size_t>(plan.layout().dim)),
        width_(static_cast<std::size_t>(in.value.extent(3))) {}

  void run() {
    const heads& layout = plan_.layout();
    const index_t group = layout.query / layout.key_value;
    for (const batch_index b : indices<batch_index>(plan_.call().batch())) {
      for (index_t shared = 0; shared < layout.key_value; ++shared) {
        const head_index first{shared * group};
        read_keys(b, first, shared);
        for (const head_index h : indices<head_index>(first, head_index{first.value() + group})) {
          for (const query_index i : indices<query_index>(plan_.call().queries())) one_row(b, h, i);
        }
        write_keys(b, first, shared);
      }
    }
  }

 private:
  using numbers = std::vector<T>;

  [[nodiscard]] static std::span<T> row_of(numbers& rows, index_t row, std::size_t width) noexcept {
    return std::span<T>(rows).subspan(static_cast<std::size_t>(row) * width, width);
  }
  template <class From>
  static void widen(std::span<const From> from, std::span<T> to) noexcept {
    std::transform(from.begin(), from.end(), to.begin(), [](From x) { return static_cast<T>(x); });
  }

  void read_keys(batch_index b, head_index first, index_t shared) {
    const auto keys = static_cast<std::size_t>(plan_.call().keys());
    keys_.resize(keys * dim_);
    values_.resize(keys * width_);
    d_keys_.assign(keys * dim_, T{0});
    d_values_.assign(keys * width_, T{0});
    for (const key_index j : indices<key_index>(plan_.call().keys())) {
      widen(in_.key.row(b.value(), shared, j.value()), row_of(keys_, j.value(), dim_));
      plan_.transform_key(b, first, j, row_of(keys_, j.value(), dim_));
      widen(in_.value.row(b.value(), shared, j.value()), row_of(values_, j.value(), width_));
    }
  }
  void write_keys(batch_index b, head_index first, index_t shared) {
    for (const key_index j : indices<key_index>(plan_.call().keys())) {
      const auto d_key = row_of(d_keys_, j.value(), dim_);
      const auto d_value = row_of(d_values_, j.value(), width_);
      if (memory_ == call::memory_gradient::detached && is_memory(plan_.call(), b, j)) {
        std::fill(d_key.begin(), d_key.end(), T{0});
        std::fill(d_value.begin(), d_value.end(), T{0});
      }
      turn_back(b, first, j, d_key);
      std::copy(d_key.begin(), d_key.end(), to_.key.row(b.value(), shared, j.value()).begin());
      std::copy(d_value.begin(), d_value.end(), to_.value.row(b.value(), shared, j.value()).begin());
    }
  }
  template <class Row>
  void turn_back(batch_index b, head_index h, Row at, std::span<T> row) const noexcept {
    std::apply([&](const auto&... term) { (term.turn_back(b, h, at, row), ...); }, plan_.transforms());
  }

  void one_row(batch_index b, head_index h, query_index i) {
    query_.resize(dim_);
    widen(in_.query.row(b.value(), h.value(), i.value()), std::span<T>(query_));
    plan_.transform_query(b, h, i, query_);
    d_query_.assign(dim_, T{0});
    if (!plan_.call().active(b, i)) return write_query(b, h, i);
    d_out_.resize(width_);
    widen(d_output_.row(b.value(), h.value(), i.value()), std::span<T>(d_out_));

    bool seen = false;
    T in_common{0};  // D, once a key was seen
    const key_range keys = plan_.keys(b, i);
    for (const key_index j : indices<key_index>(keys.begin, keys.end)) {
      if (!plan_.visible(b, i, j)) continue;
      const std::optional<passed_score> score = score_of(b, h, i, j);
      if (!score) continue;
      if (!std::exchange(seen, true)) in_common = of_output(b, h, i);
      one_pair(b, h, i, j, *score, in_common);
    }
    if constexpr (Plan::has_sink) {
      const T sink = *plan_.sink(h);
      const T log_sum = log_sum_exp(b, h, i);
      std::get<0>(plan_.sinks()).add_gradient(h, -weight_of(sink, log_sum) * in_common, gradients_.sink());
    }
    turn_back(b, h, i, std::span<T>(d_query_));
    write_query(b, h, i);
  }
  void write_query(batch_index b, head_index h, query_index i) noexcept {
    std::copy(d_query_.begin(), d_query_.end(), to_.query.row(b.value(), h.value(), i.value()).begin());
  }

  [[nodiscard]] T log_sum_exp(batch_index b, head_index h, query_index i) const noexcept {
    return forward_.log_sum_exp.row(b.value(), h.value())[static_cast<std::size_t>(i.value())];
  }
  /// D = dO . O: what every score of the row loses.
  [[nodiscard]] T of_output(batch_index b, head_index h, query_index i) const noexcept {
    return row_product(std::span<const T>(d_out_), forward_.output.row(b.value(), h.value(), i.value()));
  }
  /// A score, and what it passes on of its gradient to the bias, and to the scaled score before that.
  struct passed_score {
    T score;
    T to_bias;
    T to_scaled;
  };
  /// Nothing where a bias removes the key.
  [[nodiscard]] std::optional<passed_score> score_of(batch_index b, head_index h, query_index i, key_index j) {
    constexpr T lowest = std::numeric_limits<T>::lowest();
    const auto query = std::span<const T>(query_);
    const auto key = std::span<const T>(row_of(keys_, j.value(), dim_));
    T bias{0};
    if constexpr (Plan::has_biases) bias = plan_.bias(b, h, i, j);
    if (bias < lowest) return std::nullopt;
    T raw = row_product(query, key);
    if constexpr (Plan::has_contents) raw += plan_.content(b, h, i, j, query, key);
    passed_score out{raw * plan_.scale(), T{1}, T{1}};
    const auto bound = [&out](std::optional<T> cap, T& passed) {
      if (!cap) return;
      const T share = std::tanh(out.score / *cap);
      out.score = share * *cap;
      passed = T{1} - share * share;
    };
    bound(plan_.cap(scale::softcap_place::before_bias), out.to_scaled);
    out.score += bias;
    bound(plan_.cap(scale::softcap_place::after_bias), out.to_bias);
    if (out.score < lowest) out = {lowest, T{0}, T{0}};  // by overflow: it stays where it is
    return out;
  }

  void one_pair(batch_index b, head_index h, query_index i, key_index j, const passed_score& score, T in_common) {
    const T weight = weight_of(score.score, log_sum_exp(b, h, i));
    if (weight == T{0}) return;
    const auto d_out = std::span<const T>(d_out_);
    const auto value = std::span<const T>(row_of(values_, j.value(), width_));
    T d_weight = row_product(d_out, value);
    add_scaled(weight, d_out, row_of(d_values_, j.value(), width_));
    each_term(plan_.values(), [&]<std::size_t N>(const auto& term, std::integral_constant<std::size_t, N>) {
      d_weight += term.add_gradient(b, h, i, j, weight, d_out, gradients_.template value<N>());
    });

    const T d_biased = weight * (d_weight - in_common) * score.to_bias;
    each_term(plan_.biases(), [&]<std::size_t N>(const auto& term, std::integral_constant<std::size_t, N>) {
      if constexpr (!std::same_as<gradient_of<std::remove_cvref_t<decltype(term)>>, nothing_learned>) {
        term.add_gradient(b, h, i, j, d_biased, gradients_.template bias<N>());
      }
    });

    const T d_raw = d_biased * score.to_scaled * plan_.scale();
    const auto query = std::span<const T>(query_);
    const auto key = std::span<const T>(row_of(keys_, j.value(), dim_));
    const auto d_key = row_of(d_keys_, j.value(), dim_);
    add_scaled(d_raw, key, std::span<T>(d_query_));
    add_scaled(d_raw, query, d_key);
    each_term(plan_.contents(), [&]<std::size_t N>(const auto& term, std::integral_constant<std::size_t, N>) {
      term.add_gradient(b, h, i, j, query, key, d_raw, std::span<T>(d_query_), d_key, gradients_.template content<N>());
    });
  }

  const Plan& plan_;
  const qkv<E>& in_;
  const forward_result<T, O>& forward_;
  const heads_view<const O>& d_output_;
  const qkv_gradient<T>& to_;
  plan_gradients_of<Plan>& gradients_;
  call::memory_gradient memory_;
  std::size_t dim_;
  std::size_t width_;
  numbers keys_;
  numbers values_;
  numbers d_keys_;
  numbers d_values_;
  numbers query_;
  numbers d_query_;
  numbers d_out_;
};

}  // namespace detail

/// The backward pass of the eager executor.
template <class Plan, class E, class O>
void run_backward(const eager&, const Plan& plan, const qkv<E>& in,
                  const forward_result<typename Plan::scalar, O>& forward, const heads_view<const O>& d_output,
                  const qkv_gradient<typename Plan::scalar>& to, plan_gradients_of<Plan>& gradients,
                  call::memory_gradient memory) {
  detail::eager_backward<Plan, E, O>(plan, in, forward, d_output, to, gradients, memory).run();
}

}  // namespace posgeo
