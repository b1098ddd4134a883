// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/core/description.hpp>
#include <posgeo/core/head_parts.hpp>
#include <posgeo/core/head_slice.hpp>

#include <fmt/ranges.h>

#include <string>
#include <utility>

namespace posgeo {

/// A policy that is described once somebody gives it a name: it holds a function or a view of the caller's memory.
template <class P>
concept nameable_policy = requires(const P& policy, std::string_view identity) {
  { policy.describe_as(identity) } -> std::same_as<description>;
};

/// The same policy, with a description. The name stands for what the policy cannot say: the caller's function, or the
/// numbers in the caller's memory. Nothing checks it, so other functions or numbers need another name.
/// Throws: errc::description, when built, for an empty name.
template <nameable_policy P>
class named : public P {
 public:
  named(std::string_view identity, P policy) : P(std::move(policy)), identity_(identity) {
    require(!identity_.empty(), errc::description, "named policy", "name", "at least one character", "none");
  }

  [[nodiscard]] const std::string& identity() const noexcept { return identity_; }
  [[nodiscard]] description describe() const { return P::describe_as(identity_); }
  /// The part of the policy for these heads, which its name lists: other heads have other numbers.
  [[nodiscard]] named part(const head_slice& slice) const requires parted_by_head<P> {
    return {fmt::format("{}, heads {}", identity_, fmt::join(slice.query_heads(), " ")), P::part(slice)};
  }

 private:
  std::string identity_;
};

}  // namespace posgeo
