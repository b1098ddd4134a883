// SPDX-License-Identifier: MIT
#include <posgeo/bias/t5.hpp>
#include <posgeo/content/shaw_key.hpp>
#include <posgeo/encode/learned_absolute.hpp>
#include <posgeo/encode/sinusoidal.hpp>
#include <posgeo/frequency/geometric.hpp>
#include <posgeo/manifest/check.hpp>
#include <posgeo/manifest/of.hpp>
#include <posgeo/model/attention.hpp>
#include <posgeo/scale/none.hpp>
#include <posgeo/transform/rotary.hpp>
#include <posgeo/visible/active.hpp>
#include <posgeo/visible/causal.hpp>
#include <posgeo/visible/custom.hpp>
#include <posgeo/visible/everything.hpp>
#include <posgeo/visible/segments.hpp>

#include "support/catch.hpp"
#include "support/manifests.hpp"
#include "support/random.hpp"
#include "support/random_calls.hpp"
#include "support/refusal.hpp"

namespace of_test {

using namespace posgeo;
using namespace posgeo::test;
using namespace posgeo::manifest;

constexpr heads layout{.query = 6, .key_value = 2, .dim = 4};

auto model() {
  const coordinate::t5_bucket bucket(
      {.num_buckets = 8, .max_distance = 20, .direction = coordinate::bucket_direction::causal});
  const auto numbers = random_values<float>(48, 8401);
  return attention{layout,
                   scale::none{},
                   transform::rotary(frequency::geometric({.base = 1e4, .rotary_dim = 4}),
                                     {.pairs = transform::pairing::halves, .offset = 0}),
                   content::shaw_key<double>(head_tables<double>::shared(random_table(5, 4, 8402)),
                                             coordinate::clipped::symmetric(2)),
                   bias::t5<float>(table<float>(numbers, 8, 6), bucket),
                   visible::causal{},
                   visible::segments{},
                   visible::active{}};
}

TEST_CASE("what a plan knows is taken from it", "[manifest]") {
  const position_call call = call::decode_step(512, 512);
  const auto record = of(model().compile<double>(call), stated_for(call), plain_hash{});
  CHECK(check(record).empty());
  CHECK(record.request == stated_for(call).request);
  CHECK(record.runtime == stated_for(call).runtime);
  CHECK(record.row_space.call_kind == call_kind::decode_step);
  CHECK(record.query_space.entries[0].logical_positions == spans{{512, 1, 1}});
  CHECK(record.key_space.entries[0].logical_positions == spans{{0, 513, 1}});
  CHECK(record.key_space.entries[0].rows == spans{{0, 513, 1}});
  CHECK(record.key_space.addressed_by == key_address::row_indices);
  CHECK(record.position_method.heads == heads_record{6, 2, 4});
  CHECK(record.cache.value()->entries == std::vector<cache_entry>{{512, 512}});
  CHECK(record.numerical_state == numerical_state_record{element_type::int64,
                                                         {element_type::float64, element_type::float32},
                                                         element_type::float64,
                                                         element_type::float64});
  CHECK(record.visibility.mask_id.name() == "causal and segments and active");
  CHECK(record.visibility.polarity == mask_polarity::true_is_visible);
}

TEST_CASE("a query reset to zero is another record of equal shapes", "[manifest]") {
  const auto at = [](index_t query) {
    std::vector<index_t> keys;
    for (index_t n = 0; n < 513; ++n) keys.push_back(n);
    const std::vector<index_t> queries{query};
    const position_call call =
        call::explicit_positions({.query = {.positions = queries, .rows = 1}, .key = {.positions = keys, .rows = 513}});
    const attention nope{layout, scale::none{}, visible::everything{}};
    return of(nope.compile<float>(call), stated_for(call), plain_hash{});
  };
  CHECK(at(512) == at(512));
  CHECK_FALSE(at(512) == at(0));
}

TEST_CASE("each policy is summed up by what it says of itself", "[manifest]") {
  const position_call call = call::prefill_chunk(7, 3);
  const auto methods = of(model().compile<float>(call), stated_for(call), plain_hash{}).position_method.methods;
  REQUIRE(methods.size() == 7);
  const auto family = [&](std::size_t n) { return methods[n].family; };
  CHECK(family(0) == method_family::none);
  CHECK(family(1) == method_family::qk_transform);
  CHECK(family(2) == method_family::relative);
  CHECK(family(3) == method_family::bias);
  CHECK(family(4) == method_family::none);
  CHECK(methods[2].relation_sign == manifest::relation_sign::key_minus_query);
  CHECK(methods[4].relation_sign == manifest::relation_sign::none);
  CHECK(*methods[2].clipping_or_bucket_rule.value() == "clipped");
  CHECK(*methods[3].clipping_or_bucket_rule.value() == "t5_bucket");
  CHECK_FALSE(methods[1].clipping_or_bucket_rule.value());
  CHECK(*methods[3].score_bias_shape.value() == std::vector<index_t>{1, 6, 3, 10});
  CHECK_FALSE(methods[2].score_bias_shape.value());
  REQUIRE(methods[3].state_object.value());
  CHECK(methods[3].state_object.value()->at(0).name == "table");
  CHECK(methods[3].state_object.value()->at(0).table.extents == std::vector<index_t>{8, 6});
  CHECK_FALSE(methods[1].state_object.value());
}

TEST_CASE("state encoders come first and are fixed or learned", "[manifest]") {
  const position_call call = call::prefill_chunk(7, 3);
  const encode::sinusoidal fixed(
      {.width = 8, .layout = encode::sinusoid_layout::interleaved, .exponent = encode::sinusoid_exponent::paper});
  const encode::learned_absolute<double> learned(random_table(20, 8, 8403), {.row_offset = 2});
  const auto plan = model().compile<float>(call);
  const auto methods = of(plan, stated_for(call), plain_hash{}, fixed, learned).position_method.methods;
  REQUIRE(methods.size() == 9);
  CHECK(methods[0].family == method_family::fixed_abs);
  CHECK(methods[1].family == method_family::learned_abs);
  CHECK(methods[0].policy.name() == "sinusoidal");
  CHECK(methods[2].policy == of(plan, stated_for(call), plain_hash{}).position_method.methods[0].policy);
}

TEST_CASE("key rows may be slots of a cache", "[manifest]") {
  const position_call call = call::decode_step(5, 5);
  auto caller = stated_for(call);
  caller.key_rows = key_rows::cache_slots({{40, 41, 42, 9, 3, 2}});
  const auto record = of(model().compile<float>(call), caller, plain_hash{});
  CHECK(record.key_space.addressed_by == key_address::cache_slots);
  CHECK(numbers_of(record.key_space.entries[0].rows) == std::vector<index_t>{40, 41, 42, 9, 3, 2});
  CHECK(check(record).empty());

  const auto refused = [&](std::vector<std::vector<index_t>> slots) {
    caller.key_rows = key_rows::cache_slots(std::move(slots));
    return refusal([&] { (void)of(model().compile<float>(call), caller, plain_hash{}); }).code();
  };
  CHECK(refused({{1, 2, 3}}) == errc::manifest);
  CHECK(refused({{1, 2, 3, 4, 5, -6}}) == errc::manifest);
  CHECK(refused({}) == errc::manifest);
}

TEST_CASE("a cache is stated exactly if the call has one", "[manifest]") {
  const position_call cached = call::decode_step(5, 5);
  const std::vector<index_t> lengths{4};
  const position_call packed = call::packed_batch({.lengths = lengths, .positions = call::packed_positions::restart});
  CHECK(refusal([&] { (void)of(model().compile<float>(cached), stated_for(packed), plain_hash{}); }).code() ==
        errc::manifest);
  CHECK(refusal([&] { (void)of(model().compile<float>(packed), stated_for(cached), plain_hash{}); }).code() ==
        errc::manifest);
}

TEST_CASE("a plan of a policy that cannot say what it is has no record", "[manifest]") {
  const position_call call = call::prefill_chunk(2, 3);
  const attention hidden{
      layout, scale::none{},
      visible::custom([](const position_call&, batch_index, query_index, key_index) { return true; })};
  const auto plan = hidden.compile<float>(call);
  CHECK(refusal([&] { (void)of(plan, stated_for(call), plain_hash{}); }).code() == errc::description);
}

TEST_CASE("a description without a family has no record", "[manifest]") {
  const position_call call = call::prefill_chunk(2, 3);
  const std::vector<description> method{description("toy")};
  CHECK(refusal([&] {
          (void)of(call, layout, method, element_type::float32, stated_for(call), plain_hash{});
        }).code() == errc::manifest);
}

TEST_CASE("a packed call says that its segments are isolated", "[manifest]") {
  const std::vector<index_t> lengths{3, 0, 4};
  const position_call call = call::packed_batch({.lengths = lengths, .positions = call::packed_positions::restart});
  const auto record = of(model().compile<float>(call), stated_for(call), plain_hash{});
  CHECK(record.visibility.segment_isolation == manifest::segment_isolation::isolated);
  CHECK(record.row_space.key.entries[0].sequence_id_per_row == runs<index_t>{{3, 0}, {4, 2}});
}

TEST_CASE("the parts of a policy may differ in sign", "[manifest]") {
  const auto signs = [](const char* a, const char* b) {
    const description one = description("toy")
                                .with("family", "content_term")
                                .with("rule", description("clipped").with("sign", a))
                                .with("other", description("clipped").with("sign", b));
    return method_of(record_of(one, plain_hash{}), {1, 1, 1, 1}).relation_sign;
  };
  CHECK(signs("query_minus_key", "query_minus_key") == manifest::relation_sign::query_minus_key);
  CHECK(signs("query_minus_key", "key_minus_query") == manifest::relation_sign::both);
}

}  // namespace of_test
