// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/call/padded_batch.hpp>

#include <cstdint>
#include <vector>

#include "cases/json_tensors.hpp"

namespace posgeo::cases {

/// A batch whose tokens the mask marks; rows stand where `positions` says.
[[nodiscard]] inline position_call masked_call(const json& rows, const call::padded_positions& positions) {
  std::vector<std::uint8_t> active;
  for (const json& row : rows) {
    for (const json& token : row) active.push_back(token.get<std::uint8_t>());
  }
  return call::padded_batch({.active = active,
                             .entries = static_cast<index_t>(rows.size()),
                             .rows = static_cast<index_t>(rows.at(0).size()),
                             .positions = positions});
}

/// A batch whose positions count tokens only; padding stands before all of them.
[[nodiscard]] inline position_call counted_call(const json& rows) {
  return masked_call(rows, call::padded_positions::compressed(0, -1));
}

/// The lengths between cumulative ones.
[[nodiscard]] inline std::vector<index_t> lengths_between(const json& cumulative) {
  std::vector<index_t> out;
  for (std::size_t n = 1; n < cumulative.size(); ++n) {
    out.push_back(cumulative[n].get<index_t>() - cumulative[n - 1].get<index_t>());
  }
  return out;
}

}  // namespace posgeo::cases
