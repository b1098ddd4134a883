// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/call/position_call.hpp>

namespace posgeo {

/// Whether two spaces have the same rows in the same form: an affine span is not the list of its positions. Spaces that
/// share their memory are compared at once, others row by row.
[[nodiscard]] inline bool same_geometry(const row_space& a, const row_space& b) noexcept {
  if (a.rows() != b.rows() || a.entries() != b.entries() || a.affine() != b.affine()) return false;
  if (!(a.frame() == b.frame()) || a.origin() != b.origin() || a.padded_position() != b.padded_position()) return false;
  if (!a.affine()) {
    const explicit_rows& mine = a.spelled_out();
    const explicit_rows& others = b.spelled_out();
    return &mine == &others ||
           (mine.positions == others.positions && mine.sequences == others.sequences && mine.active == others.active);
  }
  for (index_t entry = 0; entry < a.entries(); ++entry) {
    const affine_rows& mine = a.affine_entries()[entry];
    const affine_rows& others = b.affine_entries()[entry];
    if (mine.first != others.first || mine.active_begin != others.active_begin ||
        mine.active_end != others.active_end || mine.sequence != others.sequence) {
      return false;
    }
  }
  return true;
}

/// Whether two calls are the same for everything that is compiled from them: kind, frames, streams, positions,
/// sequences and padding of both spaces, and what their caches have seen.
[[nodiscard]] inline bool same_geometry(const position_call& a, const position_call& b) noexcept {
  if (a.kind() != b.kind() || !same_geometry(a.query_space(), b.query_space()) ||
      !same_geometry(a.key_space(), b.key_space())) {
    return false;
  }
  for (const batch_index entry : indices<batch_index>(a.batch())) {
    if (a.committed_length(entry) != b.committed_length(entry) || a.past_length(entry) != b.past_length(entry)) {
      return false;
    }
  }
  return true;
}

}  // namespace posgeo
