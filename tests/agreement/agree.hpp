// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/model/attention.hpp>
#include <posgeo/scale/inverse_sqrt_terms.hpp>
#include <posgeo/visible/segments.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "agreement/bound.hpp"
#include "agreement/executor.hpp"
#include "support/catch.hpp"
#include "support/guarded.hpp"
#include "support/random.hpp"

namespace posgeo::test {

/// The sizes of a model's parameters, as the error bounds read them: no row that meets a query, a key or neither is
/// longer, and no number of a value term is larger.
struct parameter_sizes {
  double of_query = 0;
  double of_key = 0;
  double of_neither = 0;
  double of_value = 0;
};

/// An attention made for a scene, with what it needs to stay alive.
template <class Model>
struct family_member {
  Model model;
  parameter_sizes sizes = {};
  std::shared_ptr<const void> memory = nullptr;
};
template <class Model>
family_member(Model) -> family_member<Model>;
template <class Model>
family_member(Model, parameter_sizes) -> family_member<Model>;
template <class Model>
family_member(Model, parameter_sizes, std::shared_ptr<const void>) -> family_member<Model>;

/// The policies behind the scene's visibility and a scale that counts their dot products.
template <class... Policies>
[[nodiscard]] auto model_of(const scene& where, Policies... policies) {
  return attention{where.layout, scale::inverse_sqrt_terms{}, where.see, visible::segments{}, std::move(policies)...};
}

/// The type that numbers stored in E are computed in.
template <class E>
using computed_in = std::conditional_t<std::is_same_v<E, double>, double, float>;

/// Random inputs in double of which every number is one of E's.
template <class E>
struct stored_inputs {
  tensor<double, 4> query;
  tensor<double, 4> key;
  tensor<double, 4> value;

  stored_inputs(const scene& where, unsigned seed)
      : query(rounded({where.call.batch(), where.layout.query, where.call.queries(), where.layout.dim}, seed)),
        key(rounded({where.call.batch(), where.layout.key_value, where.call.keys(), where.layout.dim}, seed + 1)),
        value(rounded({where.call.batch(), where.layout.key_value, where.call.keys(), where.value_dim}, seed + 2)) {}

 private:
  static tensor<double, 4> rounded(const std::array<index_t, 4>& extents, unsigned seed) {
    auto out = random_tensor<double, 4>(extents, seed);
    for (double& number : out.values()) {
      number = static_cast<double>(static_cast<computed_in<E>>(static_cast<E>(static_cast<computed_in<E>>(number))));
    }
    return out;
  }
};

/// What an executor wrote, in double.
struct measured {
  tensor<double, 4> output;
  tensor<double, 3> log_sum_exp;
};

/// Runs a plan on numbers stored in E, in memory that is NaN wherever nobody may look: between and behind the rows of
/// every tensor, in the queries of padding, and in the rows that `hidden(b, j)` names. Requires that nothing but rows
/// of the output was written.
template <class E, class O, class Executor, class Plan, class Hidden>
[[nodiscard]] measured run_guarded(const Executor& executor, const Plan& plan, const scene& where,
                                   const stored_inputs<E>& in, const Hidden& hidden, unsigned layouts) {
  using T = typename Plan::scalar;
  const auto lies = [&](unsigned tensor) { return every_memory[(layouts + tensor) % every_memory.size()]; };
  guarded_heads<E> query(in.query.extents(), lies(0));
  guarded_heads<E> key(in.key.extents(), lies(1));
  guarded_heads<E> value(in.value.extents(), lies(2));
  query.fill(in.query);
  key.fill(in.key);
  value.fill(in.value);
  const index_t queries = where.call.queries();
  for (index_t b = 0; b < where.call.batch(); ++b) {
    for (index_t i = 0; i < queries; ++i) {
      if (!where.call.active(batch_index{b}, query_index{i})) query.poison(b, i);
    }
    for (index_t j = 0; j < where.call.keys(); ++j) {
      if (!hidden(b, j)) continue;
      key.poison(b, j);
      value.poison(b, j);
    }
  }
  const index_t batch = where.call.batch();
  const index_t heads = where.layout.query;
  guarded_heads<O> output({batch, heads, queries, where.value_dim}, lies(1));
  guarded_heads<T> log_sum_exp({batch, heads, 1, queries}, lies(0));
  attend(executor, plan, qkv<E>{query.view(), key.view(), value.view()},
         attention_output<T, O>{output.view(), as_rows(log_sum_exp.view())});
  REQUIRE(output.intact());
  REQUIRE(log_sum_exp.intact());
  tensor<double, 3> sums({batch, heads, queries});
  const auto wide = log_sum_exp.widened();
  std::ranges::copy(wide.values(), sums.values().begin());
  return {output.widened(), std::move(sums)};
}

/// Whether no query of the entry sees the key.
template <class Plan>
[[nodiscard]] bool hidden_from_all(const Plan& plan, index_t b, index_t j) {
  for (const query_index i : indices<query_index>(plan.call().queries())) {
    if (plan.visible(batch_index{b}, i, key_index{j})) return false;
  }
  return true;
}

/// The bound on the error of each score: u * ((4 sqrt(head_dim) + 8) A + 8 (|score| + |biases| + |log-sum-exp|)), where
/// A is what the dot products of a raw score can sum to, times the scale.
template <class Plan, class E>
[[nodiscard]] tensor<double, 4> score_errors(const Plan& plan, const stored_inputs<E>& in, const parameter_sizes& sizes,
                                             const attention_result<double>& exact, double unit) {
  const auto length = [](std::span<const double> row) {
    double squares = 0;
    for (const double x : row) squares += x * x;
    return std::sqrt(squares);
  };
  const double of_products = 4.0 * std::sqrt(static_cast<double>(plan.layout().dim)) + 8.0;
  tensor<double, 4> out(exact.scores.extents());
  for (const batch_index b : indices<batch_index>(plan.call().batch())) {
    for (const head_index h : indices<head_index>(plan.layout().query)) {
      for (const query_index i : indices<query_index>(plan.call().queries())) {
        const double query = length(in.query.view().row(b.value(), h.value(), i.value()));
        const double sum = exact.log_sum_exp(b.value(), h.value(), i.value());
        for (const key_index j : indices<key_index>(plan.call().keys())) {
          const double score = exact.scores(b.value(), h.value(), i.value(), j.value());
          if (!std::isfinite(score)) continue;
          const double key = length(in.key.view().row(b.value(), key_head(plan.layout(), h), j.value()));
          const double raw = query * key + sizes.of_query * query + sizes.of_key * key + sizes.of_neither;
          const double biases =
              std::apply([&](const auto&... term) { return (0.0 + ... + std::abs(term(b, h, i, j))); }, plan.biases());
          out(b.value(), h.value(), i.value(), j.value()) =
              unit * (of_products * plan.scale() * raw + 8.0 * (std::abs(score) + biases + std::abs(sum)));
        }
      }
    }
  }
  return out;
}

/// Values of which row first + d is one at d: the output is then a row of weights.
template <class E>
[[nodiscard]] stored_inputs<E> with_probe(stored_inputs<E> in, index_t first) {
  std::ranges::fill(in.value.values(), 0.0);
  for (index_t b = 0; b < in.value.extent(0); ++b) {
    for (index_t h = 0; h < in.value.extent(1); ++h) {
      for (index_t d = 0; d < in.value.extent(3) && first + d < in.value.extent(2); ++d) {
        in.value(b, h, first + d, d) = 1.0;
      }
    }
  }
  return in;
}

template <class E, class T>
[[nodiscard]] constexpr roundings roundings_of() {
  constexpr double unit_of_double = std::numeric_limits<double>::epsilon() / 2.0;
  return {.unit = static_cast<double>(std::numeric_limits<T>::epsilon()) / 2.0 + unit_of_double,
          .smallest = 256.0 * static_cast<double>(std::numeric_limits<T>::min()),
          .weight = weight_rounding<E>,
          .output = 0.0};
}

/// What eager gives in double, and the bounds on scores.
template <class Plan, class E>
[[nodiscard]] expectation expected_of(const Plan& exact_plan, const stored_inputs<E>& in, const parameter_sizes& sizes,
                                      const roundings& by) {
  expectation expected{
      .exact = attend(eager{}, exact_plan, {in.query.view(), in.key.view(), in.value.view()}, also::everything),
      .score_error = {},
      .value = in.value,
      .largest_value_row = sizes.of_value};
  expected.score_error = score_errors(exact_plan, in, sizes, expected.exact, by.unit);
  return expected;
}

/// Holds one model on one scene, its inputs stored in E, against eager in double: output, log-sum-exp and differences
/// of scores, with NaN behind every key that no query of the entry sees.
template <class E, class Member>
void expect_agreement(const Member& member, const scene& where) {
  using T = computed_in<E>;
  CAPTURE(where.name, sizeof(E), weight_rounding<E>);
  const unsigned seed = 1000 + 10 * where.number;
  const stored_inputs<E> in(where, seed);
  const auto exact_plan = member.model.template compile<double>(where.call);
  const roundings by = roundings_of<E, T>();
  const expectation expected = expected_of(exact_plan, in, member.sizes, by);

  const auto plan = member.model.template compile<T>(where.call);
  const auto hidden = [&](index_t b, index_t j) { return hidden_from_all(exact_plan, b, j); };
  const unsigned layouts = where.number + static_cast<unsigned>(sizeof(E));
  const measured got = run_guarded<E, T>(executor_under_test{}, plan, where, in, hidden, layouts);
  CHECK(largest_output_error(where, expected, got.output, got.log_sum_exp, by) <= 1.0);

  if (decltype(plan)::has_values) return;  // its output is more than the weights of the keys
  const index_t keys = where.call.keys();
  for (const index_t first : {index_t{0}, keys / 2, keys - where.value_dim}) {
    if (first < 0 || first >= keys || (first != 0 && keys <= where.value_dim)) continue;
    const stored_inputs<E> probe = with_probe(in, first);
    const measured weights = run_guarded<E, T>(executor_under_test{}, plan, where, probe, hidden, layouts + 1);
    CAPTURE(first);
    CHECK(largest_score_error(where, expected, first, weights.output, by) <= 1.0);
  }
}

/// Runs a family, a function from scene to family_member, on every scene whose call it takes, once for each type of
/// stored numbers. At least `fewest` of the scenes must be calls that it takes.
template <class... Stored, class Family>
void expect_agreement(const std::vector<scene>& scenes, const Family& family, int fewest) {
  int taken = 0;
  for (const scene& where : scenes) {
    const auto member = family(where);
    if (!member.model.check(where.call).empty()) continue;
    ++taken;
    (expect_agreement<Stored>(member, where), ...);
  }
  CHECK(taken >= fewest);
}

}  // namespace posgeo::test
