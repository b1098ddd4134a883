// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/audit/html/picture.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

namespace posgeo::audit::html {

/// The least and the largest of some numbers, those that are not finite left out; {0, 0} without any.
struct number_range {
  double low = 0.0;
  double high = 0.0;
  friend bool operator==(const number_range&, const number_range&) noexcept = default;
};
[[nodiscard]] inline number_range range_of(const std::vector<double>& numbers) {
  bool any = false;
  number_range out;
  for (const double x : numbers) {
    if (!std::isfinite(x)) continue;
    out = any ? number_range{std::min(out.low, x), std::max(out.high, x)} : number_range{x, x};
    any = true;
  }
  return out;
}

/// Round numbers within a range, 1, 2 or 5 times a power of ten apart, about `wanted` of them.
[[nodiscard]] inline std::vector<double> ticks(number_range range, int wanted) {
  if (!(range.high > range.low)) return {range.low};
  const double rough = (range.high - range.low) / std::max(1, wanted);
  const double power = std::pow(10.0, std::floor(std::log10(rough)));
  const double times = rough / power;
  const double step = power * (times <= 1.0 ? 1.0 : times <= 2.0 ? 2.0 : times <= 5.0 ? 5.0 : 10.0);
  std::vector<double> out;
  for (double n = std::ceil(range.low / step - 1e-9); n * step <= range.high + 1e-9 * step; n += 1.0) {
    out.push_back(n * step);
  }
  return out;
}

/// A colour of the scale that the cells of pictures have: its lightness grows with the number, so that it reads in
/// grey, and no two of its ends are told apart by red and green.
struct rgb {
  int red;
  int green;
  int blue;
};
[[nodiscard]] inline rgb colour_at(double share) {
  constexpr std::array<rgb, 7> stops{
      {{0, 34, 78}, {42, 63, 109}, {87, 93, 109}, {125, 124, 120}, {166, 157, 117}, {209, 193, 93}, {254, 232, 56}}};
  const double steps = std::round(std::clamp(share, 0.0, 1.0) * 48.0) / 48.0 * (stops.size() - 1);
  const auto below = std::min(static_cast<std::size_t>(steps), stops.size() - 2);
  const double part = steps - static_cast<double>(below);
  const auto mixed = [part](int a, int b) { return static_cast<int>(std::lround(a + (b - a) * part)); };
  const rgb& a = stops[below];
  const rgb& b = stops[below + 1];
  return {mixed(a.red, b.red), mixed(a.green, b.green), mixed(a.blue, b.blue)};
}
[[nodiscard]] inline std::string written(const rgb& c) {
  return fmt::format("#{:02x}{:02x}{:02x}", c.red, c.green, c.blue);
}

/// The share of the scale that a number takes within a range; one half where the range is one number.
[[nodiscard]] inline double share_of(double number, number_range range) noexcept {
  return range.high > range.low ? (number - range.low) / (range.high - range.low) : 0.5;
}

/// Relative luminance as WCAG 2 defines it.
[[nodiscard]] inline double luminance(const rgb& c) {
  const auto linear = [](int eight_bits) {
    const double s = eight_bits / 255.0;
    return s <= 0.04045 ? s / 12.92 : std::pow((s + 0.055) / 1.055, 2.4);
  };
  return 0.2126 * linear(c.red) + 0.7152 * linear(c.green) + 0.0722 * linear(c.blue);
}
/// The look of a text on a cell of that colour: the one with more contrast.
[[nodiscard]] inline std::string_view text_on(const rgb& c) { return luminance(c) > 0.18 ? "on-light" : "on-dark"; }

/// The scale of a range, as a bar with its numbers.
[[nodiscard]] inline picture scale_bar(number_range range, std::string_view unit) {
  constexpr double left = 26, top = 6, width = 250, height = 12;
  picture out(300, 52, fmt::format("Colours of {}", unit),
              fmt::format("Cells from {} (dark) to {} (light).", shown(range.low), shown(range.high)));
  constexpr int steps = 25;
  for (int n = 0; n < steps; ++n) {
    out.cell(left + width * n / steps, top, width / steps + 0.3, height, written(colour_at(n / (steps - 1.0))));
  }
  for (const double x : ticks(range, 4)) {
    const double at = left + width * share_of(x, range);
    out.line(at, top + height, at, top + height + 4, "axis");
    out.text(at, top + height + 15, anchor::middle, shown(x));
  }
  out.text(left + width / 2, top + height + 30, anchor::middle, unit, "soft");
  return out;
}

}  // namespace posgeo::audit::html
