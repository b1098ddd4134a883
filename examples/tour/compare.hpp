// SPDX-License-Identifier: MIT
#pragma once

#include "model.hpp"

namespace tour {

/// Below: the same number, rounded differently (an angle of 300 radians is known to 3e-14). Above: another number.
inline constexpr double rounding = 1e-12;
inline constexpr double real_change = 1e-8;

inline constexpr index_t shift = 17;
inline constexpr index_t gap = 7;

/// A NaN is larger than anything, so that no law overlooks it.
inline void keep_larger(double& largest, double change) {
  if (change > largest || std::isnan(change)) largest = change;
}

/// Row of the first scene that stands at a row of the reordered one.
[[nodiscard]] inline index_t source_row(const word_order& order, index_t row) {
  const auto at = static_cast<std::size_t>(row);
  return at < order.size() ? static_cast<index_t>(order[at]) : row;
}

/// Largest difference between row `a` of one tensor of states and row `b` of another.
[[nodiscard]] inline double row_difference(const states& one, index_t a, const states& other, index_t b) {
  double largest = 0.0;
  for (index_t d = 0; d < one.extent(2); ++d) {
    keep_larger(largest, std::abs(one(0, a, d) - other(0, b, d)));
  }
  return largest;
}

/// Largest difference over the words, each compared with itself wherever it went.
[[nodiscard]] inline double word_difference(const states& one, const states& other, const word_order& order) {
  double largest = 0.0;
  for (index_t row = 0; row + 1 < other.extent(1); ++row) {
    keep_larger(largest, row_difference(one, source_row(order, row), other, row));
  }
  return largest;
}

/// Sum over keys of |change of the end mark's weight|, the larger of the heads; each word is compared with itself.
[[nodiscard]] inline double weight_change(const layer_run& before, const layer_run& after, const word_order& order) {
  const index_t n = before.weights.extent(3);
  double largest = 0.0;
  for (index_t h = 0; h < layout.query; ++h) {
    double sum = 0.0;
    for (index_t j = 0; j < n; ++j) {
      sum += std::abs(after.weights(0, h, n - 1, j) - before.weights(0, h, n - 1, source_row(order, j)));
    }
    keep_larger(largest, sum);
  }
  return largest;
}

/// Largest change of a log-sum-exp or of a score; infinite where a key appears or disappears.
[[nodiscard]] inline double score_change(const layer_run& before, const layer_run& after) {
  double largest = 0.0;
  const auto compare = [&largest](const auto& a, const auto& b) {
    for (std::size_t n = 0; n < a.values().size(); ++n) {
      if (a.values()[n] != b.values()[n]) keep_larger(largest, std::abs(a.values()[n] - b.values()[n]));
    }
  };
  compare(before.scores, after.scores);
  compare(before.log_sum_exp, after.log_sum_exp);
  return largest;
}

}  // namespace tour
