// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/visible/visibility.hpp>

#include <vector>

#include "support/catch.hpp"
#include "support/random_calls.hpp"

namespace posgeo::test {

/// What a definition of visibility may know about a pair.
struct seen_pair {
  index_t query_position;
  index_t key_position;
  index_t query_sequence;
  index_t key_sequence;
  bool key_active;
  /// key_position - query_position lies in [low, high], formed without overflow.
  [[nodiscard]] bool offset_within(double low, double high) const {
    __extension__ using wide = __int128;
    const auto offset = static_cast<double>(static_cast<wide>(key_position) - static_cast<wide>(query_position));
    return low <= offset && offset <= high;
  }
};

/// Calls visit(b, i, j, pair) for every pair of a call.
template <class Visit>
void for_each_pair(const position_call& call, const Visit& visit) {
  for (const batch_index b : indices<batch_index>(call.batch())) {
    for (const query_index i : indices<query_index>(call.queries())) {
      for (const key_index j : indices<key_index>(call.keys())) {
        visit(b, i, j,
              seen_pair{call.at(b, i).value(), call.at(b, j).value(), call.sequence(b, i), call.sequence(b, j),
                        call.active(b, j)});
      }
    }
  }
}

/// A policy sees exactly the pairs of the definition, names a range that holds them all, and keeps its promises.
template <visibility Policy, class Definition>
void check_visibility(const Policy& policy, const std::vector<position_call>& calls, const Definition& sees) {
  for (const position_call& call : calls) {
    const auto term = policy.template compile<float>(call, heads{});
    const hides promise = policy.hidden();
    for_each_pair(call, [&](batch_index b, query_index i, key_index j, const seen_pair& pair) {
      const bool seen = term(b, i, j);
      CAPTURE(b.value(), i.value(), j.value(), pair.query_position, pair.key_position);
      REQUIRE(seen == sees(pair));
      const key_range range = term.keys(b, i);
      REQUIRE(range.begin.value() >= 0);
      REQUIRE(range.end.value() <= call.keys());
      if (!seen) return;
      REQUIRE((range.begin <= j && j < range.end));
      if (includes(promise, hides::padding)) REQUIRE(pair.key_active);
      if (includes(promise, hides::other_segments)) REQUIRE(pair.key_sequence == pair.query_sequence);
      if (includes(promise, hides::future)) REQUIRE(pair.key_position <= pair.query_position);
    });
  }
}

/// How many keys of the ranges that a policy names it does not see.
template <visibility Policy>
[[nodiscard]] index_t wasted_keys(const Policy& policy, const position_call& call) {
  const auto term = policy.template compile<float>(call, heads{});
  index_t wasted = 0;
  for (const batch_index b : indices<batch_index>(call.batch())) {
    for (const query_index i : indices<query_index>(call.queries())) {
      const key_range range = term.keys(b, i);
      for (const key_index j : indices<key_index>(range.begin, range.end)) wasted += term(b, i, j) ? 0 : 1;
    }
  }
  return wasted;
}

/// Cross-attention calls: what does not subtract positions must work across frames.
[[nodiscard]] inline std::vector<position_call> random_cross_calls(unsigned seed) {
  dice roll(seed);
  std::vector<position_call> out;
  for (int round = 0; round < 20; ++round) out.push_back(random_cross(roll));
  return out;
}

}  // namespace posgeo::test
