// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/call/cross_attention.hpp>
#include <posgeo/call/decode_step.hpp>
#include <posgeo/call/explicit_positions.hpp>
#include <posgeo/call/packed_batch.hpp>
#include <posgeo/call/padded_batch.hpp>
#include <posgeo/call/prefill_chunk.hpp>

#include <random>
#include <vector>

namespace posgeo::test {

/// Random whole numbers.
class dice {
 public:
  explicit dice(unsigned seed) : engine_(seed) {}
  /// From low to high, both included.
  [[nodiscard]] index_t between(index_t low, index_t high) {
    return std::uniform_int_distribution<index_t>(low, high)(engine_);
  }
  [[nodiscard]] bool chance(double probability) { return std::bernoulli_distribution(probability)(engine_); }
  /// `count` numbers from low to high.
  [[nodiscard]] std::vector<index_t> row(index_t count, index_t low, index_t high) {
    std::vector<index_t> out;
    for (index_t n = 0; n < count; ++n) out.push_back(between(low, high));
    return out;
  }
  /// A small position, or now and then one at the edge of what is legal.
  [[nodiscard]] index_t position_value() {
    if (chance(0.1)) return position_limit - between(0, 1);
    if (chance(0.1)) return -position_limit + between(0, 1);
    return between(-6, 9);
  }

 private:
  std::mt19937_64 engine_;
};

[[nodiscard]] inline call::padded_positions random_padded_positions(dice& roll) {
  const index_t first = roll.between(-4, 6);
  const index_t padded = roll.between(-4, 6);
  switch (roll.between(0, 2)) {
    case 0:
      return call::padded_positions::contiguous(first);
    case 1:
      return call::padded_positions::fixed(first, padded);
    default:
      return call::padded_positions::compressed(first, padded);
  }
}

[[nodiscard]] inline position_call random_padded(dice& roll) {
  const index_t rows = roll.between(1, 7);
  const auto lengths = roll.row(roll.between(1, 10), 0, rows);
  return call::padded_batch({.lengths = lengths,
                             .rows = rows,
                             .side = roll.chance(0.5) ? call::padding_side::left : call::padding_side::right,
                             .positions = random_padded_positions(roll)});
}

[[nodiscard]] inline position_call random_masked(dice& roll) {
  const index_t rows = roll.between(1, 7);
  const index_t entries = roll.between(1, 4);
  std::vector<std::uint8_t> active;
  for (index_t n = 0; n < entries * rows; ++n) active.push_back(roll.chance(0.6) ? 1 : 0);
  return call::padded_batch(
      {.active = active, .entries = entries, .rows = rows, .positions = random_padded_positions(roll)});
}

[[nodiscard]] inline position_call random_packed(dice& roll) {
  const auto lengths = roll.row(roll.between(1, 5), 0, 4);
  return call::packed_batch(
      {.lengths = lengths,
       .positions = roll.chance(0.5) ? call::packed_positions::restart : call::packed_positions::continuing});
}

[[nodiscard]] inline position_call random_decode(dice& roll) {
  std::vector<call::decode_entry> entries;
  index_t rows = 0;
  for (index_t b = roll.between(1, 10); b > 0; --b) {
    const index_t committed = roll.between(0, 12);
    const index_t past = roll.between(0, committed);
    entries.push_back({.committed_length = committed,
                       .query_position = committed,
                       .past_length = past,
                       .padding = roll.between(0, 3),
                       .sequence = roll.between(0, 4)});
    rows = std::max(rows, entries.back().padding + past + 1);
  }
  return call::decode_step({.entries = entries, .key_rows = rows + roll.between(0, 2)});
}

[[nodiscard]] inline position_call random_prefill(dice& roll) {
  std::vector<call::prefill_entry> entries;
  index_t queries = 0;
  index_t keys = 0;
  for (index_t b = roll.between(1, 4); b > 0; --b) {
    const index_t committed = roll.between(0, 9);
    const index_t past = roll.between(0, committed);
    const index_t length = roll.between(1, 5);
    entries.push_back(
        {.committed_length = committed, .first_position = committed, .length = length, .past_length = past});
    queries = std::max(queries, length);
    keys = std::max(keys, past + length);
  }
  return call::prefill_chunk({.entries = entries, .query_rows = queries, .key_rows = keys + roll.between(0, 2)});
}

[[nodiscard]] inline position_call random_explicit(dice& roll) {
  const index_t entries = roll.between(1, 3);
  const index_t queries = roll.between(1, 5);
  const index_t keys = roll.between(1, 8);
  std::vector<index_t> at_query;
  std::vector<index_t> at_key;
  std::vector<std::uint8_t> active;
  for (index_t n = 0; n < entries * queries; ++n) at_query.push_back(roll.position_value());
  for (index_t n = 0; n < entries * keys; ++n) {
    at_key.push_back(roll.position_value());
    active.push_back(roll.chance(0.7) ? 1 : 0);
  }
  const auto of_query = roll.row(entries * queries, 0, 2);
  const auto of_key = roll.row(entries * keys, 0, 2);
  return call::explicit_positions({.entries = entries,
                                   .query = {.positions = at_query, .sequences = of_query, .rows = queries},
                                   .key = {.positions = at_key, .sequences = of_key, .active = active, .rows = keys},
                                   .reuse = position_reuse::intended});
}

[[nodiscard]] inline position_call random_cross(dice& roll) {
  const index_t entries = roll.between(1, 3);
  const index_t targets = roll.between(1, 4);
  const index_t sources = roll.between(1, 6);
  const auto target_lengths = roll.row(entries, 0, targets);
  const auto source_lengths = roll.row(entries, 0, sources);
  return call::cross_attention({.target_lengths = target_lengths,
                                .source_lengths = source_lengths,
                                .target_rows = targets,
                                .source_rows = sources,
                                .first_target_position = roll.between(0, 5)});
}

/// Some calls of every kind whose two sides count in one frame.
[[nodiscard]] inline std::vector<position_call> random_calls(unsigned seed) {
  dice roll(seed);
  std::vector<position_call> out;
  for (int round = 0; round < 25; ++round) {
    for (const auto make :
         {random_padded, random_masked, random_packed, random_decode, random_prefill, random_explicit}) {
      out.push_back(make(roll));
    }
  }
  return out;
}

}  // namespace posgeo::test
