// SPDX-License-Identifier: MIT
#include <posgeo/call/decode_step.hpp>
#include <posgeo/call/prefill_chunk.hpp>
#include <posgeo/visible/active.hpp>
#include <posgeo/visible/causal.hpp>
#include <posgeo/visible/everything.hpp>
#include <posgeo/visible/window.hpp>

#include "support/calls.hpp"
#include "support/catch.hpp"
#include "support/one_layer.hpp"
#include "support/refusal.hpp"

namespace caching_test {

using namespace posgeo;
using namespace posgeo::test;

constexpr index_t length = 9;

TEST_CASE("each decode step equals its row of the whole prefill", "[laws]") {
  const auto states = random_tensor<double, 3>({1, length, layer_width}, 51);
  for (const mechanism m : every_mechanism) {
    CAPTURE(static_cast<int>(m));
    const auto whole = one_layer(m, call::prefill_chunk(0, length), states, visible::causal{});
    for (index_t at = 0; at < length; ++at) {
      const auto step = one_layer(m, call::decode_step(at, at), gathered(states, 0, {at}),
                                  gathered(states, 0, counted(0, at + 1)), visible::causal{});
      CHECK(row_difference(whole, {0, at, counted(0, at + 1)}, step, {0, 0, counted(0, at + 1)}) < 1e-13);
    }
  }
}

TEST_CASE("a decode step behind left padding equals its row of the whole prefill", "[laws]") {
  const auto states = random_tensor<double, 3>({1, length, layer_width}, 52);
  const call::decode_entry entry{
      .committed_length = length - 1, .query_position = length - 1, .past_length = length - 1, .padding = 3};
  const auto call = call::decode_step({.entries = {&entry, 1}, .key_rows = length + 3});
  const auto key = gathered(states, 0, {4, 8, 1, 0, 1, 2, 3, 4, 5, 6, 7, 8});
  for (const mechanism m : every_mechanism) {
    if (m == mechanism::learned) continue;  // the padding stands before the table's first row
    CAPTURE(static_cast<int>(m));
    const auto whole = one_layer(m, call::prefill_chunk(0, length), states, visible::causal{});
    const auto step = one_layer(m, call, gathered(states, 0, {length - 1}), key, visible::active{}, visible::causal{});
    CHECK(row_difference(whole, {0, length - 1, counted(0, length)}, step, {0, 0, counted(3, length)}) < 1e-13);
  }
}

TEST_CASE("prefill in chunks equals the whole prefill", "[laws]") {
  const auto states = random_tensor<double, 3>({1, length, layer_width}, 53);
  const std::vector<index_t> cuts{0, 4, 5, length};
  for (const mechanism m : every_mechanism) {
    CAPTURE(static_cast<int>(m));
    const auto whole = one_layer(m, call::prefill_chunk(0, length), states, visible::causal{});
    for (std::size_t c = 0; c + 1 < cuts.size(); ++c) {
      const index_t rows = cuts[c + 1] - cuts[c];
      const auto chunk = one_layer(m, call::prefill_chunk(cuts[c], rows), gathered(states, 0, counted(cuts[c], rows)),
                                   gathered(states, 0, counted(0, cuts[c + 1])), visible::causal{});
      for (index_t n = 0; n < rows; ++n) {
        const auto keys = counted(0, cuts[c + 1]);
        CHECK(row_difference(whole, {0, cuts[c] + n, keys}, chunk, {0, n, keys}) < 1e-13);
      }
    }
  }
}

TEST_CASE("a decode query that lost its offset gives another result", "[laws]") {
  CHECK(refusal([] { (void)call::decode_step(length - 1, 0); }).code() == errc::committed_length);
  const auto states = random_tensor<double, 3>({1, length, layer_width}, 54);
  const auto query = gathered(states, 0, {length - 1});
  const auto keys = counted(0, length);
  for (const mechanism m : every_mechanism) {
    CAPTURE(static_cast<int>(m));
    const auto right = one_layer(m, call_at({length - 1}, keys), query, states, visible::everything{});
    const auto lost = one_layer(m, call_at({0}, keys), query, states, visible::everything{});
    const double away = row_difference(right, {0, 0, keys}, lost, {0, 0, keys});
    CHECK((m == mechanism::none ? away == 0.0 : away > 0.1));
  }
}

TEST_CASE("ring buffer slots with their positions equal the cache in order of time", "[laws]") {
  constexpr index_t slots = 6;
  constexpr index_t now = 13;
  const auto states = random_tensor<double, 3>({1, now + 1, layer_width}, 55);
  std::vector<index_t> ring(slots);
  for (index_t p = now + 1 - slots; p <= now; ++p) ring[static_cast<std::size_t>(p % slots)] = p;
  const auto in_time = counted(now + 1 - slots, slots);
  const call::decode_entry entry{.committed_length = now, .query_position = now, .past_length = slots - 1};
  const auto ordered = call::decode_step({.entries = {&entry, 1}, .key_rows = slots});
  std::vector<index_t> slot_of_time;
  for (const index_t p : in_time) slot_of_time.push_back(p % slots);

  for (const mechanism m : every_mechanism) {
    CAPTURE(static_cast<int>(m));
    const auto query = gathered(states, 0, {now});
    const auto by_slot = one_layer(m, call_at({now}, ring), query, gathered(states, 0, ring), visible::causal{});
    const auto by_time = one_layer(m, ordered, query, gathered(states, 0, in_time), visible::causal{});
    CHECK(row_difference(by_time, {0, 0, counted(0, slots)}, by_slot, {0, 0, slot_of_time}) < 1e-13);
    const auto whole = one_layer(m, call::prefill_chunk(0, now + 1), states, visible::window::counting_own_key(slots));
    CHECK(row_difference(whole, {0, now, in_time}, by_slot, {0, 0, slot_of_time}) < 1e-13);
  }
}

}  // namespace caching_test
