// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/contract/convert/step.hpp>
#include <posgeo/contract/rotary_rows.hpp>

namespace posgeo::contract {

/// Adjacent pairs <-> halves: the rows of the query and key projections that turned together turn together
/// (rotary_rows).
/// Source: Su et al. 2021, section 3.2.2; the permutation of the released Llama conversion.
inline void convert_rotary_pairs(conversion_state& state, const checkpoint_contract& target) {
  const checkpoint_contract& c = state.contract;
  if (!c.rotary.value() || !target.rotary.value() || c.rotary == target.rotary) return;
  const rotary_layout from = *c.rotary.value();
  const rotary_layout to = *target.rotary.value();
  if (from.rotary_dim != to.rotary_dim) return;
  const rotary_conversion conversion{.from = from.pairs, .to = to.pairs, .rotary_dim = from.rotary_dim};
  for (auto& [role, tensor] : state.tensors) {
    const auto rows = role.starts_with("keys.") ? rotary_rows::of_keys(c.heads, conversion)
                                                : rotary_rows::of_queries(c.heads, conversion);
    tensor = convert_detail::gathered(tensor, 0, rows.order());
  }
  state.contract.rotary = target.rotary;
  state.arithmetic = step_arithmetic::other_order;
  state.identities.emplace_back("the two rows of every pair turn together, at other places of their head");
}

}  // namespace posgeo::contract
