// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/frequency/ntk_aware.hpp>

namespace posgeo::frequency {

struct dynamic_ntk_settings {
  required<double> base;
  required<index_t> rotary_dim;
  required<double> factor;
  required<index_t> original_max_position;  ///< the trained length
  required<index_t> sequence_length;        ///< the whole length of the sequence: cached rows and those to come
};

/// The base grows with the sequence once it is longer than the trained length L0: with L = max(sequence_length, L0),
/// base' = base * (factor * L / L0 - (factor - 1))^(rotary_dim / (rotary_dim - 2)).
/// Keys turned for one length cannot meet queries turned for another: declare the whole length before the first row.
/// Units:  radians per position.
/// Throws: what ntk_aware throws; errc::frequency_settings for a length that is not positive.
/// Source: Peng et al. 2023 (YaRN), section 3.3; transformers, rope type "dynamic".
class dynamic_ntk {
 public:
  explicit dynamic_ntk(const dynamic_ntk_settings& settings)
      : settings_(settings),
        base_(stretched_base(settings.base, settings.rotary_dim, stretch(settings), "dynamic NTK frequencies")),
        sequence_length_(std::max<index_t>(settings.sequence_length, settings.original_max_position)),
        stretched_({.base = base_, .rotary_dim = settings.rotary_dim}) {}

  [[nodiscard]] double base() const noexcept { return base_; }
  [[nodiscard]] index_t pairs() const noexcept { return stretched_.pairs(); }
  [[nodiscard]] double at(index_t pair) const noexcept { return stretched_.at(pair); }
  [[nodiscard]] index_t sequence_length() const noexcept { return sequence_length_; }
  [[nodiscard]] description describe() const {
    return description("dynamic_ntk")
        .with("base", double{settings_.base})
        .with("rotary_dim", index_t{settings_.rotary_dim})
        .with("factor", double{settings_.factor})
        .with("original_max_position", index_t{settings_.original_max_position})
        .with("sequence_length", index_t{settings_.sequence_length});
  }

 private:
  static double stretch(const dynamic_ntk_settings& settings) {
    violations found;
    check_ladder(settings.base, settings.rotary_dim, "dynamic NTK frequencies", found);
    check_factor(settings.factor, "dynamic NTK frequencies", found);
    check_length(settings.original_max_position, "dynamic NTK frequencies", "original_max_position", found);
    check_length(settings.sequence_length, "dynamic NTK frequencies", "sequence_length", found);
    found.throw_if_any();
    const index_t beyond = std::max<index_t>(settings.sequence_length - settings.original_max_position, 0);
    return 1.0 + settings.factor * static_cast<double>(beyond) / static_cast<double>(settings.original_max_position);
  }

  dynamic_ntk_settings settings_;
  double base_;
  index_t sequence_length_;
  geometric stretched_;
};

}  // namespace posgeo::frequency
