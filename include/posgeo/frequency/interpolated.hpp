// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/frequency/geometric.hpp>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace posgeo::frequency {

/// Refuses a factor that would speed a pair up: some files store the reciprocal.
inline void check_factor(double factor, std::string_view object, violations& found) {
  found.expect(std::isfinite(factor) && factor >= 1.0, errc::frequency_settings, object, "factor",
               "a finite number of at least 1", factor);
}

inline void check_length(index_t length, std::string_view object, std::string_view axis, violations& found) {
  found.expect(length >= 1 && length <= position_limit, errc::frequency_settings, object, axis,
               "at least 1 and less than 2^62", length);
}

/// A speed of which the share `kept`, from 0 to 1, stays as it is; the rest is divided by the factor.
[[nodiscard]] inline double interpolated(double speed, double factor, double kept) noexcept {
  return std::lerp(speed / factor, speed, kept);
}

/// Where the whole turns that a speed makes over a length lie between `few` (0) and `many` (1).
[[nodiscard]] inline double share_of_turns(double speed, index_t length, double few, double many) noexcept {
  const double turns = static_cast<double>(length) * speed / (2.0 * std::numbers::pi);
  return std::clamp((turns - few) / (many - few), 0.0, 1.0);
}

}  // namespace posgeo::frequency
