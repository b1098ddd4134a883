// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/call/position_call.hpp>

#include <span>

namespace posgeo::call {

/// Every row of one side, spelled out. Shapes: arrays [entries * rows], entry after entry.
struct explicit_side {
  std::span<const index_t> positions;
  std::span<const index_t> sequences = {};    ///< left out: one sequence, the batch entry's
  std::span<const std::uint8_t> active = {};  ///< left out: every row is a token
  index_t rows = 0;
  coordinate_frame frame = {};
  stream origin = stream::shared;
};

/// A call whose rows stand anywhere: ring buffers, evicted caches, coupled or permuted positions.
struct explicit_positions_spec {
  index_t entries = 1;
  explicit_side query;
  explicit_side key;
  std::span<const cache_state> cache = {};
  position_reuse reuse = position_reuse::refused;
};

[[nodiscard]] inline call_description describe(const explicit_positions_spec& spec) {
  const auto space = [&](const explicit_side& side) {
    explicit_rows spelled;
    spelled.positions.assign(side.positions.begin(), side.positions.end());
    spelled.sequences.assign(side.sequences.begin(), side.sequences.end());
    spelled.active.assign(side.active.begin(), side.active.end());
    if (side.active.empty()) spelled.active.assign(spelled.positions.size(), 1);
    if (side.sequences.empty() && side.rows > 0) {
      for (std::size_t n = 0; n < spelled.positions.size(); ++n) {
        spelled.sequences.push_back(static_cast<index_t>(n) / side.rows);
      }
    }
    return row_space{spec.entries, side.rows, std::move(spelled), side.frame, side.origin};
  };
  const auto cache = [&](index_t b) { return spec.cache[static_cast<std::size_t>(b)]; };
  return {.kind = call_kind::explicit_positions,
          .query = space(spec.query),
          .key = space(spec.key),
          .cache = {static_cast<index_t>(spec.cache.size()), cache},
          .reuse = spec.reuse};
}

/// The call of explicit positions. Throws: see position_call.
[[nodiscard]] inline position_call explicit_positions(const explicit_positions_spec& spec) {
  return position_call{describe(spec)};
}

}  // namespace posgeo::call
