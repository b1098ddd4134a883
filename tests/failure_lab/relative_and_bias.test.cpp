// SPDX-License-Identifier: MIT
#include <posgeo/bias/learned_relative.hpp>
#include <posgeo/bias/pair.hpp>
#include <posgeo/call/decode_step.hpp>
#include <posgeo/call/prefill_chunk.hpp>
#include <posgeo/scale/none.hpp>
#include <posgeo/visible/causal.hpp>
#include <posgeo/visible/everything.hpp>

#include <algorithm>
#include <array>
#include <functional>
#include <set>

#include "support/attention_inputs.hpp"
#include "support/calls.hpp"
#include "support/catch.hpp"
#include "support/one_layer.hpp"
#include "support/refusal.hpp"

// Each case builds a mistake whose every tensor has the right shape, and shows what catches it.
namespace relative_and_bias_lab {

using namespace posgeo;
using namespace posgeo::test;

coordinate::t5_bucket buckets(coordinate::bucket_direction direction) {
  return coordinate::t5_bucket({.num_buckets = 32, .max_distance = 128, .direction = direction});
}

/// What bias a model adds for head h, query row i and key row j of entry 0.
template <class Plan>
typename Plan::scalar bias_of(const Plan& plan, index_t h, index_t i, index_t j) {
  return plan.bias(batch_index{0}, head_index{h}, query_index{i}, key_index{j});
}

/// T5's buckets with every offset negated: what a reversed subtraction reads of the same call.
struct reversed_buckets {
  coordinate::t5_bucket bucket;
  [[nodiscard]] index_t classes() const noexcept { return bucket.num_buckets(); }
  void check(const position_call& call, std::string_view object, violations& found) const {
    expect_same_frame(call, object, found);
  }
  [[nodiscard]] index_t operator()(relative_offset offset) const noexcept {
    return bucket(relative_offset{-offset.value()});
  }
};

TEST_CASE("subtracting the other way round at inference", "[failure_lab]") {
  // An asymmetric rectangle: one query at 5, keys on both sides of it at unequal distances.
  const auto call = call_at({5}, {2, 3, 6, 9});
  const std::array<index_t, 4> right_rows{3, 2, 17, 20};
  const std::array<index_t, 4> reversed_rows{19, 18, 1, 4};
  const auto weights = random_table(32, 2, 101);
  const auto bucket = buckets(coordinate::bucket_direction::bidirectional);
  const auto compiled = [&](const auto& policy) {
    const attention model{heads{.query = 2, .key_value = 2, .dim = 3}, scale::none{}, policy, visible::everything{}};
    return model.template compile<double>(call);
  };
  const auto right = compiled(bias::t5<double>(weights, bucket));
  const auto wrong = compiled(bias::learned_relative<double, reversed_buckets>(weights, {bucket}));
  for (index_t h = 0; h < 2; ++h) {
    for (index_t j = 0; j < 4; ++j) {
      const auto n = static_cast<std::size_t>(j);
      CHECK(bias_of(right, h, 0, j) == weights(right_rows[n], h));
      CHECK(bias_of(wrong, h, 0, j) == weights(reversed_rows[n], h));
      CHECK(difference(bias_of(right, h, 0, j), bias_of(wrong, h, 0, j)) > 1e-3);
    }
  }
}

TEST_CASE("a finite bias used as a mask", "[failure_lab]") {
  const auto call = call_at({4}, {3, 4, 5});
  const heads layout{.query = 1, .key_value = 1, .dim = 2};
  attention_inputs<double> in(layout, call, 3, 102);
  for (double& q : in.query.values()) q *= 8.0;  // content that argues loudly
  tensor<double, 4> penalty({1, 1, 1, 3});
  penalty(0, 0, 0, 2) = -30.0;
  const auto weight_of_future = [&](const auto&... policy) {
    const attention model{layout, scale::none{}, policy...};
    return attend(eager{}, model.template compile<double>(call), in.view(), also::probabilities)
        .probabilities(0, 0, 0, 2);
  };
  CHECK(weight_of_future(bias::pair<double>(penalty.view()), visible::everything{}) > 0.0);
  CHECK(weight_of_future(bias::pair<double>(penalty.view()), visible::causal{}) == 0.0);
  // And a bias of zero, or a large reward, shows no hidden key.
  penalty(0, 0, 0, 2) = 1e4;
  CHECK(weight_of_future(bias::pair<double>(penalty.view()), visible::causal{}) == 0.0);
}

TEST_CASE("decode offsets built from a local range", "[failure_lab]") {
  const index_t past = 6;
  const auto right = call::decode_step(past, past);
  const auto local = call_at({0}, counted(0, past + 1));
  for (index_t j = 0; j <= past; ++j) {
    const batch_index b{0};
    CHECK(right.offset(b, query_index{0}, key_index{j}).value() == j - past);
    CHECK(local.offset(b, query_index{0}, key_index{j}).value() == j);
  }
  CHECK(refusal([&] { (void)call::decode_step(past, 0); }).code() == errc::committed_length);
}

TEST_CASE("bidirectional buckets in a causal decoder", "[failure_lab]") {
  const auto both = buckets(coordinate::bucket_direction::bidirectional);
  const auto causal = buckets(coordinate::bucket_direction::causal);
  // Frozen ids of 32 buckets up to distance 128, as the released models were trained with.
  const std::array<index_t, 12> distances{0, 1, 7, 8, 11, 12, 16, 20, 31, 64, 127, 1000};
  const std::array<index_t, 12> both_back{0, 1, 7, 8, 8, 9, 10, 10, 11, 14, 15, 15};
  const std::array<index_t, 12> both_ahead{0, 17, 23, 24, 24, 25, 26, 26, 27, 30, 31, 31};
  const std::array<index_t, 12> causal_back{0, 1, 7, 8, 11, 12, 16, 17, 21, 26, 31, 31};
  for (std::size_t n = 0; n < distances.size(); ++n) {
    CAPTURE(distances[n]);
    CHECK(both(relative_offset{-distances[n]}) == both_back[n]);
    CHECK(both(relative_offset{distances[n]}) == both_ahead[n]);
    CHECK(causal(relative_offset{-distances[n]}) == causal_back[n]);
    CHECK(causal(relative_offset{distances[n]}) == 0);
  }
  std::set<index_t> read_both;
  std::set<index_t> read_causal;
  index_t same = 0;
  for (index_t distance = 0; distance < 512; ++distance) {
    const relative_offset back{-distance};
    read_both.insert(both(back));
    read_causal.insert(causal(back));
    same += both(back) == causal(back) ? 1 : 0;
  }
  // Half of the table is never addressed, and behind the first distance beyond the exact range no bucket agrees.
  CHECK(read_both.size() == 16);
  CHECK(read_causal.size() == 32);
  CHECK(same == both.max_exact() + 1);
  // The other way round the guard speaks: causal buckets where the future is seen.
  const std::vector<double> zeros(32);
  const attention model{heads{}, scale::none{}, bias::t5<double>(table<double>(zeros, 32, 1), causal),
                        visible::everything{}};
  CHECK(refusal([&] { (void)model.compile<double>(call::prefill_chunk(0, 3)); }).code() == errc::future_visible);
}

TEST_CASE("per head slopes under another order of heads", "[failure_lab]") {
  // The slopes of the released models, written down: 2^-1 .. 2^-8, and for twelve heads every second one of sixteen,
  // 2^-0.5, 2^-1.5, 2^-2.5 and 2^-3.5, behind them.
  const auto eight = bias::alibi_slopes::reference(8);
  const std::array<double, 8> eight_slopes{0.5, 0.25, 0.125, 0.0625, 0.03125, 0.015625, 0.0078125, 0.00390625};
  for (index_t h = 0; h < 8; ++h) CHECK(eight[head_index{h}] == eight_slopes[static_cast<std::size_t>(h)]);
  const std::array<double, 4> last_four{0.7071067811865476, 0.3535533905932738, 0.1767766952966369,
                                        0.08838834764831845};
  // Twelve heads: no power of two, so the slopes are not sorted, and sorting or slicing them locally changes heads.
  const index_t count = 12;
  const auto all = bias::alibi_slopes::reference(count);
  for (index_t h = 0; h < 8; ++h) CHECK(all[head_index{h}] == eight_slopes[static_cast<std::size_t>(h)]);
  for (index_t h = 8; h < 12; ++h) {
    CHECK_THAT(all[head_index{h}], WithinRel(last_four[static_cast<std::size_t>(h - 8)], 1e-14));
  }
  // They penalise: three tokens back, head 1 loses three quarters of a unit.
  const attention penalised{heads{.query = 8, .key_value = 8, .dim = 2}, scale::none{},
                            bias::alibi(eight, bias::alibi_direction::causal), visible::causal{}};
  CHECK(bias_of(penalised.compile<double>(call::prefill_chunk(0, 4)), 1, 3, 0) == -0.75);
  std::vector<double> sorted;
  for (index_t h = 0; h < count; ++h) sorted.push_back(all[head_index{h}]);
  std::sort(sorted.begin(), sorted.end(), std::greater<>());
  index_t moved = 0;
  for (index_t h = 0; h < count; ++h) moved += sorted[static_cast<std::size_t>(h)] != all[head_index{h}] ? 1 : 0;
  CHECK(moved > 6);
  // A rank that owns heads 6..11 slices by global head; generating six slopes of its own is another model.
  const auto owned = all.slice(6, 6);
  const auto own_recipe = bias::alibi_slopes::reference(6);
  for (index_t h = 0; h < 6; ++h) CHECK(owned[head_index{h}] == all[head_index{h + 6}]);
  CHECK(owned[head_index{0}] != own_recipe[head_index{0}]);
  // The guard: slopes for another number of heads are refused.
  const attention model{heads{.query = count, .key_value = 4, .dim = 2}, scale::none{},
                        bias::alibi(owned, bias::alibi_direction::causal), visible::causal{}};
  CHECK(refusal([&] { (void)model.compile<double>(call::prefill_chunk(0, 3)); }).code() == errc::slope_count);
}

}  // namespace relative_and_bias_lab
