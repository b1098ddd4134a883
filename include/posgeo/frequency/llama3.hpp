// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/frequency/interpolated.hpp>

namespace posgeo::frequency {

struct llama3_settings {
  required<double> base;
  required<index_t> rotary_dim;
  required<double> factor;
  required<double> low_freq_factor;   ///< turns over the trained length up to which a pair is divided by the factor
  required<double> high_freq_factor;  ///< turns from which a pair stays as it is
  required<index_t> original_max_position;
};

/// A pair that makes g turns over the trained length keeps the share (g - low) / (high - low) of its speed, within 0
/// and 1; the rest is divided by the factor.
/// Units:  radians per position.
/// Throws: what geometric throws; errc::frequency_settings for a factor below 1, bounds out of order or a length that
///         is not positive.
/// Source: Llama 3.1, as released; transformers, rope type "llama3".
class llama3 {
 public:
  explicit llama3(const llama3_settings& settings)
      : unscaled_({.base = settings.base, .rotary_dim = settings.rotary_dim}), settings_(settings) {
    violations found;
    check_factor(settings.factor, "llama3 frequencies", found);
    check_length(settings.original_max_position, "llama3 frequencies", "original_max_position", found);
    found.expect(settings.low_freq_factor > 0.0 && settings.low_freq_factor < settings.high_freq_factor &&
                     std::isfinite(settings.high_freq_factor),
                 errc::frequency_settings, "llama3 frequencies", "low_freq_factor and high_freq_factor",
                 "finite numbers above 0, the low one first",
                 text("{} and {}", double{settings.low_freq_factor}, double{settings.high_freq_factor}));
    found.throw_if_any();
  }

  [[nodiscard]] index_t pairs() const noexcept { return unscaled_.pairs(); }
  [[nodiscard]] double at(index_t pair) const noexcept {
    const double speed = unscaled_.at(pair);
    return interpolated(
        speed, settings_.factor,
        share_of_turns(speed, settings_.original_max_position, settings_.low_freq_factor, settings_.high_freq_factor));
  }
  [[nodiscard]] description describe() const {
    return description("llama3")
        .with("base", double{settings_.base})
        .with("rotary_dim", index_t{settings_.rotary_dim})
        .with("factor", double{settings_.factor})
        .with("low_freq_factor", double{settings_.low_freq_factor})
        .with("high_freq_factor", double{settings_.high_freq_factor})
        .with("original_max_position", index_t{settings_.original_max_position});
  }

 private:
  geometric unscaled_;
  llama3_settings settings_;
};

}  // namespace posgeo::frequency
