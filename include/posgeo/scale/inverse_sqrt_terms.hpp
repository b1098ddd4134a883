// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/core/description.hpp>
#include <posgeo/core/reads.hpp>
#include <posgeo/scale/score_scale.hpp>

#include <cmath>

namespace posgeo::scale {

/// 1 / sqrt(head_dim * n), where n counts query . key and the dot products that content terms declare with
/// dot_products(), which content::deberta and content::tupe do: a term that is left out is not counted, nor is one that
/// declares none.
/// Throws: nothing.
/// Source: He et al. 2021 (DeBERTa), equation 4, where n = 3; Ke, He and Liu 2021 (TUPE), equation 7, where n = 2.
struct inverse_sqrt_terms {
  using family = posgeo::family::score_scale;
  [[nodiscard]] static constexpr reads positional_reads() noexcept { return reads::nothing; }
  [[nodiscard]] description describe() const { return description("inverse_sqrt_terms"); }
  [[nodiscard]] double factor(const heads& layout, index_t dot_products) const noexcept {
    return 1.0 / std::sqrt(static_cast<double>(layout.dim) * static_cast<double>(dot_products));
  }
};

}  // namespace posgeo::scale
