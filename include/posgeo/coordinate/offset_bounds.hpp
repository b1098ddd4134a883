// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/call/position_call.hpp>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

namespace posgeo::coordinate {

/// The ends of a range of offsets, both included.
struct offset_bounds {
  relative_offset lowest;
  relative_offset highest;
};

namespace detail {

/// The lowest and the highest position of each sequence's tokens in entry b.
inline std::map<index_t, std::pair<index_t, index_t>> reach_of_sequences(const row_space& space, index_t b) {
  std::map<index_t, std::pair<index_t, index_t>> reach;
  if (space.affine()) {
    const affine_rows& entry = space.affine_entries()[b];
    if (entry.active_begin < entry.active_end) {
      reach[entry.sequence] = {entry.first + entry.active_begin, entry.first + entry.active_end - 1};
    }
    return reach;
  }
  for (index_t row = 0; row < space.rows(); ++row) {
    if (!space.active(b, row)) continue;
    const index_t p = space.at(b, row).value();
    const auto [found, fresh] = reach.try_emplace(space.sequence(b, row), p, p);
    if (!fresh) found->second = {std::min(found->second.first, p), std::max(found->second.second, p)};
  }
  return reach;
}

}  // namespace detail

/// The lowest and the highest key-minus-query offset of a call: of its tokens, and of pairs within one sequence, since
/// no attention lets the others meet. Nothing if there is no such pair.
/// Units:  those of the call's frame.
/// Throws: nothing; ask same_frame() first.
/// Source: none.
[[nodiscard]] inline std::optional<offset_bounds> bounds_of_offsets(const position_call& call) {
  std::optional<offset_bounds> all;
  for (index_t b = 0; b < call.batch(); ++b) {
    const auto queries = detail::reach_of_sequences(call.query_space(), b);
    const auto keys = detail::reach_of_sequences(call.key_space(), b);
    for (const auto& [sequence, at] : queries) {
      const auto key = keys.find(sequence);
      if (key == keys.end()) continue;
      const relative_offset lowest{key->second.first - at.second};
      const relative_offset highest{key->second.second - at.first};
      all = all ? offset_bounds{std::min(all->lowest, lowest), std::max(all->highest, highest)}
                : offset_bounds{lowest, highest};
    }
  }
  return all;
}

}  // namespace posgeo::coordinate
