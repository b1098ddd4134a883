// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/core/description.hpp>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace posgeo::contract {

/// The mechanisms, and the rules inside them, that read how far two rows are apart and not where they stand. Every
/// other mechanism counts as one that reads where rows stand.
inline constexpr std::array<std::string_view, 32> mechanisms_of_differences{"active",
                                                                            "alibi",
                                                                            "alibi_slopes",
                                                                            "all_of",
                                                                            "any_of",
                                                                            "causal",
                                                                            "clipped",
                                                                            "deberta",
                                                                            "deberta_span",
                                                                            "distance_rows",
                                                                            "everything",
                                                                            "geometric",
                                                                            "learned_relative",
                                                                            "linear_interpolated",
                                                                            "llama3",
                                                                            "log_bucket",
                                                                            "nope",
                                                                            "ntk_aware",
                                                                            "projected_sinusoids",
                                                                            "proportional",
                                                                            "relative_key_query",
                                                                            "rotary",
                                                                            "segments",
                                                                            "shaw_key",
                                                                            "shaw_value",
                                                                            "speeds",
                                                                            "t5",
                                                                            "t5_bucket",
                                                                            "transformer_xl",
                                                                            "tupe_relative",
                                                                            "window",
                                                                            "yarn"};

namespace detail {

inline bool reads_no_positions(const description& policy) {
  const description::value* const family = policy.find("family");
  const std::string* const name = family == nullptr ? nullptr : std::get_if<std::string>(family);
  return name != nullptr && (*name == "score_scale" || *name == "softcap" || *name == "softmax_sink");
}

}  // namespace detail

/// Why the scores of a mechanism change when all positions move by one shift, or nothing if they stay: it, or a rule
/// inside it, reads where rows stand, was made for one length, or has a rule of its own for one position.
[[nodiscard]] inline std::optional<std::string> why_not_shifted(const description& policy) {
  const auto& known = mechanisms_of_differences;
  if (std::find(known.begin(), known.end(), policy.name()) == known.end()) {
    return fmt::format("{}, which reads where rows stand", policy.name());
  }
  for (const description::field& field : policy.fields()) {
    const bool said = !std::holds_alternative<description::absent_t>(field.what);
    if (said && field.name == "sequence_length") return fmt::format("{} of one sequence_length", policy.name());
    if (said && field.name == "cls") return fmt::format("{} with a rule for one position", policy.name());
    if (const auto* const rule = std::get_if<description>(&field.what)) {
      if (auto why = why_not_shifted(*rule)) return why;
    }
    if (const auto* const parts = std::get_if<std::vector<description>>(&field.what)) {
      for (const description& part : *parts) {
        if (auto why = why_not_shifted(part)) return why;
      }
    }
  }
  return std::nullopt;
}

/// The first reason among the policies of a method.
[[nodiscard]] inline std::optional<std::string> why_not_shifted(const std::vector<description>& method) {
  for (const description& policy : method) {
    if (detail::reads_no_positions(policy)) continue;
    if (auto why = why_not_shifted(policy)) return why;
  }
  return std::nullopt;
}

/// Whether the method hides from every row what comes after it, so that the row is what it would be without later ones.
[[nodiscard]] inline bool sees_no_later_rows(const std::vector<description>& method) {
  return std::any_of(method.begin(), method.end(), [](const description& policy) {
    const description::value* const ahead = policy.find("ahead");
    const index_t* const far = ahead == nullptr ? nullptr : std::get_if<index_t>(ahead);
    return policy.name() == "causal" || (policy.name() == "window" && far != nullptr && *far == 0);
  });
}

}  // namespace posgeo::contract
