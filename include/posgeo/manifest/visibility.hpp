// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/core/identifier.hpp>
#include <posgeo/manifest/policy_record.hpp>

namespace posgeo::manifest {

/// What the value true says in a mask.
enum class mask_polarity { true_is_visible, true_is_hidden };
[[nodiscard]] constexpr auto names_of(mask_polarity) noexcept {
  return std::array<std::string_view, 2>{"true_is_visible", "true_is_hidden"};
}

/// Whether rows of different sequences see one another.
enum class segment_isolation { one_sequence, isolated, mixed };
[[nodiscard]] constexpr auto names_of(segment_isolation) noexcept {
  return std::array<std::string_view, 3>{"one_sequence", "isolated", "mixed"};
}

/// Who may see whom: the names of the visibility policies, joined; their settings are among the methods.
struct visibility_record {
  posgeo::mask_id mask_id;
  mask_polarity polarity;
  manifest::segment_isolation segment_isolation;
  static constexpr auto fields() {
    return std::make_tuple(field("mask_id", &visibility_record::mask_id),
                           field("polarity", &visibility_record::polarity),
                           field("segment_isolation", &visibility_record::segment_isolation));
  }
  friend bool operator==(const visibility_record&, const visibility_record&) noexcept = default;
};

}  // namespace posgeo::manifest
