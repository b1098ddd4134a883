// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/core/description.hpp>
#include <posgeo/core/reads.hpp>
#include <posgeo/scale/score_scale.hpp>

#include <cmath>

namespace posgeo::scale {

/// 1 / sqrt(head_dim).
/// Throws: nothing.
/// Source: Vaswani et al. 2017, equation 1.
struct inverse_sqrt_head_dim {
  using family = posgeo::family::score_scale;
  [[nodiscard]] static constexpr reads positional_reads() noexcept { return reads::nothing; }
  [[nodiscard]] description describe() const { return description("inverse_sqrt_head_dim"); }
  [[nodiscard]] double factor(const heads& layout, index_t) const noexcept {
    return 1.0 / std::sqrt(static_cast<double>(layout.dim));
  }
};

}  // namespace posgeo::scale
