// SPDX-License-Identifier: MIT
#include <posgeo/visible/window.hpp>

#include "support/calls.hpp"
#include "support/refusal.hpp"
#include "support/visibility.hpp"

namespace {

using namespace posgeo;
using namespace posgeo::test;
using visible::window;

index_t seen_keys(const window& policy, const position_call& call) {
  const auto term = policy.compile<float>(call, heads{});
  index_t seen = 0;
  for_each_pair(call, [&](batch_index b, query_index i, key_index j, const seen_pair&) { seen += term(b, i, j); });
  return seen;
}

TEST_CASE("a window shows the keys within its reach of the query", "[window]") {
  const auto calls = random_calls(141);
  for (const index_t behind : {0, 1, 3, 20}) {
    for (const index_t ahead : {0, 2, 5}) {
      check_visibility(window{.behind = behind, .ahead = ahead}, calls, [&](const seen_pair& pair) {
        return pair.offset_within(-static_cast<double>(behind), static_cast<double>(ahead));
      });
    }
  }
}

TEST_CASE("a side without bound reaches to the last legal position", "[window]") {
  const auto calls = random_calls(142);
  constexpr double infinity = std::numeric_limits<double>::infinity();
  check_visibility(window{.behind = window::unbounded, .ahead = 1}, calls,
                   [](const seen_pair& pair) { return pair.offset_within(-infinity, 1.0); });
  check_visibility(window{.behind = 1, .ahead = window::unbounded}, calls,
                   [](const seen_pair& pair) { return pair.offset_within(-1.0, infinity); });
  check_visibility(window{.behind = window::unbounded, .ahead = window::unbounded}, calls,
                   [](const seen_pair&) { return true; });
  const index_t far[] = {-position_limit, 0, position_limit};
  const position_call ends = call_at({far[0], far[1], far[2]});
  CHECK(seen_keys(window{.behind = window::unbounded, .ahead = 0}, ends) == 6);
  CHECK(seen_keys(window{.behind = 0, .ahead = position_limit}, ends) == 5);
  CHECK(seen_keys(window{.behind = 0, .ahead = position_limit - 1}, ends) == 3);
}

TEST_CASE("the reach counts other keys and a width counts the own key as well", "[window]") {
  const position_call call = call::decode_step(512, 512);
  CHECK(seen_keys(window{.behind = 0, .ahead = 0}, call) == 1);
  CHECK(seen_keys(window{.behind = 128, .ahead = 0}, call) == 129);
  CHECK(seen_keys(window::counting_own_key(128), call) == 128);
  CHECK(seen_keys(window::counting_own_key(1), call) == 1);
  CHECK(window::counting_own_key(128).behind == 127);
  CHECK(window::counting_own_key(128).ahead == 0);
  CHECK(seen_keys(window{.behind = 1, .ahead = 2}, call_at({10}, {7, 8, 9, 10, 11, 12, 13})) == 4);
}

TEST_CASE("only a window that does not look ahead promises to hide the future", "[window]") {
  CHECK(includes(window{.behind = 3, .ahead = 0}.hidden(), hides::future));
  CHECK(includes(window::counting_own_key(4).hidden(), hides::future));
  CHECK_FALSE(includes(window{.behind = 3, .ahead = 1}.hidden(), hides::future));
  CHECK(includes(window{.behind = 3, .ahead = 1}.hidden(), hides::distant));
}

TEST_CASE("a window names exactly the visible keys of affine rows", "[window]") {
  for (const index_t behind : {0, 2, 6}) {
    const window policy{.behind = behind, .ahead = behind / 2};
    CHECK(wasted_keys(policy, call::prefill_chunk(9, 5)) == 0);
    CHECK(wasted_keys(policy, call::decode_step(11, 11)) == 0);
  }
}

TEST_CASE("a window refuses negative bounds and positions of two frames", "[window]") {
  const auto refused = [](const window& policy, const position_call& call) {
    return refusal([&] { (void)policy.compile<float>(call, heads{}); }).code();
  };
  CHECK(refused({.behind = -1, .ahead = 0}, call::decode_step(3, 3)) == errc::window_bounds);
  CHECK(refused({.behind = 1, .ahead = -1}, call::decode_step(3, 3)) == errc::window_bounds);
  CHECK(refusal([] { return window::counting_own_key(0); }).code() == errc::window_bounds);
  for (const position_call& call : random_cross_calls(143)) {
    CHECK(refused({.behind = 1, .ahead = 0}, call) == errc::frame_mismatch);
  }
}

TEST_CASE("a window without bounds promises no more than what it is", "[window]") {
  CHECK(window{.behind = window::unbounded, .ahead = 0}.hidden() == hides::future);
  CHECK(window{.behind = window::unbounded, .ahead = window::unbounded}.hidden() == hides::nothing);
  CHECK(window{.behind = window::unbounded, .ahead = 2}.hidden() == hides::distant);
}

}  // namespace
