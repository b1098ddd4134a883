// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/audit/conformance_diagnosis.hpp>
#include <posgeo/call/cross_attention.hpp>
#include <posgeo/call/decode_step.hpp>
#include <posgeo/call/explicit_positions.hpp>
#include <posgeo/call/packed_batch.hpp>
#include <posgeo/call/padded_batch.hpp>
#include <posgeo/call/prefill_chunk.hpp>

#include <array>
#include <vector>

namespace posgeo::audit {

/// The kinds of call that a kernel claims to run.
enum class call_claims : unsigned {
  prefill = 1,     ///< one sequence from its beginning
  memory = 2,      ///< three new tokens behind a memory whose beginning was evicted
  decode = 4,      ///< one new token for each of two streams
  chunk = 8,       ///< several new tokens for each of two streams
  padded = 16,     ///< a batch with padding on the left
  packed = 32,     ///< three sequences in one row
  cross = 64,      ///< queries and keys of two frames
  irregular = 128  ///< positions in no order, with gaps; a query that stands before every key
};
[[nodiscard]] constexpr call_claims operator|(call_claims a, call_claims b) noexcept {
  return static_cast<call_claims>(static_cast<unsigned>(a) | static_cast<unsigned>(b));
}
[[nodiscard]] constexpr bool includes(call_claims all, call_claims part) noexcept {
  return (static_cast<unsigned>(all) & static_cast<unsigned>(part)) == static_cast<unsigned>(part);
}
inline constexpr call_claims all_calls = call_claims::prefill | call_claims::memory | call_claims::decode |
                                         call_claims::chunk | call_claims::padded | call_claims::packed |
                                         call_claims::cross | call_claims::irregular;

/// Small calls of the claimed kinds: unequal numbers of queries and keys, odd sizes, starts other than 0. Positions lie
/// in 0..40.
[[nodiscard]] inline std::vector<named_call> calls_of(call_claims claimed) {
  std::vector<named_call> out;
  const auto add = [&](call_claims kind, std::string name, const auto& make) {
    if (includes(claimed, kind)) out.push_back({std::move(name), make()});
  };
  add(call_claims::prefill, "prefill", [] { return call::prefill_chunk(0, 7); });
  add(call_claims::memory, "memory", [] {
    const call::prefill_entry one{.committed_length = 9, .first_position = 9, .length = 3, .past_length = 5};
    return call::prefill_chunk({.entries = {&one, 1}, .query_rows = 3, .key_rows = 8});
  });
  add(call_claims::decode, "decode step", [] {
    const std::array<call::decode_entry, 2> two{
        call::decode_entry{.committed_length = 11, .query_position = 11, .past_length = 6},
        call::decode_entry{.committed_length = 8, .query_position = 8, .past_length = 6, .sequence = 1}};
    return call::decode_step({.entries = two, .key_rows = 7});
  });
  add(call_claims::chunk, "chunk", [] {
    const std::array<call::prefill_entry, 2> two{
        call::prefill_entry{.committed_length = 10, .first_position = 10, .length = 4, .past_length = 5},
        call::prefill_entry{.committed_length = 6, .first_position = 6, .length = 4, .past_length = 5, .sequence = 1}};
    return call::prefill_chunk({.entries = two, .query_rows = 4, .key_rows = 9});
  });
  add(call_claims::padded, "padded batch", [] {
    const std::array<index_t, 2> lengths{7, 4};
    return call::padded_batch({.lengths = lengths,
                               .rows = 7,
                               .side = call::padding_side::left,
                               .positions = call::padded_positions::contiguous(2)});
  });
  add(call_claims::packed, "packed batch", [] {
    const std::array<index_t, 3> lengths{4, 3, 5};
    return call::packed_batch({.lengths = lengths, .positions = call::packed_positions::restart});
  });
  add(call_claims::cross, "cross-attention", [] {
    const std::array<index_t, 2> target{5, 5};
    const std::array<index_t, 2> source{7, 7};
    return call::cross_attention(
        {.target_lengths = target, .source_lengths = source, .target_rows = 5, .source_rows = 7});
  });
  add(call_claims::irregular, "irregular positions", [] {
    const std::array<index_t, 5> queries{14, 3, 22, 0, 9};
    const std::array<index_t, 8> keys{8, 2, 14, 31, 5, 20, 3, 11};
    return call::explicit_positions(
        {.query = {.positions = queries, .rows = 5}, .key = {.positions = keys, .rows = 8}});
  });
  return out;
}

}  // namespace posgeo::audit
