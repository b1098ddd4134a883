// SPDX-License-Identifier: MIT
#include <posgeo/attend/eager.hpp>
#include <posgeo/bias/alibi.hpp>
#include <posgeo/bias/alibi_key_position.hpp>
#include <posgeo/call/cross_attention.hpp>
#include <posgeo/call/prefill_chunk.hpp>
#include <posgeo/model/attention.hpp>
#include <posgeo/scale/inverse_sqrt_head_dim.hpp>
#include <posgeo/visible/causal.hpp>

#include "support/attention_inputs.hpp"
#include "support/calls.hpp"
#include "support/catch.hpp"
#include "support/compare.hpp"
#include "support/refusal.hpp"

namespace alibi_key_position_test {

using namespace posgeo;
using namespace posgeo::test;
using bias::alibi_key_position;
using bias::alibi_slopes;

static_assert(score_bias<alibi_key_position, float> && score_bias<alibi_key_position, double>);

constexpr heads layout{.query = 6, .key_value = 2, .dim = 5};

TEST_CASE("the key-position form gives the same weights and other scores", "[alibi_key_position]") {
  const auto call = call::prefill_chunk(4, 3);
  const attention_inputs<double> in(layout, call, 3, 101);
  const auto slopes = alibi_slopes::reference(6);
  const auto run = [&](const auto& policy) {
    const attention model{layout, scale::inverse_sqrt_head_dim{}, visible::causal{}, policy};
    return attend(eager{}, model.template compile<double>(call), in.view(), also::everything);
  };
  const auto by_distance = run(bias::alibi(slopes, bias::alibi_direction::causal));
  for (const index_t origin_shift : {0, 1 - 7, 1000}) {
    const auto by_key = run(alibi_key_position(slopes, origin_shift));
    CHECK(largest_difference(by_key.probabilities.values(), by_distance.probabilities.values()) < 1e-12);
    CHECK(largest_difference(by_key.output.values(), by_distance.output.values()) < 1e-12);
    for (const head_index h : indices<head_index>(6)) {
      for (const query_index i : indices<query_index>(3)) {
        const double row_constant = slopes[h] * static_cast<double>(call.at(batch_index{0}, i).value() + origin_shift);
        CHECK_THAT(by_key.log_sum_exp(0, h.value(), i.value()) - by_distance.log_sum_exp(0, h.value(), i.value()),
                   WithinAbs(row_constant, 1e-12));
        CHECK_THAT(by_key.scores(0, h.value(), i.value(), 2) - by_distance.scores(0, h.value(), i.value(), 2),
                   WithinAbs(row_constant, 1e-12));
      }
    }
  }
}

TEST_CASE("the key-position form refuses what it cannot mean", "[alibi_key_position]") {
  const alibi_key_position policy(alibi_slopes::reference(6), 0);
  CHECK(policy.looks_back_only());
  const auto refused = [&](const position_call& call, index_t query_heads) {
    return refusal([&] { return policy.compile<float>(call, {.query = query_heads, .key_value = 1, .dim = 2}); })
        .code();
  };
  CHECK(refused(call_at({0, 1}), 5) == errc::slope_count);
  const std::vector<index_t> lengths{2};
  const auto cross =
      call::cross_attention({.target_lengths = lengths, .source_lengths = lengths, .target_rows = 2, .source_rows = 2});
  CHECK(refused(cross, 6) == errc::frame_mismatch);
  CHECK(refusal([] { return alibi_key_position(alibi_slopes::reference(6), position_limit + 1); }).code() ==
        errc::position_overflow);
}

}  // namespace alibi_key_position_test
