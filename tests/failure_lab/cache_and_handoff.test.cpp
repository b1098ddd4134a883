// SPDX-License-Identifier: MIT
#include <posgeo/call/decode_step.hpp>
#include <posgeo/call/prefill_chunk.hpp>
#include <posgeo/call/segment_memory.hpp>
#include <posgeo/content/relation_schedule.hpp>
#include <posgeo/frequency/geometric.hpp>
#include <posgeo/transform/rotary.hpp>
#include <posgeo/visible/causal.hpp>
#include <posgeo/visible/everything.hpp>

#include <type_traits>

#include "support/attention_inputs.hpp"
#include "support/calls.hpp"
#include "support/catch.hpp"
#include "support/one_layer.hpp"
#include "support/refusal.hpp"
#include "support/toy_identity.hpp"

// Each case builds a mistake whose every tensor has the right shape, and shows what catches it.
namespace cache_and_handoff_lab {

using namespace posgeo;
using namespace posgeo::test;

TEST_CASE("a decode query that does not stand at the end of its cache", "[failure_lab]") {
  for (const index_t wrong : {6, 8}) {
    CHECK(refusal([&] { (void)call::decode_step(/*committed_length=*/7, wrong); }).code() == errc::committed_length);
  }
  // An evicted cache: as many keys are left as a younger cache would have, and the position still counts all tokens.
  const call::decode_entry evicted{.committed_length = 7, .query_position = 7, .past_length = 3};
  const auto call = call::decode_step({.entries = {&evicted, 1}, .key_rows = 4});
  CHECK(call.at(batch_index{0}, key_index{0}) == position{4});
  const call::decode_entry by_length{.committed_length = 7, .query_position = 3, .past_length = 3};
  CHECK(refusal([&] {
          (void)call::decode_step({.entries = {&by_length, 1}, .key_rows = 4});
        }).code() == errc::committed_length);
  // With the caller's own call nothing stops it, and the oracle does: the step must equal its row of the whole pass.
  const index_t length = 8;
  const auto states = random_tensor<double, 3>({1, length, layer_width}, 120);
  const auto whole = one_layer(mechanism::rotary, call::prefill_chunk(0, length), states, visible::causal{});
  const auto away_at = [&](index_t query_position) {
    const auto step = one_layer(mechanism::rotary, call_at({query_position}, counted(0, length)),
                                gathered(states, 0, {length - 1}), states, visible::everything{});
    return row_difference(whole, {0, length - 1, counted(0, length)}, step, {0, 0, counted(0, length)});
  };
  CHECK(away_at(7) < 1e-13);
  CHECK(away_at(6) > 0.01);
  CHECK(away_at(8) > 0.01);
}

description turned_by(double base, std::string_view pairing) {
  return description("rotary").with("pairs", pairing).with("frequency", description("geometric").with("base", base));
}
contract::cache_identity identity() { return toy_identity(checkpoint_id("3f9a"), {turned_by(10000.0, "halves")}); }

TEST_CASE("prefill and decode under different conventions", "[failure_lab]") {
  // Keys turned in one pairing, the decode query in the other: the oracle is the score of a displacement, which must
  // not change when both rows move on.
  const auto turned = [](transform::pairing pairs, index_t at, std::vector<double> row) {
    const transform::rotary rotary(frequency::geometric({.base = 100.0, .rotary_dim = 4}), {.pairs = pairs});
    rotary.rotate(position{at}, std::span<double>(row));
    return row;
  };
  const auto query = random_values<double>(4, 121);
  const auto key = random_values<double>(4, 122);
  const auto score = [&](transform::pairing of_query, index_t shift) {
    const auto q = turned(of_query, 9 + shift, query);
    const auto k = turned(transform::pairing::halves, 4 + shift, key);
    return dot(q, k);
  };
  CHECK_THAT(score(transform::pairing::halves, 3), WithinAbs(score(transform::pairing::halves, 0), 1e-13));
  CHECK(std::abs(score(transform::pairing::adjacent, 3) - score(transform::pairing::adjacent, 0)) > 1e-3);
  // The guard: keys that name their pairing serve no request under the other one.
  auto decode = identity();
  decode.method = {turned_by(10000.0, "adjacent")};
  const auto thrown = refusal([&] { contract::require_same(identity(), decode); });
  CHECK(thrown.code() == errc::cache_identity);
  CHECK(std::string(thrown.what()).find("rotary, pairs: expected adjacent, got halves") != std::string::npos);
}

TEST_CASE("a prefix cache reused across schemes or origins", "[failure_lab]") {
  contract::require_same(identity(), identity());
  const auto expect_refused = [](const contract::cache_identity& other, const std::string& field) {
    CAPTURE(field);
    const auto thrown = refusal([&] { contract::require_same(identity(), other); });
    CHECK(thrown.code() == errc::cache_identity);
    CHECK(std::string(thrown.what()).find(field) != std::string::npos);
  };
  auto other = identity();
  other.start = position{16};
  expect_refused(other, "start position");
  other = identity();
  other.method = {description("alibi")};
  expect_refused(other, "method, policy 0");
  other = identity();
  other.method = {turned_by(500000.0, "halves")};
  expect_refused(other, "base");
  other = identity();
  other.checkpoint = checkpoint_id("3f9b");
  expect_refused(other, "checkpoint");
}

TEST_CASE("recurrent memory taken for a cache of keys and values", "[failure_lab]") {
  // The memory holds [batch, rows, width] hidden states: no view of heads, so it cannot be handed over as keys.
  using memory_type = call::segment_memory<double>;
  STATIC_REQUIRE_FALSE(std::is_convertible_v<decltype(std::declval<memory_type>().states()), heads_view<const double>>);

  const std::vector<index_t> streams{4};
  const memory_type memory(
      {.layer = 2, .capacity = 3, .first_position = 0, .gradient = call::memory_gradient::detached}, streams);
  const auto states = random_tensor<double, 3>({1, 5, layer_width}, 123);
  const auto segment = [&](index_t layer, index_t first, const std::vector<index_t>& of) {
    return call::segment<double>{.layer = layer, .first_position = first, .streams = of, .states = states.view()};
  };
  const auto next = memory.updated(segment(2, 0, streams));
  CHECK(next.stored() == 3);
  CHECK(next.first_position() == 2);
  CHECK(refusal([&] { (void)next.extended(segment(1, 5, streams)); }).code() == errc::layer_mismatch);
  CHECK(refusal([&] { (void)next.extended(segment(2, 3, streams)); }).code() == errc::memory_mismatch);
  CHECK(refusal([&] { (void)next.extended(segment(2, 5, {9})); }).code() == errc::memory_mismatch);
  CHECK(next.extended(segment(2, 5, streams)).call.at(batch_index{0}, key_index{0}) == position{2});
}

TEST_CASE("relation vectors materialised without a ledger", "[failure_lab]") {
  using content::relation_schedule;
  // A table of 33 rows of 64 numbers of four bytes, and 2048 queries and keys: 8448 bytes of parameters.
  const content::relation_extents extents{
      .batch = 1, .heads = 8, .queries = 2048, .keys = 2048, .dim = 64, .classes = 33, .tables = 1};
  const auto alive = [&](relation_schedule how) { return content::temporaries(how, extents, 4).alive; };
  CHECK(alive(relation_schedule::direct_gather) == 1073741824);  // 2048 * 2048 vectors of 256 bytes: 1 GiB
  CHECK(alive(relation_schedule::class_scores) == 270336);       // 2048 rows of 33 scores
  CHECK(alive(relation_schedule::tiled) == 8448);                // 64 rows of them at a time
}

}  // namespace cache_and_handoff_lab
