// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/frequency/interpolated.hpp>

#include <optional>
#include <utility>

namespace posgeo::frequency {

/// Over what the share of a speed that is kept falls from 1 to 0. Paper and released code differ.
enum class yarn_ramp {
  pair_index,        ///< the pair's number, the two edges rounded outward: transformers, DeepSeek
  exact_pair_index,  ///< the pair's number between unrounded edges: gpt-oss (truncate false)
  turns,             ///< the turns over the trained length: the paper's equations 18 and 19
};

[[nodiscard]] constexpr std::string_view name_of(yarn_ramp ramp) noexcept {
  if (ramp == yarn_ramp::turns) return "turns";
  return ramp == yarn_ramp::pair_index ? "pair_index" : "exact_pair_index";
}

struct yarn_settings {
  required<double> base;
  required<index_t> rotary_dim;
  required<double> factor;
  required<index_t> original_max_position;
  required<yarn_ramp> ramp;
  double beta_fast = 32.0;                      ///< turns from which a pair stays as it is
  double beta_slow = 1.0;                       ///< turns up to which a pair is divided by the factor
  std::optional<double> attention_factor = {};  ///< left out: 0.1 ln(factor) + 1
};

struct mscale_settings {
  required<double> factor;
  required<double> mscale;
  required<double> mscale_all_dim;
};

/// 0.1 m ln(factor) + 1, once with mscale for m over once with mscale_all_dim; 1 for a factor of at most 1.
/// Source: DeepSeek-V2 and V3, as released: yarn_get_mscale.
[[nodiscard]] inline double mscale_ratio(const mscale_settings& settings) noexcept {
  if (settings.factor <= 1.0) return 1.0;
  const double log_factor = std::log(settings.factor);
  return (0.1 * settings.mscale * log_factor + 1.0) / (0.1 * settings.mscale_all_dim * log_factor + 1.0);
}

/// Pairs that turn often over the trained length L0 keep their speed, pairs that turn rarely are divided by the factor,
/// a ramp lies between. A pair index c turns b times: c(b) = d ln(L0 / (2 pi b)) / (2 ln base), d = rotary_dim.
/// Units:  radians per position. Cosines and sines are multiplied by the attention factor, scores by its square.
/// Throws: what geometric throws; errc::frequency_settings for a factor below 1, a base of at most 1, betas or ramp
///         edges out of order (no ramp over turns has edges), a length that is not positive, an attention factor that
///         is not finite and above 0.
/// Source: Peng et al. 2023, sections 3.2 and 3.4; transformers, rope type "yarn".
class yarn {
 public:
  explicit yarn(const yarn_settings& settings)
      : unscaled_({.base = settings.base, .rotary_dim = settings.rotary_dim}), settings_(settings) {
    violations found;
    check_factor(settings.factor, "YaRN frequencies", found);
    check_length(settings.original_max_position, "YaRN frequencies", "original_max_position", found);
    found.expect(settings.base > 1.0, errc::frequency_settings, "YaRN frequencies", "base", "above 1",
                 double{settings.base});
    found.expect(
        settings.beta_slow > 0.0 && settings.beta_slow < settings.beta_fast && std::isfinite(settings.beta_fast),
        errc::frequency_settings, "YaRN frequencies", "beta_slow and beta_fast",
        "finite numbers above 0, the slow one first", text("{} and {}", settings.beta_slow, settings.beta_fast));
    found.throw_if_any();
    require(std::isfinite(attention_factor()) && attention_factor() > 0.0, errc::frequency_settings, "YaRN frequencies",
            "attention_factor", "a finite number above 0", attention_factor());
    if (settings.ramp == yarn_ramp::turns) return;
    const auto [low, high] = edges();
    require(low <= high, errc::frequency_settings, "YaRN frequencies", "ramp over the pairs",
            "the fast edge first (is original_max_position the trained length?)", text("{} to {}", low, high));
  }

  [[nodiscard]] index_t pairs() const noexcept { return unscaled_.pairs(); }
  [[nodiscard]] double at(index_t pair) const noexcept {
    const double speed = unscaled_.at(pair);
    return interpolated(speed, settings_.factor, settings_.ramp == yarn_ramp::turns ? by_turns(speed) : by_index(pair));
  }
  [[nodiscard]] double attention_factor() const noexcept {
    return settings_.attention_factor.value_or(0.1 * std::log(settings_.factor) + 1.0);
  }
  /// The attention factor is the one that was given; absent, where it was left out.
  [[nodiscard]] description describe() const {
    return description("yarn")
        .with("base", double{settings_.base})
        .with("rotary_dim", index_t{settings_.rotary_dim})
        .with("factor", double{settings_.factor})
        .with("original_max_position", index_t{settings_.original_max_position})
        .with("ramp", name_of(settings_.ramp))
        .with("beta_fast", settings_.beta_fast)
        .with("beta_slow", settings_.beta_slow)
        .with("attention_factor", settings_.attention_factor);
  }

 private:
  [[nodiscard]] double by_turns(double speed) const noexcept {
    return share_of_turns(speed, settings_.original_max_position, settings_.beta_slow, settings_.beta_fast);
  }
  [[nodiscard]] double by_index(index_t pair) const noexcept {
    const auto [low, high] = edges();
    const auto i = static_cast<double>(pair);
    if (low == high) return i > low ? 0.0 : 1.0;
    return 1.0 - std::clamp((i - low) / (high - low), 0.0, 1.0);
  }
  /// The pair indices between which the ramp lies, within 0 and rotary_dim - 1.
  [[nodiscard]] std::pair<double, double> edges() const noexcept {
    const auto d = static_cast<double>(settings_.rotary_dim);
    const auto turning = [&](double turns) {
      const double length = static_cast<double>(settings_.original_max_position);
      return d * std::log(length / (2.0 * std::numbers::pi * turns)) / (2.0 * std::log(settings_.base));
    };
    const bool exact = settings_.ramp == yarn_ramp::exact_pair_index;
    const double low = exact ? turning(settings_.beta_fast) : std::floor(turning(settings_.beta_fast));
    const double high = exact ? turning(settings_.beta_slow) : std::ceil(turning(settings_.beta_slow));
    return {std::max(low, 0.0), std::min(high, d - 1.0)};
  }

  geometric unscaled_;
  yarn_settings settings_;
};

}  // namespace posgeo::frequency
