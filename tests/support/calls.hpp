// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/call/explicit_positions.hpp>

#include <vector>

namespace posgeo::test {

/// One sequence whose queries and keys stand where they are told to.
[[nodiscard]] inline position_call call_at(const std::vector<index_t>& queries, const std::vector<index_t>& keys) {
  return call::explicit_positions({.query = {.positions = queries, .rows = static_cast<index_t>(queries.size())},
                                   .key = {.positions = keys, .rows = static_cast<index_t>(keys.size())}});
}

/// One self-attending sequence at the given positions.
[[nodiscard]] inline position_call call_at(const std::vector<index_t>& rows) { return call_at(rows, rows); }

}  // namespace posgeo::test
