// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/core/error.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

namespace posgeo {

/// A finite number in a narrower type, finite there too: a penalty too large for T is T's largest, never infinity,
/// which would hide its key.
template <class T>
[[nodiscard]] constexpr T finite_cast(double value) noexcept {
  constexpr auto largest = static_cast<double>(std::numeric_limits<T>::max());
  return static_cast<T>(std::clamp(value, -largest, largest));
}

/// Whether a finite value stays finite in T.
template <class T, class Element>
[[nodiscard]] constexpr bool fits(Element value) noexcept {
  constexpr auto largest = static_cast<double>(std::numeric_limits<T>::max());
  const auto wide = static_cast<double>(value);
  return wide >= -largest && wide <= largest;
}

/// Refuses a parameter table that holds a number too large for the type of the plan.
template <class T, class Element>
void require_fits(std::span<const Element> values, std::string_view object) {
  if constexpr (std::numeric_limits<Element>::max_exponent > std::numeric_limits<T>::max_exponent) {
    for (const Element value : values) {
      require(fits<T>(value), errc::non_finite, object, "value", "a number that the type of the plan can hold", value);
    }
  }
}

/// Refuses two tables whose rows are added if the largest numbers of both, with one sign, are too large together.
template <class T, class Element>
void require_sums_fit(std::span<const Element> a, std::span<const Element> b, std::string_view object) {
  const auto largest = [](std::span<const Element> values) {
    double most = 0;
    for (const Element value : values) most = std::max(most, std::abs(static_cast<double>(value)));
    return most;
  };
  const double most = largest(a) + largest(b);
  require(fits<T>(most), errc::non_finite, object, "largest sum of two rows",
          "a number that the type of the plan can hold", most);
}

}  // namespace posgeo
