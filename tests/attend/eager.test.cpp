// SPDX-License-Identifier: MIT
#include <posgeo/attend/eager.hpp>
#include <posgeo/bias/pair.hpp>
#include <posgeo/call/explicit_positions.hpp>
#include <posgeo/call/padded_batch.hpp>
#include <posgeo/model/attention.hpp>
#include <posgeo/scale/constant.hpp>
#include <posgeo/scale/inverse_sqrt_head_dim.hpp>
#include <posgeo/visible/active.hpp>
#include <posgeo/visible/causal.hpp>
#include <posgeo/visible/everything.hpp>

#include <cmath>
#include <limits>

#include "support/attention_inputs.hpp"
#include "support/catch.hpp"

namespace {

using namespace posgeo;
using posgeo::test::attention_inputs;

/// Attention written a second time, pair by pair, in double: the score order of docs/conventions.md, no tensors.
template <class Plan>
attention_result<double> by_hand(const Plan& plan, const qkv<double>& in) {
  const index_t batch = plan.call().batch();
  const index_t queries = plan.call().queries();
  const index_t keys = plan.call().keys();
  const index_t width = in.value.extent(3);
  attention_result<double> out{tensor<double, 4>({batch, plan.layout().query, queries, width}),
                               tensor<double, 3>({batch, plan.layout().query, queries}),
                               {},
                               {}};
  for (const batch_index b : indices<batch_index>(batch)) {
    for (const head_index h : indices<head_index>(plan.layout().query)) {
      const index_t shared = key_head(plan.layout(), h);
      for (const query_index i : indices<query_index>(queries)) {
        std::vector<double> scores(static_cast<std::size_t>(keys), -INFINITY);
        double largest = -INFINITY;
        for (const key_index j : indices<key_index>(keys)) {
          if (!plan.visible(b, i, j)) continue;
          double dot = 0.0;
          const auto q = in.query.row(b.value(), h.value(), i.value());
          const auto k = in.key.row(b.value(), shared, j.value());
          for (std::size_t d = 0; d < q.size(); ++d) dot += q[d] * k[d];
          const double score = dot * plan.scale() + plan.bias(b, h, i, j);
          scores[static_cast<std::size_t>(j.value())] = score;
          largest = std::max(largest, score);
        }
        double sum = 0.0;
        for (const double score : scores) sum += score == -INFINITY ? 0.0 : std::exp(score - largest);
        out.log_sum_exp(b.value(), h.value(), i.value()) = sum == 0.0 ? -INFINITY : largest + std::log(sum);
        for (index_t j = 0; j < keys; ++j) {
          const double score = scores[static_cast<std::size_t>(j)];
          if (score == -INFINITY) continue;
          for (index_t d = 0; d < width; ++d) {
            out.output(b.value(), h.value(), i.value(), d) +=
                std::exp(score - largest) / sum * in.value.row(b.value(), shared, j)[static_cast<std::size_t>(d)];
          }
        }
      }
    }
  }
  return out;
}

TEST_CASE("eager agrees with attention written pair by pair", "[eager]") {
  const std::vector<index_t> lengths{3, 7, 1};
  const position_call call =
      call::padded_batch({.lengths = lengths, .rows = 7, .positions = call::padded_positions::contiguous(5)});
  const heads layout{.query = 6, .key_value = 2, .dim = 5};
  const attention_inputs<double> in(layout, call, 3, 11);
  const auto bias = posgeo::test::random_tensor<double, 4>({1, 6, 7, 1}, 17);
  const attention model{layout, scale::inverse_sqrt_head_dim{}, visible::active{}, visible::causal{},
                        bias::pair<double>{bias.view()}};
  const auto plan = model.compile<double>(call);
  const auto expected = by_hand(plan, in.view());
  const auto actual = attend(eager{}, plan, in.view(), also::log_sum_exp);
  for (std::size_t n = 0; n < expected.output.values().size(); ++n) {
    REQUIRE_THAT(actual.output.values()[n], posgeo::test::WithinAbs(expected.output.values()[n], 1e-13));
  }
  for (std::size_t n = 0; n < expected.log_sum_exp.values().size(); ++n) {
    REQUIRE_THAT(actual.log_sum_exp.values()[n], posgeo::test::WithinAbs(expected.log_sum_exp.values()[n], 1e-13));
  }
}

}  // namespace
