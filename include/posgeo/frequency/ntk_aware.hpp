// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/frequency/interpolated.hpp>

namespace posgeo::frequency {

/// base * stretch^(d / (d - 2)), d = rotary_dim: pair 0 keeps its speed, the last pair is divided by the stretch.
/// Throws: errc::frequency_settings for one pair alone, which cannot do both, or a base that becomes no finite number.
[[nodiscard]] inline double stretched_base(double base, index_t rotary_dim, double stretch, std::string_view object) {
  require(rotary_dim != 2, errc::frequency_settings, object, "rotary_dim", "more than one pair", rotary_dim);
  const auto d = static_cast<double>(rotary_dim);
  const double stretched = base * std::pow(stretch, d / (d - 2.0));
  require(std::isfinite(stretched), errc::frequency_settings, object, "factor",
          "one that keeps the stretched base a finite number", text("a stretch of {}", stretch));
  return stretched;
}

struct ntk_aware_settings {
  required<double> base;
  required<index_t> rotary_dim;
  required<double> factor;  ///< how many times longer the context becomes
};

/// Pair i turns by base'^(-2i / rotary_dim), where base' = base * factor^(rotary_dim / (rotary_dim - 2)).
/// Units:  radians per position.
/// Throws: what geometric throws; errc::frequency_settings for a factor that is not finite and at least 1, or a
///         rotary_dim of 2.
/// Source: Peng et al. 2023 (YaRN), definition 1; the NTK-aware base of bloc97.
class ntk_aware {
 public:
  explicit ntk_aware(const ntk_aware_settings& settings)
      : settings_(settings),
        base_(stretched_base(settings.base, settings.rotary_dim, checked(settings), "NTK-aware frequencies")),
        stretched_({.base = base_, .rotary_dim = settings.rotary_dim}) {}

  /// The stretched base.
  [[nodiscard]] double base() const noexcept { return base_; }
  [[nodiscard]] index_t pairs() const noexcept { return stretched_.pairs(); }
  [[nodiscard]] double at(index_t pair) const noexcept { return stretched_.at(pair); }
  [[nodiscard]] description describe() const {
    return description("ntk_aware")
        .with("base", double{settings_.base})
        .with("rotary_dim", index_t{settings_.rotary_dim})
        .with("factor", double{settings_.factor});
  }

 private:
  static double checked(const ntk_aware_settings& settings) {
    violations found;
    check_ladder(settings.base, settings.rotary_dim, "NTK-aware frequencies", found);
    check_factor(settings.factor, "NTK-aware frequencies", found);
    found.throw_if_any();
    return settings.factor;
  }

  ntk_aware_settings settings_;
  double base_;
  geometric stretched_;
};

}  // namespace posgeo::frequency
