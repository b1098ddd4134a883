// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/frequency/interpolated.hpp>

#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace posgeo::frequency {

struct longrope_settings {
  required<double> base;
  required<index_t> rotary_dim;
  std::span<const double> short_factor;         ///< one divisor for each pair, up to the trained length
  std::span<const double> long_factor;          ///< one divisor for each pair, beyond it
  required<index_t> original_max_position;      ///< the trained length
  required<index_t> max_position;               ///< the extended length
  required<index_t> sequence_length;            ///< the whole length of the sequence: cached rows and those to come
  std::optional<double> attention_factor = {};  ///< left out: sqrt(1 + ln(max / original) / ln(original))
};

/// Pair i turns by base^(-2i / rotary_dim) / factor[i]: the short factors while the whole sequence fits the trained
/// length, the long ones beyond. Keys turned under one table cannot meet queries turned under the other: declare the
/// whole length before the first row.
/// Shapes: factors [rotary_dim / 2] each.
/// Units:  radians per position. Cosines and sines are multiplied by the attention factor, scores by its square.
/// Throws: what geometric throws; errc::shape_mismatch for lists of another size; errc::frequency_settings for a
///         divisor or attention factor that is not finite and above 0, or lengths out of order;
///         errc::sequence_length for a sequence beyond max_position.
/// Source: Ding et al. 2024 (LongRoPE), section 3; transformers, rope type "longrope" (Phi-3).
class longrope {
 public:
  explicit longrope(const longrope_settings& settings)
      : unscaled_({.base = settings.base, .rotary_dim = settings.rotary_dim}),
        settings_(settings),
        short_factor_(settings.short_factor.begin(), settings.short_factor.end()),
        long_factor_(settings.long_factor.begin(), settings.long_factor.end()),
        sequence_length_(std::max<index_t>(settings.sequence_length, settings.original_max_position)) {
    violations found;
    check_divisors(settings.short_factor, "short_factor", found);
    check_divisors(settings.long_factor, "long_factor", found);
    found.expect(settings.original_max_position > 1, errc::frequency_settings, "longrope frequencies",
                 "original_max_position", "at least 2", index_t{settings.original_max_position});
    check_length(settings.sequence_length, "longrope frequencies", "sequence_length", found);
    found.expect(settings.max_position >= settings.original_max_position && settings.max_position <= position_limit,
                 errc::frequency_settings, "longrope frequencies", "max_position",
                 text("at least original_max_position {}", index_t{settings.original_max_position}),
                 index_t{settings.max_position});
    found.expect(settings.sequence_length <= settings.max_position, errc::sequence_length, "longrope frequencies",
                 "sequence_length", text("at most max_position {}", index_t{settings.max_position}),
                 index_t{settings.sequence_length});
    found.throw_if_any();
    settings_.short_factor = {};  // the caller's memory; the copies stay
    settings_.long_factor = {};
    const auto original = static_cast<double>(settings.original_max_position);
    const double stretch = static_cast<double>(settings.max_position) / original;
    attention_factor_ = settings.attention_factor.value_or(std::sqrt(1.0 + std::log(stretch) / std::log(original)));
    require(std::isfinite(attention_factor_) && attention_factor_ > 0.0, errc::frequency_settings,
            "longrope frequencies", "attention_factor", "a finite number above 0", attention_factor_);
  }

  [[nodiscard]] index_t pairs() const noexcept { return unscaled_.pairs(); }
  [[nodiscard]] double at(index_t pair) const noexcept {
    const bool fits = settings_.sequence_length <= settings_.original_max_position;
    return unscaled_.at(pair) / (fits ? short_factor_ : long_factor_)[static_cast<std::size_t>(pair)];
  }
  [[nodiscard]] double attention_factor() const noexcept { return attention_factor_; }
  [[nodiscard]] index_t sequence_length() const noexcept { return sequence_length_; }
  /// The attention factor is the one that was given; absent, where it was left out.
  [[nodiscard]] description describe() const {
    return description("longrope")
        .with("base", double{settings_.base})
        .with("rotary_dim", index_t{settings_.rotary_dim})
        .with("short_factor", short_factor_)
        .with("long_factor", long_factor_)
        .with("original_max_position", index_t{settings_.original_max_position})
        .with("max_position", index_t{settings_.max_position})
        .with("sequence_length", index_t{settings_.sequence_length})
        .with("attention_factor", settings_.attention_factor);
  }

 private:
  void check_divisors(std::span<const double> divisors, std::string_view axis, violations& found) const {
    found.expect(std::cmp_equal(divisors.size(), pairs()), errc::shape_mismatch, "longrope frequencies", axis,
                 text("{}, one for each pair", pairs()), divisors.size());
    for (const double divisor : divisors) {
      found.expect(std::isfinite(divisor) && divisor > 0.0, errc::frequency_settings, "longrope frequencies", axis,
                   "finite numbers above 0", divisor);
    }
  }

  geometric unscaled_;
  longrope_settings settings_;
  std::vector<double> short_factor_;
  std::vector<double> long_factor_;
  index_t sequence_length_;
  double attention_factor_ = 1.0;
};

}  // namespace posgeo::frequency
