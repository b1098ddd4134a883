// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/frequency/interpolated.hpp>

namespace posgeo::frequency {

struct linear_interpolated_settings {
  required<double> base;
  required<index_t> rotary_dim;
  required<double> factor;  ///< how many times longer the context becomes
};

/// Pair i turns by base^(-2i / rotary_dim) / factor: every position is divided by the factor.
/// Units:  radians per position.
/// Throws: what geometric throws; errc::frequency_settings for a factor that is not finite and at least 1.
/// Source: Chen et al. 2023, position interpolation, section 2.3.
class linear_interpolated {
 public:
  explicit linear_interpolated(const linear_interpolated_settings& settings)
      : unscaled_({.base = settings.base, .rotary_dim = settings.rotary_dim}), settings_(settings) {
    violations found;
    check_factor(settings.factor, "linear interpolation", found);
    found.throw_if_any();
  }

  [[nodiscard]] index_t pairs() const noexcept { return unscaled_.pairs(); }
  [[nodiscard]] double at(index_t pair) const noexcept { return unscaled_.at(pair) / settings_.factor; }
  [[nodiscard]] description describe() const {
    return description("linear_interpolated")
        .with("base", double{settings_.base})
        .with("rotary_dim", index_t{settings_.rotary_dim})
        .with("factor", double{settings_.factor});
  }

 private:
  geometric unscaled_;
  linear_interpolated_settings settings_;
};

}  // namespace posgeo::frequency
