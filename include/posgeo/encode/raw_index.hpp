// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/core/narrow.hpp>
#include <posgeo/core/positional_range.hpp>
#include <posgeo/core/precision.hpp>
#include <posgeo/core/reads.hpp>
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
///         errc::position_out_of_table for a position below 0 or from 2^53 on, errc::non_finite for a row that T cannot
///         hold, when compiled.
/// Source: none to follow; sinusoidal is the cure.
class raw_index {
 public:
  using family = posgeo::family::state_encoder;

  explicit raw_index(const raw_index_settings& settings) : settings_(settings) {
    require(settings.width > 0, errc::shape_mismatch, "raw_index", "width", "at least 1", settings.width);
    const double furthest = settings.alpha * static_cast<double>(capacity());
    require(furthest - furthest == 0.0, errc::non_finite, "raw_index", "alpha",
            "a number that 2^53 times over is finite", settings.alpha);
  }

  [[nodiscard]] index_t width() const noexcept { return settings_.width; }
  [[nodiscard]] index_t capacity() const noexcept { return angle_position_limit; }
  [[nodiscard]] static constexpr reads positional_reads() noexcept { return reads::absolute | reads::padding; }
  [[nodiscard]] positional_range range() const noexcept {
    return {.lowest_position = 0, .highest_position = capacity() - 1};
  }
  [[nodiscard]] description describe() const {
    return description("raw_index").with("width", index_t{settings_.width}).with("alpha", double{settings_.alpha});
  }

  template <class Put>
  void for_each_column(index_t p, const Put& put) const noexcept {
    for (index_t c = 0; c < width(); ++c) put(c, settings_.alpha * static_cast<double>(p));
  }
  template <class T>
  [[nodiscard]] of_positions<T, raw_index> compile(const position_call& call) const {
    of_positions<T, raw_index> term(*this, call, "raw_index");
    for (const batch_index b : indices<batch_index>(call.batch())) {
      for (const query_index i : indices<query_index>(call.queries())) {
        const double value = settings_.alpha * static_cast<double>(call.at(b, i).value());
        require(!call.active(b, i) || fits<T>(value), errc::non_finite, "raw_index",
                text("row {} in entry {}", i.value(), b.value()), "a number that the type of the states can hold",
                value);
      }
    }
    return term;
  }

 private:
  raw_index_settings settings_;
};

}  // namespace posgeo::encode
