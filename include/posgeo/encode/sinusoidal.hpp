// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/call/position_call.hpp>
#include <posgeo/core/positional_range.hpp>
#include <posgeo/core/precision.hpp>
#include <posgeo/core/reads.hpp>
#include <posgeo/core/required.hpp>
#include <posgeo/encode/state_encoder.hpp>
#include <posgeo/frequency/geometric.hpp>

#include <cmath>
#include <memory>
#include <vector>

namespace posgeo::encode {

/// Where sine and cosine of a pair stand. The two hold the same numbers in other columns.
enum class sinusoid_layout {
  interleaved,   ///< sin 0, cos 0, sin 1, cos 1, ...
  concatenated,  ///< every sine, then every cosine
};

[[nodiscard]] constexpr std::string_view name_of(sinusoid_layout layout) noexcept {
  return layout == sinusoid_layout::interleaved ? "interleaved" : "concatenated";
}

/// How the frequencies are spaced over h pairs of a width d. Tables of different spacing are unrelated.
enum class sinusoid_exponent {
  paper,           ///< base^(-2i / d)
  half_minus_one,  ///< base^(-i / (h - 1)); needs two pairs (fairseq)
  tensor2tensor,   ///< as half_minus_one, and a single pair turns at the scale itself
};

[[nodiscard]] constexpr std::string_view name_of(sinusoid_exponent exponent) noexcept {
  if (exponent == sinusoid_exponent::paper) return "paper";
  return exponent == sinusoid_exponent::half_minus_one ? "half_minus_one" : "tensor2tensor";
}

/// What the last column of an odd width holds.
enum class odd_width {
  refused,
  unpaired_sine,  ///< the sine of one more frequency (paper exponent only)
  zero_column,    ///< nothing
};

[[nodiscard]] constexpr std::string_view name_of(odd_width odd) noexcept {
  if (odd == odd_width::refused) return "refused";
  return odd == odd_width::unpaired_sine ? "unpaired_sine" : "zero_column";
}

struct sinusoidal_settings {
  required<index_t> width;
  required<sinusoid_layout> layout;
  required<sinusoid_exponent> exponent;
  double base = 10000.0;
  double frequency_scale = 1.0;  ///< multiplies every frequency (tensor2tensor's min_timescale)
  index_t offset = 0;            ///< added to every position (fairseq: padding_idx + 1)
  odd_width odd = odd_width::refused;
  padded_rows padding = padded_rows::by_position();
  precision construction = precision::binary64;  ///< positions, frequencies and phases are rounded to this
};

/// Row p holds sin(p w_i) and cos(p w_i) of a ladder of frequencies w_i.
/// Shapes: states [batch, rows, width].
/// Units:  phases in radians; positions in tokens.
/// Throws: errc::odd_width, errc::frequency_settings and errc::shape_mismatch when built; errc::position_precision when
///         compiled for a position that is not exact in double.
/// Source: Vaswani et al. 2017, section 3.5; spacing by h - 1: tensor2tensor and fairseq.
class sinusoidal {
 public:
  using family = posgeo::family::state_encoder;

  explicit sinusoidal(const sinusoidal_settings& settings) : settings_(settings) {
    check(settings).throw_if_any();
    auto frequencies = std::make_shared<std::vector<double>>();
    for (index_t pair = 0; pair < sines(); ++pair) {
      frequencies->push_back(frequency(pair));
      require(std::isfinite(frequencies->back()), errc::frequency_settings, "sinusoidal",
              text("frequency of pair {}", pair), "a finite number", frequencies->back());
    }
    frequencies_ = std::move(frequencies);
  }

  [[nodiscard]] static violations check(const sinusoidal_settings& s) {
    violations found;
    found.expect(s.width > 0, errc::shape_mismatch, "sinusoidal", "width", "at least 1", s.width);
    found.expect(s.width % 2 == 0 || s.odd != odd_width::refused, errc::odd_width, "sinusoidal", "width",
                 "an even number (or a named rule for the last column)", s.width);
    found.expect(s.odd != odd_width::unpaired_sine || s.exponent == sinusoid_exponent::paper, errc::odd_width,
                 "sinusoidal", "exponent", "the paper's, with an unpaired sine",
                 "a spacing that has no next frequency");
    const bool needs_two = s.exponent == sinusoid_exponent::half_minus_one;
    found.expect(!needs_two || s.width >= 4, errc::frequency_settings, "sinusoidal", "width",
                 "at least 4 for a spacing by half minus one", s.width);
    frequency::check_base(s.base, "sinusoidal", found);
    found.expect(std::isfinite(s.frequency_scale) && s.frequency_scale > 0.0, errc::frequency_settings, "sinusoidal",
                 "frequency_scale", "a finite number above 0", s.frequency_scale);
    found.expect(s.padding.how() != padded_rows::rule::table_row, errc::table_rows, "sinusoidal", "padding",
                 "by_position or untouched", "a table row, and there is no table");
    found.expect(s.offset >= -position_limit && s.offset <= position_limit, errc::position_overflow, "sinusoidal",
                 "offset", "an integer less than 2^62 from zero", s.offset);
    return found;
  }

  [[nodiscard]] const sinusoidal_settings& settings() const noexcept { return settings_; }
  [[nodiscard]] index_t width() const noexcept { return settings_.width; }
  [[nodiscard]] const std::vector<double>& frequencies() const noexcept { return *frequencies_; }
  [[nodiscard]] reads positional_reads() const noexcept {
    const bool told = settings_.padding.how() != padded_rows::rule::by_position;
    return reads::absolute | (told ? reads::padding : reads::nothing);
  }
  [[nodiscard]] positional_range range() const noexcept {
    return {.lowest_position = -angle_position_limit - settings_.offset,
            .highest_position = angle_position_limit - settings_.offset};
  }
  [[nodiscard]] description describe() const {
    return description("sinusoidal")
        .with("width", index_t{settings_.width})
        .with("layout", name_of(settings_.layout))
        .with("exponent", name_of(settings_.exponent))
        .with("base", settings_.base)
        .with("frequency_scale", settings_.frequency_scale)
        .with("offset", settings_.offset)
        .with("odd", name_of(settings_.odd))
        .with("padding", settings_.padding.describe())
        .with("construction", name_of(settings_.construction));
  }

  /// Calls put(column, value) for each column of the row at a coordinate, which need not be an integer.
  template <class Put>
  void for_each_column(double coordinate, const Put& put) const noexcept {
    const precision built = settings_.construction;
    const double where = round_to(built, coordinate);
    const bool interleaved = settings_.layout == sinusoid_layout::interleaved;
    for (index_t pair = 0; pair < sines(); ++pair) {
      const double phase = round_to(built, where * (*frequencies_)[static_cast<std::size_t>(pair)]);
      put(interleaved ? 2 * pair : pair, std::sin(phase));
      if (pair < cosines()) put(interleaved ? 2 * pair + 1 : sines() + pair, std::cos(phase));
    }
  }

  template <class T>
  class term;

  /// Refuses a row, offset added, that could not be told from its neighbour or that the construction cannot hold.
  void expect_distinct(index_t coordinate, std::string_view object, violations& found) const {
    expect_distinct_angle(position{coordinate}, object, found);
    const double built = round_to(settings_.construction, static_cast<double>(coordinate));
    found.expect(std::isfinite(built), errc::position_precision, object, "position",
                 "one that the construction precision can hold", coordinate);
  }

  void check(const position_call& call, violations& found) const {
    for (index_t b = 0; b < call.batch(); ++b) {
      const auto [lowest, highest] = call.query_space().position_bounds(b);
      expect_distinct(lowest + settings_.offset, "sinusoidal", found);
      if (highest != lowest) expect_distinct(highest + settings_.offset, "sinusoidal", found);
    }
  }

  template <class T>
  [[nodiscard]] term<T> compile(const position_call& call) const {
    violations found;
    check(call, found);
    found.throw_if_any();
    return {*this, call};
  }

 private:
  [[nodiscard]] index_t sines() const noexcept {
    return settings_.odd == odd_width::unpaired_sine ? (settings_.width + 1) / 2 : settings_.width / 2;
  }
  [[nodiscard]] index_t cosines() const noexcept { return settings_.width / 2; }

  [[nodiscard]] double frequency(index_t pair) const noexcept {
    const auto i = static_cast<double>(pair);
    const auto last = static_cast<double>(cosines() - 1);
    const double exponent = settings_.exponent == sinusoid_exponent::paper
                                ? 2.0 * i / static_cast<double>(settings_.width)
                                : i / std::max(last, 1.0);
    return round_to(settings_.construction, settings_.frequency_scale * std::pow(settings_.base, -exponent));
  }

  sinusoidal_settings settings_;
  std::shared_ptr<const std::vector<double>> frequencies_;
};

template <class T>
class sinusoidal::term {
 public:
  [[nodiscard]] index_t width() const noexcept { return policy_.width(); }
  [[nodiscard]] static nothing_learned gradient() noexcept { return {}; }
  void add_to(batch_index b, query_index i, std::span<T> row) const noexcept {
    if (policy_.settings_.padding.how() == padded_rows::rule::untouched && !call_.active(b, i)) return;
    const auto coordinate = static_cast<double>(call_.at(b, i).value() + policy_.settings_.offset);
    policy_.for_each_column(coordinate, [&](index_t column, double value) {
      row[static_cast<std::size_t>(column)] += static_cast<T>(value);
    });
  }

 private:
  friend class sinusoidal;
  term(sinusoidal policy, position_call call) : policy_(std::move(policy)), call_(std::move(call)) {}
  sinusoidal policy_;
  position_call call_;
};

}  // namespace posgeo::encode
