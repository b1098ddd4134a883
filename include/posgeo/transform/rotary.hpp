// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/call/distinct_angles.hpp>
#include <posgeo/core/required.hpp>
#include <posgeo/frequency/frequency.hpp>
#include <posgeo/transform/qk_transform.hpp>

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

struct rotary_settings {
  required<pairing> pairs;
  index_t offset = 0;  ///< added to every position, of queries and keys alike
};

/// Pair i of a row at position p turns by the angle p w_i: (x, y) -> (x cos - y sin, x sin + y cos).
/// Dimensions behind the rotated ones pass through.
/// Shapes: rows [head_dim], of which the first 2 * frequencies.pairs() turn.
/// Units:  angles in radians, formed in double and rounded once.
/// Throws: errc::frequency_settings, when built, for a frequency that is not finite; when compiled,
/// errc::shape_mismatch
///         if more dimensions turn than a head has or the frequencies are made for another head_dim,
///         errc::frame_mismatch across frames, errc::position_precision for a position that is not exact in double.
/// Source: Su et al. 2021, section 3.2.2, equation 15.
template <frequency_rule Frequency>
class rotary {
 public:
  using family = posgeo::family::qk_transform;

  rotary(const Frequency& frequency, const rotary_settings& settings) : settings_(settings) {
    auto speeds = std::make_shared<std::vector<double>>();
    for (index_t pair = 0; pair < frequency.pairs(); ++pair) {
      speeds->push_back(frequency.at(pair));
      require(std::isfinite(speeds->back()), errc::frequency_settings, "rotary", text("frequency of pair {}", pair),
              "a finite number", speeds->back());
    }
    speeds_ = std::move(speeds);
    if constexpr (requires { frequency.head_dim(); }) head_dim_ = frequency.head_dim();
    require(settings.offset >= -position_limit && settings.offset <= position_limit, errc::position_overflow, "rotary",
            "offset", "an integer less than 2^62 from zero", settings.offset);
  }

  [[nodiscard]] index_t rotary_dim() const noexcept { return 2 * static_cast<index_t>(speeds_->size()); }
  [[nodiscard]] const std::vector<double>& speeds() const noexcept { return *speeds_; }

  /// Turns one row as if it stood at p.
  template <class T>
  void rotate(position p, std::span<T> row) const noexcept {
    const std::size_t count = speeds_->size();
    const bool adjacent = settings_.pairs == pairing::adjacent;
    const auto where = static_cast<double>(p.value() + settings_.offset);
    for (std::size_t pair = 0; pair < count; ++pair) {
      const double angle = where * (*speeds_)[pair];
      const T cosine = static_cast<T>(std::cos(angle));
      const T sine = static_cast<T>(std::sin(angle));
      T& x = row[adjacent ? 2 * pair : pair];
      T& y = row[adjacent ? 2 * pair + 1 : pair + count];
      const T turned = x * cosine - y * sine;
      y = x * sine + y * cosine;
      x = turned;
    }
  }

  void check(const position_call& call, const heads& layout, violations& found) const {
    found.expect(rotary_dim() <= layout.dim, errc::shape_mismatch, "rotary", "rotary_dim",
                 text("at most head_dim {}", layout.dim), rotary_dim());
    found.expect(!head_dim_ || *head_dim_ == layout.dim, errc::shape_mismatch, "rotary", "head_dim of the frequencies",
                 layout.dim, head_dim_.value_or(0));
    expect_same_frame(call, "rotary", found);
    expect_distinct_angles(call.query_space(), settings_.offset, "rotary", found);
    expect_distinct_angles(call.key_space(), settings_.offset, "rotary", found);
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

   private:
    friend class rotary;
    term(rotary policy, position_call call) : policy_(std::move(policy)), call_(std::move(call)) {}
    rotary policy_;
    position_call call_;
  };

  template <class T>
  [[nodiscard]] term<T> compile(const position_call& call, const heads& layout) const {
    require_fit(*this, call, layout);
    return {*this, call};
  }

 private:
  rotary_settings settings_;
  std::optional<index_t> head_dim_;
  std::shared_ptr<const std::vector<double>> speeds_;
};

}  // namespace posgeo::transform
