// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/core/description.hpp>
#include <posgeo/core/policy.hpp>
#include <posgeo/core/reads.hpp>
#include <posgeo/core/required.hpp>

#include <cmath>

namespace posgeo::scale {

/// Which score is bounded. Both exist in the field, so there is no default.
enum class softcap_place {
  before_bias,  ///< the scaled score, then the biases are added (Gemma 2, ONNX Attention as corrected in 2026)
  after_bias,   ///< the scaled score with its biases (ONNX Attention before that)
};

[[nodiscard]] constexpr std::string_view name_of(softcap_place place) noexcept {
  return place == softcap_place::before_bias ? "before_bias" : "after_bias";
}

struct softcap_settings {
  required<double> cap;
  required<softcap_place> place;
};

/// score -> cap * tanh(score / cap).
/// Units:  score.
/// Throws: errc::scale_settings, when built, unless the cap is finite and above 0.
/// Source: Gemma Team 2024 (Gemma 2), section 2.
class softcap {
 public:
  using family = posgeo::family::softcap;
  explicit softcap(const softcap_settings& settings) : settings_(settings) {
    require(std::isfinite(settings.cap) && settings.cap > 0.0, errc::scale_settings, "softcap", "cap",
            "a finite number above 0", static_cast<double>(settings.cap));
  }
  [[nodiscard]] static constexpr reads positional_reads() noexcept { return reads::nothing; }
  [[nodiscard]] description describe() const {
    return description("softcap").with("cap", cap()).with("place", name_of(place()));
  }
  [[nodiscard]] double cap() const noexcept { return settings_.cap; }
  [[nodiscard]] softcap_place place() const noexcept { return settings_.place; }

 private:
  softcap_settings settings_;
};

}  // namespace posgeo::scale
