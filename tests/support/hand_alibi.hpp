// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/attend/attend.hpp>

#include <cmath>
#include <limits>
#include <vector>

namespace posgeo::test {

/// Causal ALiBi as plain loops, with a mistake if one is planted.
struct hand_alibi {
  enum class planted { nothing, query_from_zero, bias_twice, padding_read, log_sum_exp_in_base_2 };
  planted fault = planted::nothing;
  double steepness = 1.0;  ///< of the slopes, in those of a power of two of heads
  also gives = also::log_sum_exp | also::probabilities;
  bool refuses_others = false;  ///< whether asking for more is an error
  std::optional<call_kind> refused = std::nullopt;

  template <class Plan, class T>
  void operator()(const Plan& plan, const qkv<T>& in, const attention_output<T>& out) const {
    const position_call& call = plan.call();
    const heads& layout = plan.layout();
    require(refused != call.kind(), errc::executor_refusal, "hand kernel", "call", "another kind", "this one");
    require(!refuses_others || !(out.scores || out.probabilities), errc::executor_refusal, "hand kernel", "outputs",
            "the output and its log-sum-exp", "more");
    for (const batch_index b : indices<batch_index>(call.batch())) {
      for (const head_index h : indices<head_index>(layout.query)) {
        for (const query_index i : indices<query_index>(call.queries())) one_row(plan, in, out, b, h, i);
      }
    }
  }

 private:
  template <class Plan, class T>
  void one_row(const Plan& plan, const qkv<T>& in, const attention_output<T>& out, batch_index b, head_index h,
               query_index i) const {
    const position_call& call = plan.call();
    const heads& layout = plan.layout();
    const index_t shared = key_head(layout, h);
    const index_t at = fault == planted::query_from_zero ? i.value() : call.at(b, i).value();
    const double slope =
        steepness * std::exp2(-8.0 * static_cast<double>(h.value() + 1) / static_cast<double>(layout.query));
    const auto query = in.query.row(b.value(), h.value(), i.value());
    std::vector<double> weights(static_cast<std::size_t>(call.keys()), 0.0);
    double sum = 0.0;
    for (const key_index j : indices<key_index>(call.keys())) {
      const bool seen = call.active(b, j) ? plan.visible(b, i, j) : fault == planted::padding_read;
      if (!seen) continue;
      const auto key = in.key.row(b.value(), shared, j.value());
      double score = 0.0;
      for (std::size_t d = 0; d < key.size(); ++d) score += static_cast<double>(query[d]) * static_cast<double>(key[d]);
      score /= std::sqrt(static_cast<double>(layout.dim));
      const double bias = -slope * static_cast<double>(at - call.at(b, j).value());
      score += fault == planted::bias_twice ? 2.0 * bias : bias;
      weights[static_cast<std::size_t>(j.value())] = std::exp(std::min(score, 300.0));
      sum += weights[static_cast<std::size_t>(j.value())];
    }
    const auto row = out.output.row(b.value(), h.value(), i.value());
    for (std::size_t d = 0; d < row.size(); ++d) {
      double total = 0.0;
      for (std::size_t j = 0; j < weights.size(); ++j) {
        if (weights[j] == 0.0) continue;
        total += weights[j] / sum * static_cast<double>(in.value.row(b.value(), shared, static_cast<index_t>(j))[d]);
      }
      row[d] = static_cast<T>(total);
    }
    const auto place = static_cast<std::size_t>(i.value());
    if (out.log_sum_exp && includes(gives, also::log_sum_exp)) {
      out.log_sum_exp->row(b.value(), h.value())[place] =
          static_cast<T>(fault == planted::log_sum_exp_in_base_2 ? std::log2(sum) : std::log(sum));
    }
    if (!out.probabilities || !includes(gives, also::probabilities)) return;
    const auto to = out.probabilities->row(b.value(), h.value(), i.value());
    for (std::size_t j = 0; j < weights.size(); ++j) to[j] = static_cast<T>(sum == 0.0 ? 0.0 : weights[j] / sum);
  }
};

}  // namespace posgeo::test
