// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/attend/eager.hpp>
#include <posgeo/model/attention.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

#include "support/attention_inputs.hpp"
#include "support/compare.hpp"

namespace posgeo::test {

/// The largest difference between the model's scores and log-sum-exp and those of the raw score
/// query . key + extra(b, h, i, j, query row, key row), times the scale. Padded queries are left out.
template <class Model, class Extra>
[[nodiscard]] double score_error(const Model& model, const position_call& call, const attention_inputs<double>& in,
                                 double scale, const Extra& extra) {
  const auto plan = model.template compile<double>(call);
  const auto got = attend(eager{}, plan, in.view(), also::everything);
  double largest = 0.0;
  for (const batch_index b : indices<batch_index>(call.batch())) {
    for (const head_index h : indices<head_index>(plan.layout().query)) {
      for (const query_index i : indices<query_index>(call.queries())) {
        if (!call.active(b, i)) continue;
        const auto q = in.query.view().row(b.value(), h.value(), i.value());
        double total = 0.0;
        for (const key_index j : indices<key_index>(call.keys())) {
          const auto k = in.key.view().row(b.value(), key_head(plan.layout(), h), j.value());
          const double score = plan.visible(b, i, j) ? scale * (dot(q, k) + extra(b, h, i, j, q, k))
                                                     : -std::numeric_limits<double>::infinity();
          largest = std::max(largest, difference(got.scores(b.value(), h.value(), i.value(), j.value()), score));
          total += std::exp(score);
        }
        largest = std::max(largest, difference(got.log_sum_exp(b.value(), h.value(), i.value()), std::log(total)));
      }
    }
  }
  return largest;
}

}  // namespace posgeo::test
