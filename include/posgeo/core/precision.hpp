// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/core/error.hpp>
#include <posgeo/core/index.hpp>

#include <Eigen/Core>

#include <bit>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <string_view>

namespace posgeo {

/// The number formats that a table can be built or kept in.
enum class precision { binary64, binary32, binary16, bfloat16 };
[[nodiscard]] constexpr std::string_view name_of(precision format) noexcept {
  constexpr std::string_view names[] = {"binary64", "binary32", "binary16", "bfloat16"};
  return names[static_cast<std::size_t>(format)];
}
/// The format that an element type has.
template <class Element>
requires(std::same_as<Element, double> || std::same_as<Element, float> || std::same_as<Element, Eigen::half> ||
         std::same_as<Element, Eigen::bfloat16>) inline constexpr precision precision_of =
    std::same_as<Element, double>        ? precision::binary64
    : std::same_as<Element, float>       ? precision::binary32
    : std::same_as<Element, Eigen::half> ? precision::binary16
                                         : precision::bfloat16;

namespace detail {

/// The neighbouring float whose last bit is set, unless value is a float itself: rounding that once more, to a shorter
/// format, gives what rounding value once gives.
[[nodiscard]] inline float round_to_odd(double value) noexcept {
  const float nearest = static_cast<float>(value);
  const double rounded = static_cast<double>(nearest);
  if (rounded == value || (std::bit_cast<std::uint32_t>(nearest) & 1U) != 0) return nearest;
  constexpr float infinity = std::numeric_limits<float>::infinity();
  return std::nextafter(nearest, rounded < value ? infinity : -infinity);
}

}  // namespace detail

/// The nearest value of the format, ties to even, as a double.
[[nodiscard]] inline double round_to(precision format, double value) noexcept {
  switch (format) {
    case precision::binary64:
      return value;
    case precision::binary32:
      return static_cast<double>(static_cast<float>(value));
    case precision::binary16:
      return static_cast<double>(static_cast<float>(Eigen::half(detail::round_to_odd(value))));
    case precision::bfloat16:
      return static_cast<double>(static_cast<float>(Eigen::bfloat16(detail::round_to_odd(value))));
  }
  return value;
}

/// Positions beyond this are no longer all distinct as doubles, in which angles are formed.
inline constexpr index_t angle_position_limit = index_t{1} << 53;

/// Refuses a position whose angle could not be told from its neighbour's.
inline void expect_distinct_angle(position p, std::string_view object, violations& found) {
  found.expect(p.value() >= -angle_position_limit && p.value() <= angle_position_limit, errc::position_precision,
               object, "position", "at most 2^53 from zero, to be exact in double", p.value());
}

}  // namespace posgeo
