// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/core/description.hpp>
#include <posgeo/core/error.hpp>
#include <posgeo/core/required.hpp>
#include <posgeo/frequency/frequency.hpp>

#include <cmath>

namespace posgeo::frequency {

/// Refuses a base that gives no rotation or no number.
inline void check_base(double base, std::string_view object, violations& found) {
  found.expect(std::isfinite(base) && base > 0.0, errc::frequency_settings, object, "base", "a finite number above 0",
               base);
}

/// Refuses a base and a width that make no ladder of speeds.
inline void check_ladder(double base, index_t rotary_dim, std::string_view object, violations& found) {
  found.expect(rotary_dim > 0 && rotary_dim % 2 == 0, errc::odd_width, object, "rotary_dim",
               "an even number of at least 2", rotary_dim);
  check_base(base, object, found);
}

struct geometric_settings {
  required<double> base;
  required<index_t> rotary_dim;
};

/// Pair i of rotary_dim / 2 turns by base^(-2i / rotary_dim).
/// Units:  radians per position.
/// Throws: errc::odd_width for an odd or non-positive rotary_dim; errc::frequency_settings for a base that is not
///         finite and above 0.
/// Source: Su et al. 2021, section 3.2.2; Vaswani et al. 2017, section 3.5.
class geometric {
 public:
  explicit geometric(const geometric_settings& settings) : settings_(settings) {
    violations found;
    check_ladder(settings.base, settings.rotary_dim, "geometric frequencies", found);
    found.throw_if_any();
    require(std::isfinite(at(pairs() - 1)), errc::frequency_settings, "geometric frequencies",
            "frequency of the last pair", "a finite number", at(pairs() - 1));
  }

  [[nodiscard]] index_t pairs() const noexcept { return settings_.rotary_dim / 2; }
  [[nodiscard]] double at(index_t pair) const noexcept {
    return std::pow(settings_.base, -2.0 * static_cast<double>(pair) / static_cast<double>(settings_.rotary_dim));
  }
  [[nodiscard]] description describe() const {
    return description("geometric")
        .with("base", double{settings_.base})
        .with("rotary_dim", index_t{settings_.rotary_dim});
  }

 private:
  geometric_settings settings_;
};

}  // namespace posgeo::frequency
