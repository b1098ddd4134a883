// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/attend/attend.hpp>

#include "agreement/scenes.hpp"

namespace posgeo::test {

/// What an executor should give, in double, and how far each score may be from it. docs/numerics.md derives the bounds.
struct expectation {
  attention_result<double> exact;  ///< with scores and probabilities
  tensor<double, 4> score_error;   ///< the bound on the error of each visible score
  tensor<double, 4> value;         ///< the values that were read, with finite numbers in hidden rows
  double largest_value_row = 0;    ///< no number of a value term is larger
};

/// The roundings of an executor.
struct roundings {
  double unit;      ///< half the epsilon of the type that it computes in, and of double
  double smallest;  ///< weights below it may be zero
  double weight;    ///< relative change of a weight before it meets the values
  double output;    ///< relative change of a number as it is written
};

/// The largest error of the outputs and log-sum-exps of tokens, as a part of its bound. Rows that see nothing must be
/// exact: infinity if they are not.
[[nodiscard]] double largest_output_error(const scene& where, const expectation& expected,
                                          const tensor<double, 4>& output, const tensor<double, 3>& log_sum_exp,
                                          const roundings& by);

/// The same for differences of scores, read from an output whose values were one at (first + d, d) and zero elsewhere:
/// then output d is the weight of key first + d, and log(weight) - log(weight') a difference of scores. Read where both
/// weights are above e^-30. Weights of hidden keys must be exactly zero.
[[nodiscard]] double largest_score_error(const scene& where, const expectation& expected, index_t first,
                                         const tensor<double, 4>& output, const roundings& by);

}  // namespace posgeo::test
