// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/audit/card_record.hpp>
#include <posgeo/core/positional_range.hpp>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace posgeo::audit::detail {

using manifest::policy_record;

/// The setting of a policy if it has that type.
template <class Value>
[[nodiscard]] const Value* setting(const policy_record& policy, std::string_view name) noexcept {
  const policy_record::value* const found = policy.find(name);
  return found == nullptr ? nullptr : std::get_if<Value>(found);
}
[[nodiscard]] inline std::optional<index_t> count_of(const policy_record& policy, std::string_view name) noexcept {
  const auto* const found = setting<index_t>(policy, name);
  return found == nullptr ? std::nullopt : std::optional(*found);
}

[[nodiscard]] inline std::string_view family_of(const policy_record& policy) noexcept {
  const auto* const found = setting<std::string>(policy, "family");
  return found == nullptr ? std::string_view{} : std::string_view(*found);
}

/// What a policy takes. Ends that no call of tokens comes near (2^48 and more) are none.
[[nodiscard]] inline range_part part_of(const positional_range& range) {
  const auto end = [](index_t at) {
    constexpr index_t far = index_t{1} << 48;
    return at <= -far || at >= far ? stated<index_t>(none) : stated<index_t>(at);
  };
  return {end(range.lowest_position), end(range.highest_position), end(range.lowest_offset), end(range.highest_offset)};
}

/// A rule of speeds scales if it names a factor or the length before scaling.
[[nodiscard]] inline stated<scaling_rule> scaling_of(const std::vector<policy_part>& policies) {
  for (const policy_part& one : policies) {
    const policy_record& policy = one.policy;
    const auto* const speeds = setting<policy_record>(policy, "frequencies");
    if (speeds == nullptr) continue;
    const auto* const factor = setting<double>(*speeds, "factor");
    const auto length = count_of(*speeds, "original_max_position");
    if (factor == nullptr && !length) continue;
    return scaling_rule{policy.name(), speeds->name(), factor ? stated<double>(*factor) : stated<double>(none),
                        length ? stated<index_t>(*length) : stated<index_t>(none)};
  }
  return none;
}

/// The reach of a visibility policy to a side (behind or ahead): of a window, or of the nearest one of all_of.
[[nodiscard]] inline std::optional<index_t> reach_of(const policy_record& policy, std::string_view side) {
  if (policy.name() == "window") return count_of(policy, side);
  std::optional<index_t> nearest;
  const auto* const parts = policy.name() == "all_of" ? setting<std::vector<policy_record>>(policy, "parts") : nullptr;
  if (parts == nullptr) return nearest;
  for (const policy_record& part : *parts) {
    if (const auto reach = reach_of(part, side)) nearest = std::min(*reach, nearest.value_or(*reach));
  }
  return nearest;
}
/// The nearest reach of all windows that every key has to be in.
[[nodiscard]] inline stated<index_t> reach_of(const std::vector<policy_part>& policies, std::string_view side) {
  stated<index_t> nearest = none;
  for (const policy_part& one : policies) {
    const auto reach = reach_of(one.policy, side);
    if (reach) nearest = std::min(*reach, nearest.value().value_or(*reach));
  }
  return nearest;
}

/// What all policies read together.
[[nodiscard]] inline reads reads_of(const std::vector<policy_part>& policies) noexcept {
  reads all = reads::nothing;
  for (const policy_part& one : policies) all = all | audit::reads_of(one.reads);
  return all;
}
/// What the numbers follow: what the policies read that are no visibility or, where that is nothing of the positions,
/// what the visibilities read.
[[nodiscard]] inline position_reference reference_of(const std::vector<policy_part>& policies) noexcept {
  reads others = reads::nothing;
  for (const policy_part& one : policies) {
    if (family_of(one.policy) != "visibility") others = others | audit::reads_of(one.reads);
  }
  const auto reference = audit::reference_of(others);
  return reference == position_reference::none ? audit::reference_of(reads_of(policies)) : reference;
}

/// Whether the origin matters: policies read places counted from it, how far the call reaches from it, or values that a
/// caller bound to places.
[[nodiscard]] constexpr origin_effect origin_of(reads all) noexcept {
  return includes_any(all, reads::absolute | reads::extent | reads::name) ? origin_effect::matters
                                                                          : origin_effect::irrelevant;
}

[[nodiscard]] constexpr length_range trained_range(index_t length, index_t trained) noexcept {
  return length > trained ? length_range::beyond_trained : length_range::within_trained;
}

/// The slopes of a policy, if it has some.
[[nodiscard]] inline const std::vector<double>* slopes_of(const policy_record& policy) noexcept {
  const auto* const slopes = setting<policy_record>(policy, "slopes");
  return slopes == nullptr ? nullptr : setting<std::vector<double>>(*slopes, "values");
}

}  // namespace posgeo::audit::detail
