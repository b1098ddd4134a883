// SPDX-License-Identifier: MIT
#include <posgeo/attend/eager.hpp>
#include <posgeo/bias/pair.hpp>
#include <posgeo/contract/geometry_cache.hpp>
#include <posgeo/core/named.hpp>

#include <functional>

#include "contract/family_models.hpp"
#include "support/attention_inputs.hpp"
#include "support/calls.hpp"
#include "support/catch.hpp"
#include "support/compare.hpp"
#include "support/random_calls.hpp"
#include "support/refusal.hpp"

namespace geometry_cache_test {

using namespace posgeo;
using namespace posgeo::test;
using namespace posgeo::contract;

TEST_CASE("the same method and call give the same plan", "[geometry_cache]") {
  geometry_cache plans({.capacity = 4});
  const auto first = plans.plan_for(seen_by_all(small_t5()), call_at({3, 5}, {0, 4, 5}));
  CHECK(plans.counters() == geometry_counters{.hits = 0, .misses = 1, .evictions = 0});
  // Another attention with equal numbers, another call with equal rows.
  const auto second = plans.plan_for(seen_by_all(small_t5()), call_at({3, 5}, {0, 4, 5}));
  CHECK(first == second);
  CHECK(plans.counters() == geometry_counters{.hits = 1, .misses = 1, .evictions = 0});
  CHECK(plans.size() == 1);
}

TEST_CASE("two calls of as many queries and keys and other starts share nothing", "[geometry_cache]") {
  geometry_cache plans({.capacity = 64});
  const auto model = seen_by_all(small_t5(), small_rotary(), visible::causal{});
  const auto right = plans.plan_for(model, call::decode_step(/*committed_length=*/4, /*query_position=*/4));
  // As many queries and keys, and the query at the place of a younger one: what (Q, K) alone would take for the same.
  const auto other = plans.plan_for(model, call_at({0}, {0, 1, 2, 3, 4}));
  CHECK(static_cast<const void*>(right.get()) != static_cast<const void*>(other.get()));
  const auto bias_of = [](const auto& plan, index_t key) {
    return plan->bias(batch_index{0}, head_index{1}, query_index{0}, key_index{key});
  };
  CHECK(bias_of(right, 0) != bias_of(other, 0));
  index_t misses = 2;
  for (const index_t start : {1, 2, 5, 9}) {
    const auto moved = plans.plan_for(model, call_at({4 + start}, {start, 1 + start, 2 + start, 3 + start, 4 + start}));
    CHECK(moved->call().at(batch_index{0}, key_index{0}) == position{start});
    CHECK(plans.counters().misses == ++misses);
  }
  CHECK(plans.counters().hits == 0);
}

TEST_CASE("a plan of the cache is the plan that compile makes", "[geometry_cache]") {
  geometry_cache plans({.capacity = 8});
  const auto model = seen_by_all(small_t5(), small_shaw_key());
  const auto call = call_at({7, 3}, {1, 4, 2, 9});
  (void)plans.plan_for<double>(model, call_at({6, 3}, {1, 4, 2, 9}));
  (void)plans.plan_for<double>(model, call);
  const auto kept = plans.plan_for<double>(model, call);
  CHECK(plans.counters().hits == 1);
  const attention_inputs<double> in(model.layout(), call, 3, 80);
  const auto a = attend(eager{}, *kept, in.view(), also::everything);
  const auto b = attend(eager{}, model.compile<double>(call), in.view(), also::everything);
  CHECK(largest_difference(a.scores.values(), b.scores.values()) == 0.0);
}

TEST_CASE("every part of the identity counts", "[geometry_cache]") {
  const auto call = call_at({3, 5}, {0, 4, 5});
  const auto expect_other = [&](const auto& ask) {
    geometry_cache plans({.capacity = 4});
    (void)plans.plan_for(seen_by_all(small_t5()), call);
    ask(plans);
    CHECK(plans.counters() == geometry_counters{.hits = 0, .misses = 2, .evictions = 0});
  };
  expect_other([&](auto& plans) { (void)plans.template plan_for<double>(seen_by_all(small_t5()), call); });
  expect_other([&](auto& plans) { (void)plans.plan_for(seen_by_all(small_alibi()), call); });
  expect_other([&](auto& plans) {
    const bias::t5<float> others(floats(8, 2, 99), few_buckets(coordinate::bucket_direction::bidirectional));
    (void)plans.plan_for(seen_by_all(others), call);
  });
  expect_other([&](auto& plans) {
    const coordinate::t5_bucket wider(
        {.num_buckets = 8, .max_distance = 13, .direction = coordinate::bucket_direction::bidirectional});
    (void)plans.plan_for(seen_by_all(bias::t5<float>(floats(8, 2, 1), wider)), call);
  });
  expect_other([&](auto& plans) {
    const heads wide{.query = 2, .key_value = 1, .dim = 4};
    (void)plans.plan_for(attention{wide, scale::inverse_sqrt_terms{}, visible::everything{}, small_t5()}, call);
  });
  expect_other([&](auto& plans) {
    const heads wide{.query = 2, .key_value = 2, .dim = 6};
    (void)plans.plan_for(attention{wide, scale::inverse_sqrt_terms{}, visible::everything{}, small_t5()}, call);
  });
  expect_other([&](auto& plans) { (void)plans.plan_for(seen_by_all(small_t5()), call_at({3, 5}, {0, 4, 6})); });
}

TEST_CASE("the plan that was asked for longest ago leaves", "[geometry_cache]") {
  geometry_cache plans({.capacity = 2});
  const auto model = seen_by_all(small_alibi());
  const auto ask = [&](index_t p) { return plans.plan_for(model, call_at({p}, {0, p})); };
  const auto held = ask(1);
  (void)ask(2);
  (void)ask(1);  // now 2 is the oldest
  (void)ask(3);
  CHECK(plans.size() == 2);
  CHECK(plans.counters() == geometry_counters{.hits = 1, .misses = 3, .evictions = 1});
  CHECK(ask(1) == held);
  (void)ask(2);
  CHECK(plans.counters() == geometry_counters{.hits = 2, .misses = 4, .evictions = 2});
  plans.clear();
  CHECK(plans.size() == 0);
  CHECK(held->call().at(batch_index{0}, query_index{0}) == position{1});  // who holds a plan keeps it
  CHECK_FALSE(ask(1) == held);
}

TEST_CASE("random calls are found exactly when they are asked for again", "[geometry_cache]") {
  const auto model = seen_by_all(small_alibi(), visible::active{}, visible::segments{});
  std::vector<position_call> calls;
  for (const position_call& call : random_calls(33)) {
    bool fits = true;  // positions at the edge of what is legal are not the subject here
    for (const batch_index b : indices<batch_index>(call.batch())) {
      fits = fits && call.key_space().position_bounds(b.value()).second < 1000;
    }
    if (fits) calls.push_back(call);
  }
  REQUIRE(calls.size() > 50);
  geometry_cache plans({.capacity = 7});
  dice roll(5);
  std::vector<const position_call*> recent;  // the last one asked for is in front
  geometry_counters expected;
  for (int step = 0; step < 2000; ++step) {
    const auto& call = calls[static_cast<std::size_t>(roll.between(0, 11))];
    const auto same = [&](const position_call* other) { return same_geometry(*other, call); };
    const auto found = std::find_if(recent.begin(), recent.end(), same);
    if (found != recent.end()) {
      recent.erase(found);
      ++expected.hits;
    } else {
      ++expected.misses;
      if (recent.size() == 7) {
        recent.pop_back();
        ++expected.evictions;
      }
    }
    recent.insert(recent.begin(), &call);
    const auto plan = plans.plan_for(model, call);
    CHECK(same_geometry(plan->call(), call));
    CHECK(plans.size() <= 7);
    REQUIRE(plans.counters() == expected);
  }
  CHECK(expected.hits > 200);
  CHECK(expected.evictions > 200);
}

TEST_CASE("what a geometry cache cannot keep is refused", "[geometry_cache]") {
  const auto expect_refused = [](const std::function<void()>& action, errc code, const std::string& words) {
    CAPTURE(words);
    const error refused = refusal(action);
    CHECK(refused.code() == code);
    CHECK(std::string(refused.what()).find(words) != std::string::npos);
  };
  expect_refused([] { (void)geometry_cache({.capacity = 0}); }, errc::geometry_cache,
                 "geometry cache, capacity: expected at least 1 plan, got 0");
  geometry_cache plans({.capacity = 2});
  const auto call = call_at({3, 5}, {0, 4, 5});
  const auto seen = [](const position_call&, batch_index, query_index, key_index) { return true; };
  expect_refused([&] { (void)plans.plan_for(seen_by_all(visible::custom(seen)), call); }, errc::description,
                 "visibility");
  const std::vector<float> numbers = random_values<float>(2 * 2 * 3, 90);
  const named pair("numbers", bias::pair<float>(tensor_view<const float, 4>(numbers.data(), {1, 2, 2, 3})));
  expect_refused([&] { (void)plans.plan_for(seen_by_all(pair), call); }, errc::geometry_cache,
                 "one that reads memory of the caller's");
  const attention causal_bias{two_heads, scale::none{}, visible::everything{},
                              bias::t5<float>(floats(8, 2, 1), few_buckets(coordinate::bucket_direction::causal))};
  expect_refused([&] { (void)plans.plan_for(causal_bias, call); }, errc::future_visible, "");
  CHECK(plans.size() == 0);
  CHECK(plans.counters() == geometry_counters{});
}

}  // namespace geometry_cache_test
