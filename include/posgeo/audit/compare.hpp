// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/audit/finding.hpp>
#include <posgeo/audit/observe.hpp>

namespace posgeo::audit {

namespace detail {

/// |a - b|; 0 for equal infinities, infinity for anything else that has no difference.
[[nodiscard]] inline double apart(double a, double b) noexcept {
  if (a == b) return 0.0;
  const double by = std::abs(a - b);
  return std::isnan(by) ? std::numeric_limits<double>::infinity() : by;
}

/// The largest change of the difference of two scores, of keys that both runs show; without scores, of keys whose
/// weights both runs give.
[[nodiscard]] inline double score_change(const observation& a, const observation& b, index_t entry, index_t h,
                                         index_t i) {
  constexpr double infinite = std::numeric_limits<double>::infinity();
  const bool given = !a.scores.values().empty() && !b.scores.values().empty();
  const double floor = std::exp(-30.0);  // below it a weight says little about its score
  const auto score = [&](const observation& of, index_t j) {
    if (given) return of.scores(entry, h, i, j);
    const double weight = of.weights(entry, h, i, j);
    return weight <= floor ? -infinite : std::log(weight);
  };
  double lowest = infinite;
  double highest = -infinite;
  for (index_t j = 0; j + 1 < a.weights.extent(3); ++j) {
    const double before = score(a, j);
    const double after = score(b, j);
    if (before == -infinite || after == -infinite) continue;  // a key that one run hides shows in its weight
    const double by = after - before;
    if (std::isnan(by)) return infinite;
    lowest = std::min(lowest, by);
    highest = std::max(highest, by);
  }
  return lowest > highest ? 0.0 : apart(highest, lowest);
}

}  // namespace detail

/// How far two runs are apart, over the rows that both hold and all heads.
[[nodiscard]] inline changes compare(const observation& a, const observation& b) {
  changes most;
  const auto raise = [](std::optional<double>& to, double by) { to = std::max(to.value_or(0.0), by); };
  const bool sums = !a.log_sum_exp.values().empty() && !b.log_sum_exp.values().empty();
  const bool scores =
      (!a.scores.values().empty() && !b.scores.values().empty()) || (a.exact_weights && b.exact_weights);
  const index_t queries = a.output.extent(2);
  for (index_t entry = 0; entry < a.output.extent(0); ++entry) {
    for (index_t i = 0; i < queries; ++i) {
      const auto row = static_cast<std::size_t>(entry * queries + i);
      if (a.held[row] == 0 || b.held[row] == 0) continue;
      for (index_t h = 0; h < a.output.extent(1); ++h) {
        for (index_t d = 0; d < a.output.extent(3); ++d) {
          most.outputs = std::max(most.outputs, detail::apart(a.output(entry, h, i, d), b.output(entry, h, i, d)));
        }
        double sum = 0.0;
        for (index_t j = 0; j < a.weights.extent(3); ++j) {
          sum += detail::apart(a.weights(entry, h, i, j), b.weights(entry, h, i, j));
        }
        raise(most.weights, sum);
        if (sums) raise(most.log_sum_exp, detail::apart(a.log_sum_exp(entry, h, i), b.log_sum_exp(entry, h, i)));
        if (scores) raise(most.score_differences, detail::score_change(a, b, entry, h, i));
      }
    }
  }
  return most;
}

/// The largest of the changes.
[[nodiscard]] inline double largest(const changes& of) noexcept {
  return std::max(
      {of.score_differences.value_or(0.0), of.log_sum_exp.value_or(0.0), of.weights.value_or(0.0), of.outputs});
}

/// What rounding may change between two runs of such magnitudes, in any of the four quantities; u is the unit roundoff
/// of the type that they are computed in. With A = product + sqrt(head_dim) * score for what the products of a score
/// sum to, and angles that are formed in double:
///   e = u ((4 sqrt(head_dim) + 8) A + 8 (2 score + log_sum_exp)) + 2^-52 position * A,
///   E = exp(e) - 1 + u (6 + 4 sqrt(keys) + 2 log_sum_exp),  w = exp(e + E) - 1 + 2 u (6 + 4 sqrt(keys)),
///   tolerance = 2 max(2 e, E, w, w * 2 value).
/// Source: docs/numerics.md, with the largest number of each kind in place of a row's own.
[[nodiscard]] inline double rounding_of(const magnitudes& of, index_t head_dim, double u) noexcept {
  const double root = std::sqrt(static_cast<double>(head_dim));
  const double of_keys = 6.0 + 4.0 * std::sqrt(static_cast<double>(of.keys));
  const double products = of.product + root * of.score;
  const double e =
      u * ((4.0 * root + 8.0) * products + 8.0 * (2.0 * of.score + of.log_sum_exp)) + 0x1p-52 * of.position * products;
  const double sum = std::expm1(e) + u * (of_keys + 2.0 * of.log_sum_exp);
  const double weight = std::expm1(e + sum) + 2.0 * u * of_keys;
  return 2.0 * std::max({2.0 * e, sum, weight, 2.0 * weight * of.value});
}

}  // namespace posgeo::audit
