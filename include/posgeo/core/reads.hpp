// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>

namespace posgeo {

/// What of a call a policy reads. An attention reads what its policies read together; laws of symmetry follow from it.
enum class reads : unsigned {
  nothing = 0,
  ahead = 1,           ///< whether the key stands after the query
  behind = 2,          ///< whether it stands before the query
  order = 3,           ///< both: before, at or after
  distance = 4,        ///< how far the key stands from the query
  offset = 7,          ///< order and distance: key position minus query position
  absolute_query = 8,  ///< where the query, or the row of a state, stands, counted from the origin
  absolute_key = 16,   ///< where the key does
  absolute = 24,       ///< both
  padding = 32,        ///< whether a row is a token
  sequence = 64,       ///< which sequence a row is of
  extent = 128,        ///< how long the call is or how far it reaches
  row = 256,           ///< the storage row itself: values that a caller bound to rows or pairs
  name = 512,          ///< which row it is, by sequence and position: values bound to names; others are refused
  frame = 1024,        ///< that queries and keys count in one frame, as all who compare where they stand do
};
/// All that a function of the call and two rows may read. No name or frame among it: such a function refuses no call.
inline constexpr reads read_by_function = static_cast<reads>(511);

[[nodiscard]] constexpr reads operator|(reads a, reads b) noexcept {
  return static_cast<reads>(static_cast<unsigned>(a) | static_cast<unsigned>(b));
}
[[nodiscard]] constexpr bool includes(reads all, reads part) noexcept {
  return (static_cast<unsigned>(all) & static_cast<unsigned>(part)) == static_cast<unsigned>(part);
}
[[nodiscard]] constexpr bool includes_any(reads all, reads parts) noexcept {
  return (static_cast<unsigned>(all) & static_cast<unsigned>(parts)) != 0;
}

/// A policy that says what of a call it reads.
template <class P>
concept says_reads = requires(const P& policy) {
  { policy.positional_reads() } -> std::same_as<reads>;
  requires noexcept(policy.positional_reads());
};

}  // namespace posgeo
