// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/call/distinct_angles.hpp>
#include <posgeo/call/within_length.hpp>
#include <posgeo/core/head_parts.hpp>
#include <posgeo/core/positional_range.hpp>
#include <posgeo/core/precision.hpp>
#include <posgeo/core/reads.hpp>
#include <posgeo/core/required.hpp>
#include <posgeo/frequency/frequency.hpp>
#include <posgeo/transform/qk_transform.hpp>
#include <posgeo/transform/sine_cosine.hpp>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <vector>

namespace posgeo::transform {

/// Which two dimensions of the rotated range turn together. Checkpoints of one kind are gibberish under the other.
enum class pairing {
  adjacent,  ///< (2i, 2i + 1): GPT-J, RoFormer
  halves,    ///< (i, i + rotary_dim / 2): GPT-NeoX, Llama in its usual conversion
};

[[nodiscard]] constexpr std::string_view name_of(pairing how) noexcept {
  return how == pairing::adjacent ? "adjacent" : "halves";
}

/// The two dimensions of one pair.
struct dimension_pair {
  std::size_t x;
  std::size_t y;
};

/// The dimensions of a pair among `count` pairs that fill dimensions [0, 2 * count).
[[nodiscard]] constexpr dimension_pair dimensions_of(pairing how, std::size_t pair, std::size_t count) noexcept {
  if (how == pairing::adjacent) return {2 * pair, 2 * pair + 1};
  return {pair, pair + count};
}

/// (x, y) -> (x cosine - y sine, x sine + y cosine).
template <class T>
void turn_by(T cosine, T sine, T& x, T& y) noexcept {
  const T turned = x * cosine - y * sine;
  y = x * sine + y * cosine;
  x = turned;
}

/// (x, y) -> factor * (x cos - y sin, x sin + y cos). The angle is in double; sine and cosine are rounded once.
template <class T>
void turn_pair(double angle, T& x, T& y, double factor = 1.0) noexcept {
  turn_by(static_cast<T>(factor * std::cos(angle)), static_cast<T>(factor * std::sin(angle)), x, y);
}

struct rotary_settings {
  required<pairing> pairs;
  index_t offset = 0;  ///< added to every position, of queries and keys alike
};

/// Pair i of a row at position p turns by the angle p w_i: (x, y) -> (x cos - y sin, x sin + y cos), cosine and sine
/// times the attention factor of the frequencies. Dimensions behind the rotated ones pass through as they are.
/// Shapes: rows [head_dim], of which the first 2 * frequencies.pairs() turn.
/// Units:  angles in radians, formed in double and rounded once.
/// Throws: errc::frequency_settings, when built, for frequencies of no pair and for a frequency or attention factor
///         that is not finite; when compiled, errc::shape_mismatch if more dimensions turn than a head has or the
///         frequencies are made for another head_dim, errc::frame_mismatch across frames, errc::position_precision for
///         a position that is not exact in double, errc::sequence_length for a position beyond the length that the
///         frequencies are made for.
/// Source: Su et al. 2021, section 3.2.2, equation 15.
template <frequency_rule Frequency>
class rotary {
 public:
  using family = posgeo::family::qk_transform;

  rotary(const Frequency& frequency, const rotary_settings& settings)
      : settings_(settings),
        attention_factor_(attention_factor_of(frequency)),
        sequence_length_(sequence_length_of(frequency)) {
    require(frequency.pairs() > 0, errc::frequency_settings, "rotary", "pairs of the frequencies", "at least 1",
            frequency.pairs());
    std::vector<double> speeds;
    for (index_t pair = 0; pair < frequency.pairs(); ++pair) {
      speeds.push_back(frequency.at(pair));
      require(std::isfinite(speeds.back()), errc::frequency_settings, "rotary", text("frequency of pair {}", pair),
              "a finite number", speeds.back());
    }
    require(std::isfinite(attention_factor_), errc::frequency_settings, "rotary", "attention factor", "a finite number",
            attention_factor_);
    ladder_ = std::make_shared<const ladder>(ladder{std::move(speeds), description_of(frequency)});
    if constexpr (requires { frequency.head_dim(); }) head_dim_ = frequency.head_dim();
    require(settings.offset >= -position_limit && settings.offset <= position_limit, errc::position_overflow, "rotary",
            "offset", "an integer less than 2^62 from zero", settings.offset);
  }

  [[nodiscard]] index_t rotary_dim() const noexcept { return 2 * static_cast<index_t>(speeds().size()); }
  /// The only head width that the frequencies are made for, if they say so.
  [[nodiscard]] std::optional<index_t> head_dim() const noexcept { return head_dim_; }
  [[nodiscard]] const rotary_settings& settings() const noexcept { return settings_; }
  [[nodiscard]] const std::vector<double>& speeds() const noexcept { return ladder_->speeds; }
  [[nodiscard]] double attention_factor() const noexcept { return attention_factor_; }
  [[nodiscard]] std::optional<index_t> sequence_length() const noexcept { return sequence_length_; }

  /// A length that the frequencies are made for is a number of theirs, which no call changes: not the extent is read.
  [[nodiscard]] static constexpr reads positional_reads() noexcept { return reads::offset; }
  [[nodiscard]] positional_range range() const noexcept {
    const index_t end = sequence_length_ ? std::min(*sequence_length_ - 1, angle_position_limit) : angle_position_limit;
    return {.lowest_position = -angle_position_limit - settings_.offset, .highest_position = end - settings_.offset};
  }

  [[nodiscard]] description describe() const {
    return description("rotary")
        .with("frequencies", ladder_->rule)
        .with("pairs", name_of(settings_.pairs))
        .with("offset", settings_.offset);
  }

  /// Turns one row as if it stood at p.
  template <class T>
  void rotate(position p, std::span<T> row) const noexcept {
    turn_to(static_cast<double>(p.value() + settings_.offset), row);
  }
  /// The gradient of a row that was turned as if it stood at p becomes that of the row as it was: it turns by the
  /// opposite angle, and keeps the attention factor.
  template <class T>
  void rotate_back(position p, std::span<T> d_row) const noexcept {
    turn_to(-static_cast<double>(p.value() + settings_.offset), d_row);
  }

  /// Itself: every head turns alike.
  [[nodiscard]] rotary part(const head_slice&) const { return *this; }

  void check(const position_call& call, const heads& layout, violations& found) const {
    found.expect(rotary_dim() <= layout.dim, errc::shape_mismatch, "rotary", "rotary_dim",
                 text("at most head_dim {}", layout.dim), rotary_dim());
    found.expect(!head_dim_ || *head_dim_ == layout.dim, errc::shape_mismatch, "rotary", "head_dim of the frequencies",
                 layout.dim, head_dim_.value_or(0));
    expect_same_frame(call, "rotary", found);
    expect_distinct_angles(call.query_space(), settings_.offset, "rotary", found);
    expect_distinct_angles(call.key_space(), settings_.offset, "rotary", found);
    if (!sequence_length_) return;
    expect_within_length(call.query_space(), settings_.offset, *sequence_length_, "rotary", found);
    expect_within_length(call.key_space(), settings_.offset, *sequence_length_, "rotary", found);
  }

  template <class T>
  class term {
   public:
    void query(batch_index b, head_index, query_index i, std::span<T> row) const noexcept {
      policy_.rotate(call_.at(b, i), row);
    }
    void key(batch_index b, head_index, key_index j, std::span<T> row) const noexcept {
      policy_.rotate(call_.at(b, j), row);
    }
    void turn_back(batch_index b, head_index, query_index i, std::span<T> d_row) const noexcept {
      policy_.rotate_back(call_.at(b, i), d_row);
    }
    void turn_back(batch_index b, head_index, key_index j, std::span<T> d_row) const noexcept {
      policy_.rotate_back(call_.at(b, j), d_row);
    }
    [[nodiscard]] index_t rotary_dim() const noexcept { return policy_.rotary_dim(); }
    /// In double what rotate uses, to the bit; in float within one unit in the last place of it.
    void turns(position first, index_t count, std::span<T> out) const noexcept {
      const auto width = static_cast<std::size_t>(rotary_dim());
      for (index_t n = 0; n < count; ++n) {
        T* const row = out.data() + static_cast<std::size_t>(n) * width;
        const auto where = static_cast<double>(first.value() + n + policy_.settings_.offset);
        if (std::same_as<T, float> && std::abs(where) * fastest_ <= quick_angle_limit) {
          write(where, row, [](double angle) { return quick_sine_cosine(angle); });
        } else {
          write(where, row, [](double angle) { return sine_cosine{std::sin(angle), std::cos(angle)}; });
        }
      }
    }
    void turn(std::span<const T> turns, std::span<T> row) const noexcept {
      const std::size_t pairs = policy_.speeds().size();
      const auto each = [&](auto dimensions) {
        for (std::size_t pair = 0; pair < pairs; ++pair) {
          const auto [x, y] = dimensions(pair);
          turn_by(turns[pair], turns[pairs + pair], row[x], row[y]);
        }
      };
      if (policy_.settings_.pairs == pairing::adjacent) {
        each([=](std::size_t pair) { return dimensions_of(pairing::adjacent, pair, pairs); });
      } else {
        each([=](std::size_t pair) { return dimensions_of(pairing::halves, pair, pairs); });
      }
    }

   private:
    friend class rotary;
    term(rotary policy, position_call call) : policy_(std::move(policy)), call_(std::move(call)) {
      for (const double speed : policy_.speeds()) fastest_ = std::max(fastest_, std::abs(speed));
    }
    template <class Function>
    void write(double where, T* cosines, const Function& function) const noexcept {
      const std::size_t pairs = policy_.speeds().size();
      const double* const speeds = policy_.speeds().data();
      T* const sines = cosines + pairs;
      const double factor = policy_.attention_factor_;
      for (std::size_t pair = 0; pair < pairs; ++pair) {
        const sine_cosine of = function(where * speeds[pair]);
        cosines[pair] = static_cast<T>(factor * of.cosine);
        sines[pair] = static_cast<T>(factor * of.sine);
      }
    }
    rotary policy_;
    position_call call_;
    double fastest_ = 0.0;
  };

  template <class T>
  [[nodiscard]] term<T> compile(const position_call& call, const heads& layout) const {
    require_fit(*this, call, layout);
    return {*this, call};
  }

 private:
  struct ladder {
    std::vector<double> speeds;
    description rule;
  };
  template <class T>
  void turn_to(double where, std::span<T> row) const noexcept {
    for (std::size_t pair = 0; pair < speeds().size(); ++pair) {
      const auto [x, y] = dimensions_of(settings_.pairs, pair, speeds().size());
      turn_pair(where * speeds()[pair], row[x], row[y], attention_factor_);
    }
  }
  rotary_settings settings_;
  std::optional<index_t> head_dim_;
  double attention_factor_;
  std::optional<index_t> sequence_length_;
  std::shared_ptr<const ladder> ladder_;
};

}  // namespace posgeo::transform
