// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/call/position_call.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace posgeo::audit {

/// What is done to a call while the content of its rows is held fixed.
enum class intervention {
  permute_rows,              ///< rows are stored in another order, each with its position
  permute_content,           ///< contents change places, positions and mask stay
  permute_content_unmasked,  ///< the same where everybody sees everybody
  shift_all,                 ///< every row stands further on by one number
  shift_queries,             ///< the queries alone do
  stretch_gap,               ///< rows behind a place stand further on, those before it stay
  reverse,                   ///< positions are mirrored, so that before and after change places
  mirror_evidence,           ///< one key row moves to the other side of the query, as far away as it was
  swap_frames,               ///< queries and keys are counted in two coordinate frames
  out_of_range,              ///< every row stands far beyond what a table holds
  pad_left,                  ///< rows that are no tokens stand before each entry
  pad_right,                 ///< rows that are no tokens stand behind each entry
  pack,                      ///< the entries of the batch lie in one packed row
  chunk,                     ///< the queries come in several calls
  cached,                    ///< the queries come one by one, each with the keys so far
};
[[nodiscard]] constexpr std::string_view name_of(intervention kind) noexcept {
  switch (kind) {
    case intervention::permute_rows:
      return "permute_rows";
    case intervention::permute_content:
      return "permute_content";
    case intervention::permute_content_unmasked:
      return "permute_content_unmasked";
    case intervention::shift_all:
      return "shift_all";
    case intervention::shift_queries:
      return "shift_queries";
    case intervention::stretch_gap:
      return "stretch_gap";
    case intervention::reverse:
      return "reverse";
    case intervention::mirror_evidence:
      return "mirror_evidence";
    case intervention::swap_frames:
      return "swap_frames";
    case intervention::out_of_range:
      return "out_of_range";
    case intervention::pad_left:
      return "pad_left";
    case intervention::pad_right:
      return "pad_right";
    case intervention::pack:
      return "pack";
    case intervention::chunk:
      return "chunk";
    case intervention::cached:
      return "cached";
  }
  return "unknown";
}

/// What an intervention does to an attention.
enum class verdict {
  invariant,       ///< every number stays
  equivariant,     ///< numbers move with their rows
  changes,         ///< some number changes
  refused,         ///< the attention does not take the call
  not_applicable,  ///< the intervention has no meaning for this call
};
[[nodiscard]] constexpr std::string_view name_of(verdict found) noexcept {
  switch (found) {
    case verdict::invariant:
      return "invariant";
    case verdict::equivariant:
      return "equivariant";
    case verdict::changes:
      return "changes";
    case verdict::refused:
      return "refused";
    case verdict::not_applicable:
      return "not_applicable";
  }
  return "unknown";
}

/// The row of the original call whose content a row of an edited call holds. Padding holds none.
struct row_source {
  index_t entry = -1;
  index_t row = -1;
  [[nodiscard]] bool any() const noexcept { return entry >= 0; }
  friend bool operator==(const row_source&, const row_source&) noexcept = default;
};

/// One call of an edit. Shapes: query_source [entries * queries] and key_source [entries * keys], entry after entry.
struct edited_call {
  call_description call;
  std::vector<row_source> query_source;
  std::vector<row_source> key_source;
};

/// Whether the attention keeps its visibility policies or lets everybody see everybody.
enum class edited_mask { kept, everything };

/// A call after an intervention: one call, or several whose query rows together are those of the original.
struct edit {
  intervention kind = intervention::permute_rows;
  std::string what;  ///< in words, with numbers: "all positions + 17"
  std::vector<edited_call> calls;
  edited_mask mask = edited_mask::kept;
};

}  // namespace posgeo::audit
