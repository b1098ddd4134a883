// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/contract/convert/step.hpp>

#include <cmath>

namespace posgeo::contract {

namespace convert_detail {

/// 1 / sqrt(n * head_dim), or 1 where nothing is divided.
inline double scale_of(const checkpoint_contract& c) {
  if (!c.scale_factor.value()) return 1.0;
  return 1.0 / std::sqrt(static_cast<double>(*c.scale_factor.value()) * static_cast<double>(index_t{c.heads.dim}));
}

}  // namespace convert_detail

/// Another score scale, folded into the query projection where the contract has one: s q . k = s' (s / s' q) . k.
inline void convert_score_scale(conversion_state& state, const checkpoint_contract& target) {
  const bool queries = state.tensors.contains("queries.weight");
  if (!queries || state.contract.scale_factor == target.scale_factor || state.contract.heads != target.heads) return;
  const double factor = convert_detail::scale_of(state.contract) / convert_detail::scale_of(target);
  for (auto& [role, tensor] : state.tensors) {
    if (!role.starts_with("queries.")) continue;
    for (double& value : tensor.values) value *= factor;
  }
  state.contract.scale_factor = target.scale_factor;
  state.arithmetic = step_arithmetic::other_order;
  state.identities.emplace_back("the query projection carries the ratio of the two score scales");
}

}  // namespace posgeo::contract
