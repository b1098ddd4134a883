// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/core/index.hpp>

#include <algorithm>
#include <concepts>

namespace posgeo {

/// The positions of tokens, and the offsets of two of one sequence, that a policy takes; it refuses a call with others.
/// Ends are included. Left out: all.
/// Units: positions of the call; offsets are key minus query.
struct positional_range {
  index_t lowest_position = -position_limit;
  index_t highest_position = position_limit;
  index_t lowest_offset = -2 * position_limit;
  index_t highest_offset = 2 * position_limit;

  /// What both take.
  [[nodiscard]] friend constexpr positional_range operator&(const positional_range& a,
                                                            const positional_range& b) noexcept {
    return {std::max(a.lowest_position, b.lowest_position), std::min(a.highest_position, b.highest_position),
            std::max(a.lowest_offset, b.lowest_offset), std::min(a.highest_offset, b.highest_offset)};
  }
  friend constexpr bool operator==(const positional_range&, const positional_range&) noexcept = default;
};

/// A policy that takes a bounded range. One that does not say so takes every position and offset.
template <class P>
concept says_range = requires(const P& policy) {
  { policy.range() } -> std::same_as<positional_range>;
  requires noexcept(policy.range());
};
/// What the policy takes.
template <class P>
[[nodiscard]] positional_range range_of([[maybe_unused]] const P& policy) noexcept {
  if constexpr (says_range<P>) return policy.range();
  return {};
}

}  // namespace posgeo
