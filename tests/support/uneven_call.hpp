// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/call/prefill_chunk.hpp>

#include <array>

namespace posgeo::test {

/// Two streams in the middle of their sequences: other starts, other lengths, an evicted past, rows of padding on both
/// sides. Moved by `by` tokens.
[[nodiscard]] inline position_call uneven_call(index_t by = 0) {
  const std::array<call::prefill_entry, 2> entries{
      call::prefill_entry{
          .committed_length = 6 + by, .first_position = 6 + by, .length = 3, .past_length = 5, .sequence = 4},
      call::prefill_entry{
          .committed_length = 2 + by, .first_position = 2 + by, .length = 2, .past_length = 2, .sequence = 9}};
  return call::prefill_chunk({.entries = entries, .query_rows = 3, .key_rows = 9});
}

}  // namespace posgeo::test
