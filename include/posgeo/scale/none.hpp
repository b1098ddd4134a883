// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/core/description.hpp>
#include <posgeo/core/reads.hpp>
#include <posgeo/scale/score_scale.hpp>

namespace posgeo::scale {

/// The raw score as it is: factor 1.
/// Throws: nothing.
/// Source: Raffel et al. 2020 (T5 folds the scale into its initialisation).
struct none {
  using family = posgeo::family::score_scale;
  [[nodiscard]] static constexpr reads positional_reads() noexcept { return reads::nothing; }
  [[nodiscard]] description describe() const { return description("none"); }
  [[nodiscard]] double factor(const heads&, index_t) const noexcept { return 1.0; }
};

}  // namespace posgeo::scale
