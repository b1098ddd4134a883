// SPDX-License-Identifier: MIT
#include <posgeo/attend/eager.hpp>
#include <posgeo/bias/alibi.hpp>
#include <posgeo/call/cross_attention.hpp>
#include <posgeo/model/attention.hpp>
#include <posgeo/scale/inverse_sqrt_head_dim.hpp>
#include <posgeo/visible/causal.hpp>
#include <posgeo/visible/everything.hpp>

#include "support/attention_inputs.hpp"
#include "support/calls.hpp"
#include "support/catch.hpp"
#include "support/refusal.hpp"

namespace alibi_test {

using namespace posgeo;
using namespace posgeo::test;
using bias::alibi;
using bias::alibi_direction;
using bias::alibi_slopes;

static_assert(score_bias<alibi, float> && score_bias<alibi, double> && looks_back_only<alibi>);

const alibi symmetric(alibi_slopes::reference(3), alibi_direction::symmetric);
const alibi causal(alibi_slopes::reference(3), alibi_direction::causal);
constexpr heads three{.query = 3, .key_value = 1, .dim = 4};
const std::vector<index_t> queries{9, -2, 5};
const std::vector<index_t> keys{0, 9, 14, -7, 5};

TEST_CASE("alibi subtracts slope times distance", "[alibi]") {
  CHECK(causal.looks_back_only());
  CHECK_FALSE(symmetric.looks_back_only());
  for (const alibi& policy : {symmetric, causal}) {
    const auto term = policy.compile<double>(call_at(queries, keys), three);
    for (const head_index h : indices<head_index>(3)) {
      for (std::size_t i = 0; i < queries.size(); ++i) {
        for (std::size_t j = 0; j < keys.size(); ++j) {
          if (policy.looks_back_only() && keys[j] > queries[i]) continue;
          const auto distance = static_cast<double>(std::abs(queries[i] - keys[j]));
          CHECK(term(batch_index{0}, h, query_index{static_cast<index_t>(i)}, key_index{static_cast<index_t>(j)}) ==
                -policy.slopes()[h] * distance);
        }
      }
    }
  }
}

TEST_CASE("causal alibi needs an attention that hides the future", "[alibi]") {
  const attention open{three, scale::inverse_sqrt_head_dim{}, visible::everything{}, causal};
  CHECK(codes(open.check(call_at({0, 1}))) == std::vector{errc::future_visible});
  const attention closed{three, scale::inverse_sqrt_head_dim{}, visible::causal{}, causal};
  CHECK(closed.check(call_at({0, 1})).empty());
  const attention both_ways{three, scale::inverse_sqrt_head_dim{}, visible::everything{}, symmetric};
  CHECK(both_ways.check(call_at({0, 1})).empty());
}

TEST_CASE("alibi distances are integers wherever the rows stand", "[alibi]") {
  for (const index_t far : {index_t{1} << 40, -(index_t{1} << 40) - 12345, position_limit - 50}) {
    const auto near_term = symmetric.compile<float>(call_at(queries, keys), three);
    auto far_queries = queries;
    auto far_keys = keys;
    for (index_t& p : far_queries) p += far;
    for (index_t& p : far_keys) p += far;
    const auto far_term = symmetric.compile<float>(call_at(far_queries, far_keys), three);
    for (const head_index h : indices<head_index>(3)) {
      for (const query_index i : indices<query_index>(3)) {
        for (const key_index j : indices<key_index>(5)) {
          CHECK(far_term(batch_index{0}, h, i, j) == near_term(batch_index{0}, h, i, j));
        }
      }
    }
  }
}

TEST_CASE("alibi is added after the scale whatever the head dimension", "[alibi]") {
  const auto call = call_at(queries, keys);
  const auto term = symmetric.compile<double>(call, three);
  for (const index_t dim : {1, 4, 64}) {
    const heads layout{.query = 3, .key_value = 1, .dim = dim};
    const attention_inputs<double> in(layout, call, 2, 91);
    const attention with{layout, scale::inverse_sqrt_head_dim{}, visible::everything{}, symmetric};
    const attention without{layout, scale::inverse_sqrt_head_dim{}, visible::everything{}};
    const auto biased = attend(eager{}, with.compile<double>(call), in.view(), also::scores).scores;
    const auto plain = attend(eager{}, without.compile<double>(call), in.view(), also::scores).scores;
    for (const head_index h : indices<head_index>(3)) {
      for (const query_index i : indices<query_index>(3)) {
        for (const key_index j : indices<key_index>(5)) {
          CHECK_THAT(biased(0, h.value(), i.value(), j.value()) - plain(0, h.value(), i.value(), j.value()),
                     WithinAbs(term(batch_index{0}, h, i, j), 1e-14));
        }
      }
    }
  }
}

TEST_CASE("alibi refuses other head counts and two frames", "[alibi]") {
  const auto call = call_at({0, 1});
  CHECK(refusal([&] { return causal.compile<float>(call, {.query = 4, .key_value = 1, .dim = 4}); }).code() ==
        errc::slope_count);
  const std::vector<index_t> lengths{2};
  const auto cross =
      call::cross_attention({.target_lengths = lengths, .source_lengths = lengths, .target_rows = 2, .source_rows = 2});
  CHECK(refusal([&] { return symmetric.compile<float>(cross, three); }).code() == errc::frame_mismatch);
}

}  // namespace alibi_test
