// SPDX-License-Identifier: MIT
#include <posgeo/coordinate/clipped.hpp>
#include <posgeo/manifest/check.hpp>

#include "support/catch.hpp"
#include "support/manifests.hpp"
#include "support/random_calls.hpp"
#include "support/refusal.hpp"

namespace manifest_check_test {

using namespace posgeo;
using namespace posgeo::test;
using namespace posgeo::manifest;

const std::vector<description>& method() {
  static const std::vector<description> all{description("causal").with("family", "visibility"),
                                            description("learned_relative")
                                                .with("family", "score_bias")
                                                .with("rule", coordinate::clipped::symmetric(2).describe())};
  return all;
}
position_call_record record_of_call(const position_call& call) {
  return of(call, {.query = 6, .key_value = 2, .dim = 4}, method(), element_type::float32, stated_for(call),
            plain_hash{});
}
/// The first sentence about a record of a decode step that `change` has spoiled.
template <class Change>
std::string complaint(const Change& change) {
  auto record = record_of_call(call::decode_step(5, 5));
  change(record);
  const violations found = check(record);
  if (found.empty()) return "nothing";
  CHECK(found.front().code == errc::manifest);
  return found.front().message;
}

TEST_CASE("a record of any call contradicts itself nowhere", "[manifest]") {
  for (const position_call& call : random_calls(8501)) {
    const auto found = check(record_of_call(call));
    CAPTURE(found.empty() ? "" : found.front().message);
    REQUIRE(found.empty());
  }
}

TEST_CASE("a cache that was made under another contract is named", "[manifest]") {
  const auto with_cache = [](const auto& change) {
    return complaint([&](position_call_record& r) {
      cache_record cache = *r.cache.value();
      change(cache);
      r.cache = cache;
    });
  };
  CHECK(with_cache([](cache_record& c) { c.checkpoint_id = checkpoint_id("weights 2"); }) ==
        "cache, checkpoint_id: expected 'weights 3', as the request has, got weights 2");
  CHECK(with_cache([](cache_record& c) { c.release_id = release_id("2.0"); }) ==
        "cache, release_id: expected '2.1', as the request has, got 2.0");
  CHECK(with_cache([](cache_record& c) { c.coordinate_frame = posgeo::coordinate_frame("source"); }) ==
        "cache, coordinate frame: expected 'sequence', as the keys have, got source");
  CHECK(with_cache([](cache_record& c) { c.entries[0].past_seen_tokens = 6; }) ==
        "cache, past_seen_tokens of entry 0: expected at most committed_length 5, got 6");
  CHECK(with_cache([](cache_record& c) {
          c.entries[0] = {9, 9};
        }) == "cache, past_seen_tokens of entry 0: expected at most the 6 key rows that are tokens, got 9");
  CHECK(with_cache([](cache_record& c) {
          c.entries[0] = {4, 4};
        }) == "query space, first logical position of entry 0: expected committed_length 4, got 5");
  CHECK(with_cache([](cache_record& c) { c.entries.push_back({5, 5}); }) == "cache, entries: expected 1, got 2");
}

TEST_CASE("a cache left out or slots without one are named", "[manifest]") {
  CHECK(complaint([](position_call_record& r) { r.cache = none; }) ==
        "cache, contract: expected one, as a call with a past has, got none");
  const std::vector<index_t> lengths{4};
  auto packed = record_of_call(call::packed_batch({.lengths = lengths, .positions = call::packed_positions::restart}));
  packed.key_space.addressed_by = key_address::cache_slots;
  CHECK(check(packed).front().message ==
        "key space, addressed_by: expected row_indices, for a call without a cache, got cache_slots");
}

TEST_CASE("positions that are not those of the rows are named", "[manifest]") {
  CHECK(complaint([](position_call_record& r) {
          r.query_space.entries[0].logical_positions = {{0, 1, 1}};
        }) == "query space, logical positions of entry 0: expected those that the row space has, got others");
  CHECK(complaint([](position_call_record& r) {
          r.key_space.entries[0].logical_positions = {{1, 6, 1}};
        }) == "key space, logical positions of entry 0: expected those that the row space has, got others");
  CHECK(complaint([](position_call_record& r) {
          r.key_space.entries[0].rows = {{0, 5, 1}};
        }) == "key space, rows of entry 0: expected 6, one for each logical position, got 5");
  CHECK(complaint([](position_call_record& r) { r.key_space.entries.push_back(r.key_space.entries[0]); }) ==
        "key space, entries: expected 1, got 2");
  CHECK(complaint([](position_call_record& r) { r.query_space.entries.clear(); }) ==
        "query space, entries: expected 1, got 0");
}

TEST_CASE("frames that a call or a method cannot have are named", "[manifest]") {
  CHECK(complaint([](position_call_record& r) {
          r.query_space.coordinate_frame = posgeo::coordinate_frame("other");
        }) == "learned_relative, coordinate frames: expected one for queries and keys, which it subtracts, got two");
  CHECK(complaint([](position_call_record& r) { r.row_space.call_kind = call_kind::cross_attention; }) ==
        "key space, coordinate frame: expected one for the target and another for the source, got one for both");
  CHECK(complaint([](position_call_record& r) {
          r.visibility.segment_isolation = manifest::segment_isolation::mixed;
        }) == "visibility, segment_isolation: expected one_sequence or isolated, got mixed");
}

TEST_CASE("a summary that does not follow from its policy is named", "[manifest]") {
  const auto spoiled = [](const auto& change) {
    return complaint([&](position_call_record& r) { change(r.position_method.methods[1]); });
  };
  const auto sentence = [](const char* axis) {
    return std::string("method 1 (learned_relative), ") + axis +
           ": expected what follows from the policy and the call, got something else";
  };
  CHECK(spoiled([](method_record& m) { m.family = method_family::relative; }) == sentence("family"));
  CHECK(spoiled([](method_record& m) {
          m.state_object = std::vector<state_table>{{"t", {{1}, element_type::float32, {1, 2}}}};
        }) == sentence("state_object"));
  CHECK(spoiled([](method_record& m) { m.relation_sign = manifest::relation_sign::query_minus_key; }) ==
        sentence("relation_sign"));
  CHECK(spoiled([](method_record& m) { m.clipping_or_bucket_rule = none; }) == sentence("clipping_or_bucket_rule"));
  CHECK(spoiled([](method_record& m) {
          m.score_bias_shape = std::vector<index_t>{1, 6, 6, 1};
        }) == sentence("score_bias_shape"));
  CHECK(spoiled([](method_record& m) { m.policy = policy_record("toy", {}); }) ==
        "method 1 (toy), family: expected the name of its family's tag, got none");
}

}  // namespace manifest_check_test
