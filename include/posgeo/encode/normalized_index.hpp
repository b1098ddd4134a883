// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/core/positional_range.hpp>
#include <posgeo/core/precision.hpp>
#include <posgeo/core/reads.hpp>
#include <posgeo/core/required.hpp>
#include <posgeo/encode/of_positions.hpp>

namespace posgeo::encode {

struct normalized_index_settings {
  required<index_t> width;
  required<index_t> length;  ///< L: a declared number, never that of a tensor
};

/// A counter-example: p / L in every column. Bounded, but the same position is another row under another L, and a step
/// is 1 / L: batching or a curriculum that changes L changes the coordinate system.
/// Shapes: states [batch, rows, width].
/// Units:  positions in tokens, L tokens to 1.
/// Throws: errc::shape_mismatch for a width below 1 and errc::row_count for a length below 1 or beyond 2^53, when
/// built;
///         errc::position_out_of_table for a position outside 0 .. L - 1, when compiled.
/// Source: none to follow; sinusoidal is the cure.
class normalized_index {
 public:
  using family = posgeo::family::state_encoder;

  explicit normalized_index(const normalized_index_settings& settings) : settings_(settings) {
    require(settings.width > 0, errc::shape_mismatch, "normalized_index", "width", "at least 1", settings.width);
    require(settings.length > 0 && settings.length <= angle_position_limit, errc::row_count, "normalized_index",
            "length", "from 1 to 2^53", settings.length);
  }

  [[nodiscard]] index_t width() const noexcept { return settings_.width; }
  [[nodiscard]] index_t capacity() const noexcept { return settings_.length; }
  [[nodiscard]] static constexpr reads positional_reads() noexcept { return reads::absolute | reads::padding; }
  [[nodiscard]] positional_range range() const noexcept {
    return {.lowest_position = 0, .highest_position = capacity() - 1};
  }
  [[nodiscard]] description describe() const {
    return description("normalized_index")
        .with("width", index_t{settings_.width})
        .with("length", index_t{settings_.length});
  }

  template <class Put>
  void for_each_column(index_t p, const Put& put) const noexcept {
    const double share = static_cast<double>(p) / static_cast<double>(capacity());
    for (index_t c = 0; c < width(); ++c) put(c, share);
  }
  template <class T>
  [[nodiscard]] of_positions<T, normalized_index> compile(const position_call& call) const {
    return {*this, call, "normalized_index"};
  }

 private:
  normalized_index_settings settings_;
};

}  // namespace posgeo::encode
