// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/call/row_space.hpp>
#include <posgeo/core/error.hpp>

#include <algorithm>
#include <optional>

namespace posgeo {

/// The highest position of an active row of entry b, if it has one.
[[nodiscard]] inline std::optional<index_t> highest_active_position(const row_space& space, index_t b) noexcept {
  const auto [first, last] = space.active_rows(b);
  if (first >= last) return std::nullopt;
  if (space.affine()) return space.at(b, last - 1).value();
  std::optional<index_t> highest;
  for (index_t row = first; row < last; ++row) {
    if (space.active(b, row)) highest = std::max(highest.value_or(space.at(b, row).value()), space.at(b, row).value());
  }
  return highest;
}

/// Refuses a space with an active row, offset added, beyond the length that something was made for.
inline void expect_within_length(const row_space& space, index_t offset, index_t length, std::string_view object,
                                 violations& found) {
  for (index_t b = 0; b < space.entries(); ++b) {
    const auto highest = highest_active_position(space, b);
    found.expect(!highest || *highest + offset < length, errc::sequence_length, object,
                 text("highest position in entry {}", b), text("below sequence_length {}", length),
                 highest.value_or(0) + offset);
  }
}

}  // namespace posgeo
