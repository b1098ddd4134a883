// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/call/position_call.hpp>

#include <span>

namespace posgeo::call {

/// The new token of one sequence and the cache it attends to.
struct decode_entry {
  index_t committed_length = 0;  ///< tokens the cache has seen, evicted ones included
  index_t query_position = 0;    ///< where the new token stands; must equal committed_length
  index_t past_length = 0;       ///< cached key rows that are still there; they end right before the query
  index_t padding = 0;           ///< key rows of padding before them
  index_t sequence = 0;
};

/// One new token for each sequence, against a cache that already holds the new token's key behind the past ones.
struct decode_step_spec {
  std::span<const decode_entry> entries;
  index_t key_rows = 0;  ///< storage rows of the key tensor: at least padding + past_length + 1 of every entry
  coordinate_frame frame = {};
  stream origin = stream::decoder;
};

[[nodiscard]] inline call_description describe(const decode_step_spec& spec) {
  const auto count = static_cast<index_t>(spec.entries.size());
  const auto of = [&](index_t b) -> const decode_entry& { return spec.entries[static_cast<std::size_t>(b)]; };
  const auto query = [&](index_t b) { return affine_rows{of(b).query_position, 0, 1, of(b).sequence}; };
  const auto key = [&](index_t b) {
    const decode_entry& e = of(b);
    const index_t own_row = saturating_add(e.padding, e.past_length);
    return affine_rows{saturating_subtract(e.query_position, own_row), e.padding, saturating_add(own_row, 1),
                       e.sequence};
  };
  const auto cache = [&](index_t b) { return cache_state{of(b).committed_length, of(b).past_length}; };
  return {.kind = call_kind::decode_step,
          .query = {1, {count, query}, spec.frame, spec.origin},
          .key = {spec.key_rows, {count, key}, spec.frame, spec.origin},
          .cache = {count, cache}};
}

/// The call of one decode step. Allocates nothing for up to entry_list::in_place sequences. Throws: see position_call.
[[nodiscard]] inline position_call decode_step(const decode_step_spec& spec) { return position_call{describe(spec)}; }

/// One sequence that has kept everything: the query at committed_length, keys 0..committed_length.
[[nodiscard]] inline position_call decode_step(index_t committed_length, index_t query_position) {
  const decode_entry one{
      .committed_length = committed_length, .query_position = query_position, .past_length = committed_length};
  return decode_step(decode_step_spec{.entries = {&one, 1}, .key_rows = saturating_add(committed_length, 1)});
}

}  // namespace posgeo::call
