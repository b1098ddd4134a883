// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/frequency/geometric.hpp>

namespace posgeo::frequency {

struct proportional_settings {
  required<double> base;
  required<index_t> rotary_dim;  ///< dimensions that turn
  required<index_t> head_dim;    ///< dimensions that the exponent and the pairing count over
};

/// Pair i of head_dim / 2 turns by base^(-2i / head_dim) while i < rotary_dim / 2, and not at all after that.
/// Not the same as a partial rotation, whose exponents and partners count over rotary_dim.
/// Units:  radians per position.
/// Throws: errc::odd_width for an odd width or rotary_dim above head_dim; errc::frequency_settings for a bad base.
/// Source: the proportional rotary variant of Gemma's global layers (Barbero et al. 2024, p-RoPE, section 6).
class proportional {
 public:
  explicit proportional(const proportional_settings& settings) : settings_(settings) {
    violations found;
    found.expect(settings.head_dim > 0 && settings.head_dim % 2 == 0, errc::odd_width, "proportional frequencies",
                 "head_dim", "an even number of at least 2", settings.head_dim);
    found.expect(settings.rotary_dim > 0 && settings.rotary_dim % 2 == 0 && settings.rotary_dim <= settings.head_dim,
                 errc::odd_width, "proportional frequencies", "rotary_dim",
                 text("an even number from 2 to head_dim {}", settings.head_dim), settings.rotary_dim);
    check_base(settings.base, "proportional frequencies", found);
    found.throw_if_any();
    const double last = at(settings.rotary_dim / 2 - 1);
    require(std::isfinite(last), errc::frequency_settings, "proportional frequencies", "frequency of the last pair",
            "a finite number", last);
  }

  /// The only head width that these frequencies are made for.
  [[nodiscard]] index_t head_dim() const noexcept { return settings_.head_dim; }

  [[nodiscard]] index_t pairs() const noexcept { return settings_.head_dim / 2; }
  [[nodiscard]] double at(index_t pair) const noexcept {
    if (pair >= settings_.rotary_dim / 2) return 0.0;
    return std::pow(settings_.base, -2.0 * static_cast<double>(pair) / static_cast<double>(settings_.head_dim));
  }
  [[nodiscard]] description describe() const {
    return description("proportional")
        .with("base", double{settings_.base})
        .with("rotary_dim", index_t{settings_.rotary_dim})
        .with("head_dim", index_t{settings_.head_dim});
  }

 private:
  proportional_settings settings_;
};

}  // namespace posgeo::frequency
