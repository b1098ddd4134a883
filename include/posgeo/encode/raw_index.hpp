// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/core/precision.hpp>
#include <posgeo/core/required.hpp>
#include <posgeo/encode/of_positions.hpp>

#include <cmath>

namespace posgeo::encode {

struct raw_index_settings {
  required<index_t> width;
  required<double> alpha;
};

/// A counter-example: alpha * p in every column. Positions differ, but the norm |alpha| p sqrt(width) grows without
/// bound along one direction; against content of the same width the ratio |alpha| p does not depend on the width.
/// Shapes: states [batch, rows, width].
/// Units:  positions in tokens.
/// Throws: errc::shape_mismatch for a width below 1 and errc::non_finite for such an alpha, when built;
///         errc::position_out_of_table for a position below 0 or beyond 2^53, when compiled.
/// Source: none to follow; sinusoidal is the cure.
class raw_index {
 public:
  using family = posgeo::family::state_encoder;

  explicit raw_index(const raw_index_settings& settings) : settings_(settings) {
    require(settings.width > 0, errc::shape_mismatch, "raw_index", "width", "at least 1", settings.width);
    const double furthest = settings.alpha * static_cast<double>(capacity());
    require(furthest - furthest == 0.0, errc::non_finite, "raw_index", "alpha", "a finite number up to 2^53 times over",
            settings.alpha);
  }

  [[nodiscard]] index_t width() const noexcept { return settings_.width; }
  [[nodiscard]] index_t capacity() const noexcept { return angle_position_limit; }

  template <class Put>
  void for_each_column(index_t p, const Put& put) const noexcept {
    for (index_t c = 0; c < width(); ++c) put(c, settings_.alpha * static_cast<double>(p));
  }
  template <class T>
  [[nodiscard]] of_positions<T, raw_index> compile(const position_call& call) const {
    return {*this, call, "raw_index"};
  }

 private:
  raw_index_settings settings_;
};

}  // namespace posgeo::encode
