// SPDX-License-Identifier: MIT
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace posgeo::transform {

struct sine_cosine {
  double sine;
  double cosine;
};

/// The largest angle that quick_sine_cosine takes: 2^20 quarter turns.
inline constexpr double quick_angle_limit = 1.6e6;

/// Sine and cosine of |angle| <= quick_angle_limit to a relative error of 1e-13, so that rounded to float they are
/// within one unit in the last place. No branch and no call: loops over it can run in lanes.
/// Units: radians. Source: the series of Taylor, after Cody and Waite's reduction to [-pi / 4, pi / 4].
[[nodiscard]] inline sine_cosine quick_sine_cosine(double angle) noexcept {
  constexpr double two_over_pi = 0.636619772367581343;
  constexpr double half_pi_first = 1.57079632673412561417;       // 33 bits: times 2^20 exact
  constexpr double half_pi_second = 6.07710050630396597660e-11;  // the next 33
  constexpr double half_pi_rest = 2.02226624879595063154e-21;
  constexpr double to_integer = 6755399441055744.0;  // 1.5 * 2^52: a sum with it has no fraction

  const double shifted = angle * two_over_pi + to_integer;
  const auto quarter = std::bit_cast<std::uint64_t>(shifted);  // its last two bits count quarter turns
  const double turns = shifted - to_integer;
  const double r = ((angle - turns * half_pi_first) - turns * half_pi_second) - turns * half_pi_rest;
  const double z = r * r;

  double s = 1.0 / 6227020800.0;  // 1 / 13!
  s = s * z - 1.0 / 39916800.0;
  s = s * z + 1.0 / 362880.0;
  s = s * z - 1.0 / 5040.0;
  s = s * z + 1.0 / 120.0;
  s = s * z - 1.0 / 6.0;
  s = r + r * z * s;
  double c = -1.0 / 87178291200.0;  // 1 / 14!
  c = c * z + 1.0 / 479001600.0;
  c = c * z - 1.0 / 3628800.0;
  c = c * z + 1.0 / 40320.0;
  c = c * z - 1.0 / 720.0;
  c = c * z + 1.0 / 24.0;
  c = c * z - 0.5;
  c = 1.0 + z * c;

  const bool swapped = (quarter & 1U) != 0;
  const double sine = swapped ? c : s;
  const double cosine = swapped ? s : c;
  return {(quarter & 2U) != 0 ? -sine : sine, ((quarter + 1) & 2U) != 0 ? -cosine : cosine};
}

}  // namespace posgeo::transform
