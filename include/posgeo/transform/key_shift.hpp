// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/transform/multi_axis_rotary.hpp>
#include <posgeo/transform/rotary.hpp>

namespace posgeo::transform {

/// A cached key that was turned for the position it was written at. Shifts add up and wait until they are applied:
/// rotations compose, so R(s1 + s2) R(p) k = R(p + s1 + s2) k. Dimensions that do not turn stay.
///
/// Shapes: rows [head_dim], which is held against the frequencies' where they are made for one head_dim only.
/// Units:  shifts in positions, negative towards the start.
/// Throws: errc::position_overflow for a key moved beyond 2^62; errc::position_precision for a shift or a position not
///         exact in double; errc::shape_mismatch for a row shorter than the dimensions that turn, or of another
///         head_dim than the frequencies are made for; errc::sequence_length for frequencies that depend on the
///         length: the key may have turned at other speeds.
/// Source: Su et al. 2021, section 3.2.2: rotations of one plane compose.
class key_shift {
 public:
  explicit key_shift(position written) : at_(written) { require_legal(written.value()); }

  /// Where the key stands, pending shifts included. Masks and biases go by it.
  [[nodiscard]] position at() const noexcept { return at_; }
  /// What the stored row has yet to be turned by.
  [[nodiscard]] relative_offset pending() const noexcept { return pending_; }

  void shift(relative_offset by) {
    const index_t to = saturating_add(at_.value(), by.value());
    require_legal(to);
    at_ = position{to};
    pending_ = relative_offset{saturating_add(pending_.value(), by.value())};
  }

  /// Turns the stored row by what is pending, which is nothing afterwards.
  template <class Frequency, class T>
  void apply(const rotary<Frequency>& turn, std::span<T> row) {
    require(std::cmp_greater_equal(row.size(), turn.rotary_dim()), errc::shape_mismatch, "key shift", "key row",
            text("at least rotary_dim {}", turn.rotary_dim()), row.size());
    require(!turn.head_dim() || std::cmp_equal(row.size(), *turn.head_dim()), errc::shape_mismatch, "key shift",
            "key row", text("head_dim {} of the frequencies", turn.head_dim().value_or(0)), row.size());
    require(!turn.sequence_length(), errc::sequence_length, "key shift", "frequencies",
            "ones that do not depend on the length of the sequence",
            text("those of {} positions", turn.sequence_length().value_or(0)));
    violations found;
    expect_distinct_angle(position{pending_.value()}, "key shift", found);
    expect_distinct_angle(position{saturating_add(at_.value(), turn.settings().offset)}, "key shift", found);
    found.throw_if_any();
    const std::vector<double>& speeds = turn.speeds();
    for (std::size_t pair = 0; pair < speeds.size(); ++pair) {
      const auto [x, y] = dimensions_of(turn.settings().pairs, pair, speeds.size());
      turn_pair(static_cast<double>(pending_.value()) * speeds[pair], row[x], row[y]);
    }
    pending_ = relative_offset{0};
  }

  /// One number cannot shift a row that stands on several axes.
  template <std::size_t Axes, class T>
  void apply(const multi_axis_rotary<Axes>& turn, std::span<T> row) = delete;

 private:
  static void require_legal(index_t p) {
    require(p >= -position_limit && p <= position_limit, errc::position_overflow, "key shift", "position",
            "an integer less than 2^62 from zero", p);
  }

  position at_;
  relative_offset pending_;
};

}  // namespace posgeo::transform
