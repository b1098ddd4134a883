// SPDX-License-Identifier: MIT
#include <posgeo/call/padded_batch.hpp>
#include <posgeo/visible/within_hops.hpp>

#include "support/calls.hpp"
#include "support/catch.hpp"
#include "support/random_graphs.hpp"
#include "support/refusal.hpp"
#include "support/visibility.hpp"

namespace within_hops_test {

using namespace posgeo;
using namespace posgeo::test;
using coordinate::graph_rows;
using coordinate::graph_token;
using visible::unreachable_pairs;
using visible::within_hops;
using visible::within_hops_settings;

static_assert(visibility<within_hops>);

TEST_CASE("a node sees as far as the hops reach and the token sees all", "[within_hops]") {
  dice roll(391);
  index_t hidden = 0;
  for (int round = 0; round < 20; ++round) {
    const graph_rows rows({random_graph(roll, 6, 0.2)}, graph_token::at(-1));
    std::vector<index_t> at = random_order(roll, 7);
    for (index_t& position : at) --position;
    const auto call = call_at(at);
    for (const auto unreachable : {unreachable_pairs::hidden, unreachable_pairs::seen}) {
      for (const index_t most : {0, 1, 2, 5}) {
        check_visibility(within_hops(rows, {.most = most, .unreachable = unreachable}), {call},
                         [&](const seen_pair& pair) {
                           if (pair.query_position == -1 || pair.key_position == -1) return true;
                           const auto distance = rows.paths(0).distance(pair.query_position, pair.key_position);
                           const bool sees = distance ? *distance <= most : unreachable == unreachable_pairs::seen;
                           hidden += sees ? 0 : 1;
                           return sees;
                         });
      }
    }
  }
  CHECK(hidden > 100);
}

TEST_CASE("padding is left to the policy that hides it", "[within_hops]") {
  const graph_rows rows({coordinate::graph::directed(3, {})}, graph_token::none());
  const std::vector<index_t> lengths{2};
  const auto call = call::padded_batch({.lengths = lengths,
                                        .rows = 3,
                                        .side = call::padding_side::right,
                                        .positions = call::padded_positions::contiguous()});
  const within_hops policy(rows, {.most = 3, .unreachable = unreachable_pairs::hidden});
  CHECK(policy.hidden() == hides::distant);
  const auto sees = policy.compile<float>(call, heads{});
  CHECK(sees(batch_index{0}, query_index{0}, key_index{2}));
  CHECK(sees(batch_index{0}, query_index{2}, key_index{0}));
  CHECK_FALSE(sees(batch_index{0}, query_index{0}, key_index{1}));
}

TEST_CASE("the release and Transformers cut at different hops", "[within_hops]") {
  const auto reach = [](const within_hops_settings& s) {
    return std::pair{index_t{s.most}, s.unreachable == unreachable_pairs::seen};
  };
  CHECK(reach(within_hops_settings::graphormer(20)) == std::pair<index_t, bool>{19, false});
  CHECK(reach(within_hops_settings::transformers(20)) == std::pair<index_t, bool>{18, false});
  CHECK(reach(within_hops_settings::graphormer(510)) == std::pair<index_t, bool>{509, false});
  CHECK(reach(within_hops_settings::graphormer(511)) == std::pair<index_t, bool>{510, true});
  CHECK(reach(within_hops_settings::transformers(511)) == std::pair<index_t, bool>{509, false});
  CHECK(reach(within_hops_settings::transformers(512)) == std::pair<index_t, bool>{510, true});
}

TEST_CASE("a reach below zero and rows that are no nodes are refused", "[within_hops]") {
  const graph_rows rows({coordinate::graph::directed(3, {})}, graph_token::none());
  CHECK(refusal([&] { return within_hops(rows, within_hops_settings::graphormer(0)); }).code() == errc::window_bounds);
  const within_hops policy(rows, within_hops_settings::graphormer(1));
  CHECK(refusal([&] { return policy.compile<float>(call_at({3}), heads{}); }).code() == errc::graph_structure);
}

}  // namespace within_hops_test
