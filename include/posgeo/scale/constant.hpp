// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/core/description.hpp>
#include <posgeo/core/reads.hpp>
#include <posgeo/scale/score_scale.hpp>

#include <cmath>

namespace posgeo::scale {

/// A number given by the model.
/// Throws: errc::scale_settings, when built, unless it is finite and above 0.
/// Source: model configurations, such as Gemma's query_pre_attn_scalar.
class constant {
 public:
  using family = posgeo::family::score_scale;
  explicit constant(double value) : value_(value) {
    require(std::isfinite(value) && value > 0.0, errc::scale_settings, "constant scale", "value",
            "a finite number above 0", value);
  }
  [[nodiscard]] static constexpr reads positional_reads() noexcept { return reads::nothing; }
  [[nodiscard]] description describe() const { return description("constant").with("value", value_); }
  [[nodiscard]] double factor(const heads&, index_t) const noexcept { return value_; }

 private:
  double value_;
};

}  // namespace posgeo::scale
