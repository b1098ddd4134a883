// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/attend/attend.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace posgeo::bench {

template <class E>
[[nodiscard]] std::vector<double> widened(std::span<const E> row) {
  std::vector<double> out;
  for (const E value : row) out.push_back(static_cast<double>(value));
  return out;
}

/// One output row in double, from the scalar expressions of a plan, in the score order of model/attention.hpp.
template <class Plan, class E>
[[nodiscard]] std::vector<double> reference_row(const Plan& plan, const qkv<E>& in, batch_index b, head_index h,
                                                query_index i) {
  static_assert(std::same_as<typename Plan::scalar, double>);
  constexpr double nothing = -std::numeric_limits<double>::infinity();
  const index_t shared = key_head(plan.layout(), h);
  std::vector<double> query = widened(in.query.row(b.value(), h.value(), i.value()));
  plan.transform_query(b, h, i, query);
  std::vector<std::pair<key_index, double>> seen;
  const auto capped = [&](double score, scale::softcap_place place) {
    const auto cap = plan.cap(place);
    return cap ? *cap * std::tanh(score / *cap) : score;
  };
  const key_range keys = plan.keys(b, i);
  double largest = nothing;
  for (const key_index j : indices<key_index>(keys.begin, keys.end)) {
    if (!plan.visible(b, i, j)) continue;
    const double bias = plan.bias(b, h, i, j);
    if (bias == nothing) continue;
    std::vector<double> key = widened(in.key.row(b.value(), shared, j.value()));
    plan.transform_key(b, h, j, key);
    double raw = plan.content(b, h, i, j, query, key);
    for (std::size_t d = 0; d < key.size(); ++d) raw += query[d] * key[d];
    const double before = capped(raw * plan.scale(), scale::softcap_place::before_bias);
    seen.emplace_back(j, capped(before + bias, scale::softcap_place::after_bias));
    largest = std::max(largest, seen.back().second);
  }
  double sum = 0.0;
  for (auto& [j, score] : seen) sum += score = std::exp(score - largest);
  std::vector<double> out(static_cast<std::size_t>(in.value.extent(3)));
  for (const auto& [j, weight] : seen) {
    const std::vector<double> value = widened(in.value.row(b.value(), shared, j.value()));
    for (std::size_t d = 0; d < out.size(); ++d) out[d] += weight / sum * value[d];
    plan.accumulate(b, h, i, j, weight / sum, out);
  }
  return out;
}

}  // namespace posgeo::bench
