// SPDX-License-Identifier: MIT
#pragma once

namespace posgeo {

/// What of a call a policy reads. An attention reads what its policies read together; laws of symmetry follow from it.
enum class reads : unsigned {
  nothing = 0,
  order = 1,      ///< whether a key stands before, at or after the query
  distance = 2,   ///< how far the key stands from the query
  offset = 3,     ///< both: key position minus query position
  position = 4,   ///< where a row stands, counted from the origin
  padding = 8,    ///< whether a row is a token
  sequence = 16,  ///< which sequence a row is of
  extent = 32,    ///< how long the call is or how far it reaches
  row = 64,       ///< the storage row itself: values that a caller bound to rows or pairs
};
[[nodiscard]] constexpr reads operator|(reads a, reads b) noexcept {
  return static_cast<reads>(static_cast<unsigned>(a) | static_cast<unsigned>(b));
}
[[nodiscard]] constexpr bool includes(reads all, reads part) noexcept {
  return (static_cast<unsigned>(all) & static_cast<unsigned>(part)) == static_cast<unsigned>(part);
}
[[nodiscard]] constexpr bool includes_any(reads all, reads parts) noexcept {
  return (static_cast<unsigned>(all) & static_cast<unsigned>(parts)) != 0;
}

}  // namespace posgeo
