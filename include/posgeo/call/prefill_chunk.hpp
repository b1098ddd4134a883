// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/call/position_call.hpp>

#include <span>

namespace posgeo::call {

/// The next tokens of one sequence and the cache they attend to.
struct prefill_entry {
  index_t committed_length = 0;  ///< tokens the cache has seen, evicted ones included
  index_t first_position = 0;    ///< where the first new token stands; must equal committed_length
  index_t length = 0;            ///< new tokens
  index_t past_length = 0;       ///< cached key rows that are still there; they end right before the first new token
  index_t sequence = 0;
};

/// A chunk of new tokens for each sequence; the key rows are the past ones, then the new ones, then padding.
struct prefill_chunk_spec {
  std::span<const prefill_entry> entries;
  index_t query_rows = 0;  ///< storage rows of the query tensor: at least every length
  index_t key_rows = 0;    ///< storage rows of the key tensor: at least past_length + length of every entry
  coordinate_frame frame = {};
  stream origin = stream::decoder;
};

[[nodiscard]] inline call_description describe(const prefill_chunk_spec& spec) {
  const auto count = static_cast<index_t>(spec.entries.size());
  const auto of = [&](index_t b) -> const prefill_entry& { return spec.entries[static_cast<std::size_t>(b)]; };
  const auto query = [&](index_t b) { return affine_rows{of(b).first_position, 0, of(b).length, of(b).sequence}; };
  const auto key = [&](index_t b) {
    const prefill_entry& e = of(b);
    return affine_rows{saturating_subtract(e.first_position, e.past_length), 0, saturating_add(e.past_length, e.length),
                       e.sequence};
  };
  const auto cache = [&](index_t b) { return cache_state{of(b).committed_length, of(b).past_length}; };
  return {.kind = call_kind::prefill_chunk,
          .query = {spec.query_rows, {count, query}, spec.frame, spec.origin},
          .key = {spec.key_rows, {count, key}, spec.frame, spec.origin},
          .cache = {count, cache}};
}

/// The call of a prefill chunk. Allocates as decode_step does. Throws: see position_call.
[[nodiscard]] inline position_call prefill_chunk(const prefill_chunk_spec& spec) {
  return position_call{describe(spec)};
}

/// One sequence that has kept everything: `length` new tokens from committed_length on.
[[nodiscard]] inline position_call prefill_chunk(index_t committed_length, index_t length) {
  const prefill_entry one{.committed_length = committed_length,
                          .first_position = committed_length,
                          .length = length,
                          .past_length = committed_length};
  return prefill_chunk(prefill_chunk_spec{
      .entries = {&one, 1}, .query_rows = length, .key_rows = saturating_add(committed_length, length)});
}

}  // namespace posgeo::call
