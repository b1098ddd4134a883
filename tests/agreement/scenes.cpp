// SPDX-License-Identifier: MIT
#include "agreement/scenes.hpp"

#include <posgeo/call/decode_step.hpp>
#include <posgeo/call/explicit_positions.hpp>
#include <posgeo/call/packed_batch.hpp>
#include <posgeo/call/padded_batch.hpp>
#include <posgeo/call/prefill_chunk.hpp>

#include <numeric>
#include <random>

namespace posgeo::test {
namespace {

constexpr index_t all = visible::window::unbounded;
constexpr visible::window everything{.behind = all, .ahead = all};
constexpr visible::window causal{.behind = all, .ahead = 0};

using numbers = std::vector<index_t>;

position_call padded(const numbers& lengths, index_t rows, call::padding_side side) {
  return call::padded_batch(
      {.lengths = lengths, .rows = rows, .side = side, .positions = call::padded_positions::compressed(0, 0)});
}
position_call masked(index_t entries, index_t rows, unsigned seed) {
  std::mt19937_64 engine(seed);
  std::vector<std::uint8_t> active;
  for (index_t n = 0; n < entries * rows; ++n) active.push_back(std::bernoulli_distribution(0.7)(engine) ? 1 : 0);
  return call::padded_batch(
      {.active = active, .entries = entries, .rows = rows, .positions = call::padded_positions::compressed(0, 0)});
}
position_call packed(const numbers& lengths, call::packed_positions positions) {
  return call::packed_batch({.lengths = lengths, .positions = positions});
}
/// Each sequence has committed the given number of tokens and kept the last `kept` of them behind its padding.
position_call decoding(const std::vector<call::decode_entry>& entries, index_t key_rows) {
  return call::decode_step({.entries = entries, .key_rows = key_rows});
}
/// Tokens at `count` of the positions [first, first + 2 count), in random order.
numbers scattered(index_t count, index_t first, unsigned seed) {
  std::mt19937_64 engine(seed);
  numbers positions(static_cast<std::size_t>(2 * count));
  std::iota(positions.begin(), positions.end(), first);
  std::shuffle(positions.begin(), positions.end(), engine);
  positions.resize(static_cast<std::size_t>(count));
  return positions;
}
position_call irregular(index_t queries, index_t keys, index_t first, unsigned seed) {
  numbers at_query;
  numbers at_key;
  for (unsigned b = 0; b < 2; ++b) {
    for (const index_t p : scattered(queries, first, seed + b)) at_query.push_back(p);
    for (const index_t p : scattered(keys, first, seed + 10 + b)) at_key.push_back(p);
  }
  return call::explicit_positions(
      {.entries = 2, .query = {.positions = at_query, .rows = queries}, .key = {.positions = at_key, .rows = keys}});
}
/// Tokens up to 2 * 10^7 apart, each query with a few keys near it: only these weigh anything beside a steep bias.
position_call far_apart(index_t queries, index_t keys) {
  std::mt19937_64 engine(109);
  std::uniform_int_distribution<index_t> anywhere(0, 20'000'000);
  numbers at_query(static_cast<std::size_t>(queries));
  numbers at_key(static_cast<std::size_t>(keys));
  for (index_t& p : at_query) p = anywhere(engine);
  for (index_t& p : at_key) p = anywhere(engine);
  for (std::size_t n = 0; n < 3 * at_query.size(); ++n) {
    at_key[at_key.size() - 1 - n] = at_query[n / 3] + 100'000 + static_cast<index_t>(n % 3);
  }
  return call::explicit_positions(
      {.query = {.positions = at_query, .rows = queries}, .key = {.positions = at_key, .rows = keys}});
}
/// The first queries stand before every key, so that under a causal visibility they see nothing.
position_call early_queries() {
  const numbers at_query{3, 40, 2, 55, 7, 61, 0, 41};
  const numbers at_key = scattered(45, 20, 71);
  return call::explicit_positions(
      {.query = {.positions = at_query, .rows = 8}, .key = {.positions = at_key, .rows = 45}});
}
position_call no_rows(index_t queries, index_t keys) {
  const numbers at_query = scattered(queries, 0, 73);
  const numbers at_key = scattered(keys, 0, 79);
  return call::explicit_positions(
      {.query = {.positions = at_query, .rows = queries}, .key = {.positions = at_key, .rows = keys}});
}
position_call ragged_chunk() {
  const std::vector<call::prefill_entry> entries{
      {.committed_length = 61, .first_position = 61, .length = 13, .past_length = 43, .sequence = 4},
      {.committed_length = 5, .first_position = 5, .length = 17, .past_length = 5, .sequence = 9}};
  return call::prefill_chunk({.entries = entries, .query_rows = 17, .key_rows = 59});
}

std::vector<scene> numbered(std::vector<scene> scenes) {
  for (std::size_t n = 0; n < scenes.size(); ++n) scenes[n].number = static_cast<unsigned>(n);
  return scenes;
}

}  // namespace

const std::vector<scene>& small_scenes() {
  using call::packed_positions;
  using call::padding_side;
  const auto make = [] {
    const position_call ragged_decode =
        decoding({{.committed_length = 74, .query_position = 74, .past_length = 74},
                  {.committed_length = 90, .query_position = 90, .past_length = 31, .padding = 9, .sequence = 3},
                  {.committed_length = 0, .query_position = 0, .past_length = 0, .padding = 2, .sequence = 5}},
                 77);
    return numbered({
        {"odd lengths, all keys", {2, 1, 20}, 24, call::prefill_chunk(0, 37), everything, 0},
        {"odd lengths, causal", {2, 2, 64}, 64, call::prefill_chunk(0, 51), causal, 0},
        {"one query and one key", {1, 1, 8}, 8, call::decode_step(0, 0), causal, 0},
        {"one key, several queries", {2, 1, 8}, 3, no_rows(5, 1), everything, 0},
        {"no queries", {2, 1, 20}, 5, no_rows(0, 7), everything, 0},
        {"no keys", {2, 1, 20}, 5, no_rows(3, 0), everything, 0},
        {"ragged decode, 7 heads on 1", {7, 1, 64}, 64, ragged_decode, causal, 0},
        {"ragged decode, no mask of the future", {4, 2, 80}, 72, ragged_decode, everything, 0},
        {"ragged chunk in the middle, 4 heads on 2", {4, 2, 80}, 80, ragged_chunk(), causal, 0},
        {"left padded, an entry without tokens",
         {2, 2, 96},
         40,
         padded({29, 41, 0}, 41, padding_side::left),
         everything,
         0},
        {"right padded, causal", {2, 1, 128}, 128, padded({33, 0, 18}, 33, padding_side::right), causal, 0},
        {"padding in between", {3, 1, 20}, 33, masked(2, 35, 61), everything, 0},
        {"packed, each from 0", {2, 1, 64}, 40, packed({17, 1, 0, 33}, packed_positions::restart), everything, 0},
        {"packed, positions run on, causal",
         {4, 2, 20},
         20,
         packed({9, 30, 2, 21}, packed_positions::continuing),
         causal,
         0},
        {"shuffled positions with gaps", {2, 1, 64}, 64, irregular(19, 47, 0, 83), everything, 0},
        {"shuffled positions, causal", {4, 2, 80}, 30, irregular(23, 39, 5, 97), causal, 0},
        {"queries before every key", {2, 1, 20}, 20, early_queries(), causal, 0},
        {"window on both sides", {2, 1, 64}, 64, call::prefill_chunk(0, 71), {.behind = 5, .ahead = 3}, 0},
        {"window behind a long past",
         {3, 1, 96},
         96,
         call::prefill_chunk(140, 11),
         visible::window::counting_own_key(16),
         0},
        {"window over shuffled positions", {2, 2, 20}, 7, irregular(21, 43, 0, 101), {.behind = 9, .ahead = 0}, 0},
        {"far from zero", {2, 1, 64}, 64, irregular(9, 33, 1000000, 103), causal, 0},
        {"wide head", {2, 1, 256}, 256, call::prefill_chunk(19, 9), causal, 0},
        {"far from each other", {2, 1, 20}, 24, far_apart(5, 73), everything, 0},
    });
  };
  static const std::vector<scene> scenes = make();
  return scenes;
}

const std::vector<scene>& long_scenes() {
  const auto make = [] {
    return numbered({
        {"long causal chunk", {2, 1, 64}, 64, call::prefill_chunk(501, 203), causal, 0},
        {"long, all keys", {1, 1, 20}, 24, call::prefill_chunk(0, 331), everything, 0},
        {"long decode, 4 heads on 1", {4, 1, 128}, 128, call::decode_step(1100, 1100), causal, 0},
        {"few queries, long cache, shuffled", {2, 1, 80}, 80, irregular(3, 1061, 0, 107), everything, 0},
        {"long window", {2, 1, 64}, 40, call::prefill_chunk(0, 613), {.behind = 130, .ahead = 0}, 0},
    });
  };
  static const std::vector<scene> scenes = make();
  return scenes;
}

}  // namespace posgeo::test
