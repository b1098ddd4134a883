// SPDX-License-Identifier: MIT
#include <posgeo/contract/counters.hpp>

#include <algorithm>
#include <map>
#include <optional>
#include <string>

#include "contract/family_models.hpp"
#include "support/attention_inputs.hpp"
#include "support/calls.hpp"
#include "support/catch.hpp"
#include "support/random_calls.hpp"
#include "support/uneven_call.hpp"

namespace counters_test {
namespace {

using namespace posgeo;
using namespace posgeo::test;
using contract::position_counters;
using contract::query_rows;

struct kept {
  std::vector<position_counters> all;
  void record(const position_counters& c) { all.push_back(c); }
};

/// Least and greatest of numbers.
struct range {
  std::optional<index_t> lowest;
  std::optional<index_t> highest;
  void join(index_t n) {
    lowest = lowest ? std::min(*lowest, n) : n;
    highest = highest ? std::max(*highest, n) : n;
  }
};

template <class Plan, class Visit>
void naive_pairs(const Plan& plan, const Visit& visit) {
  const position_call& call = plan.call();
  for (const batch_index b : indices<batch_index>(call.batch())) {
    for (const query_index i : indices<query_index>(call.queries())) {
      for (const key_index j : indices<key_index>(call.keys())) {
        if (call.active(b, i) && plan.visible(b, i, j)) visit(b, i, j);
      }
    }
  }
}

template <class Plan>
void check_offsets(const Plan& plan) {
  std::map<index_t, index_t> seen;
  range behind;
  range ahead;
  naive_pairs(plan, [&](batch_index b, query_index i, key_index j) {
    const index_t offset = plan.call().at(b, j).value() - plan.call().at(b, i).value();
    ++seen[offset];
    (offset > 0 ? ahead : behind).join(offset);
  });
  const auto reach = contract::visible_offsets(plan, query_rows::tokens);
  REQUIRE(reach.has_value() == !seen.empty());
  if (!reach) return;
  CHECK(reach->lowest.value() == seen.begin()->first);
  CHECK(reach->highest.value() == seen.rbegin()->first);
  CHECK(reach->nearest_behind.has_value() == behind.highest.has_value());
  CHECK(reach->nearest_ahead.has_value() == ahead.lowest.has_value());
  if (behind.highest) CHECK(reach->nearest_behind->value() == *behind.highest);
  if (ahead.lowest) CHECK(reach->nearest_ahead->value() == *ahead.lowest);
}

template <class Model, class Check>
void on_random_calls(const Model& model, unsigned seed, const Check& check) {
  int used = 0;
  for (const position_call& call : random_calls(seed)) {
    if (!model.check(call).empty()) continue;
    check(model.template compile<double>(call));
    ++used;
  }
  REQUIRE(used > 50);
}

TEST_CASE("offsets of visible pairs are those of a loop over all pairs", "[counters]") {
  const scale::none unscaled;
  const visible::window near{.behind = 2, .ahead = 1};
  const auto check = [](const auto& plan) { check_offsets(plan); };
  on_random_calls(attention{two_heads, unscaled, visible::segments{}}, 1, check);
  on_random_calls(attention{two_heads, unscaled, visible::segments{}, visible::causal{}}, 2, check);
  on_random_calls(attention{two_heads, unscaled, visible::segments{}, near}, 3, check);
  on_random_calls(attention{two_heads, unscaled, visible::segments{}, visible::window{.behind = 0, .ahead = 3}}, 4,
                  check);
  const auto odd = [](const position_call&, batch_index, query_index i, key_index j) {
    return (i.value() + j.value()) % 2 == 1;
  };
  on_random_calls(attention{two_heads, unscaled, visible::segments{}, visible::custom(odd)}, 5, check);
  const attention padded{two_heads, unscaled, visible::active{}, near};
  const attention all{two_heads, unscaled, visible::everything{}};
  dice roll(6);
  for (int round = 0; round < 60; ++round) {
    for (const position_call& call : {random_padded(roll), random_masked(roll), random_prefill(roll)}) {
      if (padded.check(call).empty()) check_offsets(padded.compile<float>(call));
      if (all.check(call).empty()) check_offsets(all.compile<float>(call));
    }
  }
  check_offsets(attention{two_heads, unscaled, visible::active{}}.compile<float>(uneven_call(1000)));
}

TEST_CASE("visible keys are counted as a loop over all pairs counts them", "[counters]") {
  const attention model{two_heads, scale::none{}, visible::segments{}, visible::window{.behind = 3, .ahead = 1}};
  on_random_calls(model, 8, [](const auto& plan) {
    index_t all = 0;
    for (const batch_index b : indices<batch_index>(plan.call().batch())) {
      for (const query_index i : indices<query_index>(plan.call().queries())) {
        for (const key_index j : indices<key_index>(plan.call().keys())) all += plan.visible(b, i, j) ? 1 : 0;
      }
    }
    index_t counted = 0;
    contract::each_row_view(plan, query_rows::all, [&](const contract::row_view& view) { counted += view.keys; });
    CHECK(counted == all);
    index_t tokens = 0;
    naive_pairs(plan, [&](batch_index, query_index, key_index) { ++tokens; });
    counted = 0;
    contract::each_row_view(plan, query_rows::tokens, [&](const contract::row_view& view) { counted += view.keys; });
    CHECK(counted == tokens);
  });
}

TEST_CASE("buckets of visible pairs are those of a loop over all pairs, table by table", "[counters]") {
  const auto both = few_buckets(coordinate::bucket_direction::bidirectional);
  const auto back = few_buckets(coordinate::bucket_direction::causal);
  const auto learned = small_learned();
  const auto key = small_shaw_key();
  const auto values = small_shaw_value();
  const auto span = coordinate::deberta_span::exact(4);
  const auto deberta = small_deberta(content::deberta_terms::both(content::p2c_index::paper));
  const bias::t5<float> looks_back(floats(8, 2, 33), back);
  const auto check = [&](const auto& plan, bool causal) {
    std::map<std::pair<std::string, index_t>, range> expected;
    naive_pairs(plan, [&](batch_index b, query_index i, key_index j) {
      const relative_offset o = plan.call().offset(b, i, j);
      const relative_offset reversed{-o.value()};
      expected[{"score_bias", 0}].join(both(o));
      if (causal) expected[{"score_bias", 2}].join(back(o));
      expected[{"score_bias", 1}].join(std::clamp<index_t>(-o.value(), -3, 5) + 3);
      expected[{"content_term query side", 0}].join(key.classes()(o));
      expected[{"content_term query side", 1}].join(span(o));
      expected[{"content_term key side", 1}].join(span(reversed));
      expected[{"value_term", 0}].join(values.classes()(o));
    });
    kept sink;
    contract::observe(plan, eager{}, 4, contract::cache_use::no_cache, sink);
    REQUIRE(sink.all.size() == 1);
    const position_counters& got = sink.all.front();
    REQUIRE(got.buckets.size() == expected.size());
    range all;
    for (const contract::bucket_counter& one : got.buckets) {
      const range& wanted = expected[{std::string(one.family), one.number}];
      CAPTURE(one.family, one.number);
      CHECK(one.lowest == wanted.lowest);
      CHECK(one.highest == wanted.highest);
      all.join(*wanted.lowest);
      all.join(*wanted.highest);
    }
    CHECK(got.bucket_min == all.lowest);
    CHECK(got.bucket_max == all.highest);
  };
  const scale::inverse_sqrt_terms by_terms;
  on_random_calls(attention{two_heads, by_terms, visible::segments{}, small_t5(), learned, key, deberta, values}, 11,
                  [&](const auto& plan) { check(plan, false); });
  on_random_calls(attention{two_heads, by_terms, visible::segments{}, visible::causal{}, small_t5(), learned, key,
                            deberta, values, looks_back},
                  13, [&](const auto& plan) { check(plan, true); });
}

TEST_CASE("buckets with a rule for special rows are asked pair by pair", "[counters]") {
  const auto rule = few_buckets(coordinate::bucket_direction::bidirectional);
  const attention model{two_heads, scale::none{}, visible::segments{}, small_tupe_relative()};
  on_random_calls(model, 12, [&](const auto& plan) {
    range expected;
    naive_pairs(plan, [&](batch_index b, query_index i, key_index j) {
      if (plan.call().at(b, i) == position{0}) return expected.join(4);
      if (plan.call().at(b, j) == position{0}) return expected.join(8);
      expected.join(rule(plan.call().offset(b, i, j)));
    });
    kept sink;
    contract::observe(plan, eager{}, 4, contract::cache_use::no_cache, sink);
    CHECK(sink.all.front().bucket_min == expected.lowest);
    CHECK(sink.all.front().bucket_max == expected.highest);
  });
}

TEST_CASE("across frames there are no offsets and no buckets", "[counters]") {
  dice roll(5);
  const attention model{two_heads, scale::none{}, visible::active{}};
  for (int round = 0; round < 20; ++round) {
    const auto plan = model.compile<float>(random_cross(roll));
    kept sink;
    contract::observe(plan, fused{}, 4, contract::cache_use::miss, sink);
    CHECK(!sink.all.front().offset_min);
    CHECK(!sink.all.front().offset_max);
    CHECK(!sink.all.front().bucket_min);
    CHECK(sink.all.front().position_cache_hit == contract::cache_use::miss);
  }
}

TEST_CASE("memory length is that of the entry that has most", "[counters]") {
  const attention model{two_heads, scale::none{}, visible::segments{}};
  kept sink;
  contract::observe(model.compile<float>(uneven_call()), eager{}, 4, contract::cache_use::no_cache, sink);
  CHECK(sink.all.front().memory_length == 5);
  contract::observe(model.compile<float>(call::prefill_chunk(0, 3)), eager{}, 4, contract::cache_use::no_cache, sink);
  CHECK(sink.all.back().memory_length == 0);
}

TEST_CASE("an admission is observed with its backend, its reason and its bytes", "[counters]") {
  const auto model = seen_by_all(small_t5(), small_shaw_value());
  const auto plan = model.compile<float>(call::prefill_chunk(2, 3));
  const contract::declared_executor all{"all", contract::capability_set::everything(),
                                        contract::relation_memory::materialised};
  const contract::declared_executor few{"few", {}, contract::relation_memory::tiles};
  const contract::admission_request request{
      .elements = precision::binary32, .output = precision::binary32, .value_dim = 4};
  std::vector<position_counters> seen;
  const auto sink = [&seen](const position_counters& c) { seen.push_back(c); };
  const auto how = contract::admit(plan, request, contract::reference_fallback::refused, few, all);
  contract::observe(plan, how, contract::cache_use::hit, sink);
  REQUIRE(seen.size() == 1);
  CHECK(seen[0].position_backend == "all");
  CHECK(seen[0].position_fallback_reason == how.fallback_reason());
  CHECK(seen[0].position_fallback_reason.find("value_aggregation") != std::string::npos);
  CHECK(seen[0].bias_materialized_bytes == 4 * 2 * 3 * 5);
  CHECK(seen[0].relation_materialized_bytes == 4 * 3 * 5 * 4);
  CHECK(seen[0].position_cache_hit == contract::cache_use::hit);
  contract::observe(plan, all, 4, contract::cache_use::no_cache, sink);
  CHECK(seen[1].bias_materialized_bytes == seen[0].bias_materialized_bytes);
  CHECK(seen[1].relation_materialized_bytes == seen[0].relation_materialized_bytes);
  CHECK(seen[1].position_fallback_reason.empty());
}

TEST_CASE("a counted executor computes the same and hands over one set of counters for each run", "[counters]") {
  const auto model = seen_by_all(small_t5(), small_shaw_key());
  const auto plan = model.compile<float>(call::prefill_chunk(4, 3));
  const attention_inputs<float> inputs(two_heads, plan.call(), 4, 21);
  kept sink;
  const contract::counted executor(fused{}, sink);
  const auto plain = attend(fused{}, plan, inputs.view());
  CHECK(sink.all.empty());
  const auto watched = attend(executor, plan, inputs.view());
  CHECK(std::equal(plain.output.values().begin(), plain.output.values().end(), watched.output.values().begin()));
  REQUIRE(sink.all.size() == 1);
  CHECK(sink.all[0].position_backend == "fused");
  CHECK(sink.all[0].offset_min == -6);
  CHECK(sink.all[0].offset_max == 2);
  CHECK(sink.all[0].bias_materialized_bytes == 0);
  CHECK(sink.all[0].relation_materialized_bytes == 0);
  CHECK_THROWS_AS(attend(executor, plan, inputs.view(), also::scores), error);
  CHECK(sink.all.size() == 1);  // a run that is refused is not counted
  (void)attend(executor.with("few lacks much", contract::cache_use::hit), plan, inputs.view());
  REQUIRE(sink.all.size() == 2);
  CHECK(sink.all[1].position_fallback_reason == "few lacks much");
  CHECK(sink.all[1].position_cache_hit == contract::cache_use::hit);

  const contract::admission_request request{
      .elements = precision::binary32, .output = precision::binary32, .value_dim = 4};
  const auto how = contract::admit(plan, request, contract::reference_fallback::refused, executor);
  CHECK(how.executor == "fused");
  CHECK(how.terms.at(0).forms == std::vector{contract::term_form::query_class_scores});
  CHECK(how.bytes.workspace == static_cast<index_t>(fused{}.workspace_bytes(plan, 4)));
}

}  // namespace
}  // namespace counters_test
