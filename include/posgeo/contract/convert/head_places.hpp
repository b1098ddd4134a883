// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/contract/convert/step.hpp>

namespace posgeo::contract {

/// Head g, which stands at place n of one order, stands at another place of the other, with its own numbers. The rows
/// of key heads follow the groups of query heads that read them.
/// Source: tensor-parallel checkpoints, whose parts hold the heads in an order of their own.
inline void convert_head_places(conversion_state& state, const checkpoint_contract& target) {
  const checkpoint_contract& c = state.contract;
  if (c.order == target.order || c.heads != target.heads) return;
  const std::vector<index_t>& has = c.order.heads();
  std::vector<index_t> places;
  for (const index_t head : target.order.heads()) {
    places.push_back(std::find(has.begin(), has.end(), head) - has.begin());
  }
  const index_t group = c.heads.query / c.heads.key_value;
  std::vector<index_t> of_keys;
  for (index_t n = 0; n < c.heads.key_value; ++n) {
    of_keys.push_back(places[static_cast<std::size_t>(n * group)] / group);
  }
  for (auto& [role, tensor] : state.tensors) {
    if (role == "table" && !checkpoint_detail::of_numbers(c.family)) continue;
    if (role == "table") {
      tensor = convert_detail::gathered(tensor, 1 - convert_detail::row_axis(*c.layout.value()), places);
    } else if (tensor.extents.size() == 3) {
      tensor = convert_detail::gathered(tensor, 0, places);
    } else if (role.ends_with(".weight") || role.ends_with(".bias")) {
      const auto& heads = role.starts_with("keys.") ? of_keys : places;
      std::vector<index_t> rows;
      for (const index_t place : heads) {
        for (index_t d = 0; d < c.heads.dim; ++d) rows.push_back(place * c.heads.dim + d);
      }
      tensor = convert_detail::gathered(tensor, 0, rows);
    }
  }
  state.contract.order = target.order;
  state.identities.emplace_back("every head keeps its own numbers, at another place");
}

}  // namespace posgeo::contract
