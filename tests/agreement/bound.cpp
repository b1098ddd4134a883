// SPDX-License-Identifier: MIT
#include "agreement/bound.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace posgeo::test {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// error / bound; NaN and what should be exact but is not give infinity.
double part_of(double error, double bound) {
  if (error == 0.0) return 0.0;
  return std::isfinite(error) && bound > 0.0 ? error / bound : infinity;
}

/// Calls visit(b, h, i) for the query rows that hold tokens.
template <class Visit>
void each_token(const scene& where, const Visit& visit) {
  for (index_t b = 0; b < where.call.batch(); ++b) {
    for (index_t h = 0; h < where.layout.query; ++h) {
      for (index_t i = 0; i < where.call.queries(); ++i) {
        if (where.call.active(batch_index{b}, query_index{i})) visit(b, h, i);
      }
    }
  }
}

/// The relative error of a sum of weights, or of products with weights, after `count` additions.
double of_sum(double unit, index_t count) { return unit * (6.0 + 4.0 * std::sqrt(static_cast<double>(count))); }

/// What is known of one query row before its values are.
struct row_bound {
  index_t seen = 0;
  double log_sum_exp = 0;  ///< bound on its error
};
row_bound bound_of_row(const expectation& expected, index_t b, index_t h, index_t i, const roundings& by) {
  const auto weights = expected.exact.probabilities.view().row(b, h, i);
  const auto errors = expected.score_error.view().row(b, h, i);
  const auto scores = expected.exact.scores.view().row(b, h, i);
  row_bound row;
  for (std::size_t j = 0; j < weights.size(); ++j) {
    if (scores[j] == -infinity) continue;
    ++row.seen;
    row.log_sum_exp += weights[j] * std::expm1(errors[j]);
  }
  const double exact = expected.exact.log_sum_exp(b, h, i);
  row.log_sum_exp +=
      of_sum(by.unit, row.seen) + 2.0 * by.unit * std::abs(exact) + static_cast<double>(row.seen) * by.smallest;
  return row;
}

}  // namespace

double largest_output_error(const scene& where, const expectation& expected, const tensor<double, 4>& output,
                            const tensor<double, 3>& log_sum_exp, const roundings& by) {
  double largest = 0.0;
  each_token(where, [&](index_t b, index_t h, index_t i) {
    const row_bound row = bound_of_row(expected, b, h, i, by);
    const double exact_sum = expected.exact.log_sum_exp(b, h, i);
    if (row.seen == 0) {
      const bool kept = log_sum_exp(b, h, i) == exact_sum &&
                        std::ranges::all_of(output.view().row(b, h, i), [](double value) { return value == 0.0; });
      if (!kept) largest = infinity;
      return;
    }
    largest = std::max(largest, part_of(std::abs(log_sum_exp(b, h, i) - exact_sum), row.log_sum_exp));
    const auto weights = expected.exact.probabilities.view().row(b, h, i);
    const auto errors = expected.score_error.view().row(b, h, i);
    const index_t shared = key_head(where.layout, head_index{h});
    for (index_t d = 0; d < where.value_dim; ++d) {
      double bound = 0.0;
      for (index_t j = 0; j < where.call.keys(); ++j) {
        const auto at = static_cast<std::size_t>(j);
        if (expected.exact.scores(b, h, i, j) == -infinity) continue;
        const double magnitude = std::abs(expected.value(b, shared, j, d)) + expected.largest_value_row;
        const double change = std::expm1(errors[at] + row.log_sum_exp) + by.weight + 2.0 * of_sum(by.unit, row.seen);
        bound += magnitude * (weights[at] * change + by.smallest);
      }
      const double exact = expected.exact.output(b, h, i, d);
      bound += by.output * std::abs(exact);
      largest = std::max(largest, part_of(std::abs(output(b, h, i, d) - exact), bound));
    }
  });
  return largest;
}

double largest_score_error(const scene& where, const expectation& expected, index_t first,
                           const tensor<double, 4>& output, const roundings& by) {
  const index_t width = std::min(where.value_dim, where.call.keys() - first);
  double largest = 0.0;
  each_token(where, [&](index_t b, index_t h, index_t i) {
    const auto weights = expected.exact.probabilities.view().row(b, h, i).subspan(static_cast<std::size_t>(first));
    const auto scores = expected.exact.scores.view().row(b, h, i).subspan(static_cast<std::size_t>(first));
    const auto errors = expected.score_error.view().row(b, h, i).subspan(static_cast<std::size_t>(first));
    const auto got = output.view().row(b, h, i);
    const auto count = static_cast<std::size_t>(width);
    const auto top =
        static_cast<std::size_t>(std::max_element(weights.begin(), weights.begin() + width) - weights.begin());
    const double readable = std::exp(-30.0);
    const double of_weights = 2.0 * (16.0 * by.unit + by.weight);  // two exponentials, two quotients
    for (std::size_t d = 0; d < count; ++d) {
      if (scores[d] == -infinity) {
        if (got[d] != 0.0) largest = infinity;
      } else if (weights[d] > readable && weights[top] > readable) {
        const double error = std::log(got[d]) - std::log(got[top]) - (scores[d] - scores[top]);
        largest = std::max(largest, part_of(std::abs(error), errors[d] + errors[top] + of_weights));
      }
    }
  });
  return largest;
}

}  // namespace posgeo::test
