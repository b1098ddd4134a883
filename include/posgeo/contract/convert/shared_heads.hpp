// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/contract/convert/step.hpp>

namespace posgeo::contract {

/// One table for all heads <-> a table for each: copies, and back only if all are equal.
/// Throws: errc::conversion for heads with other numbers.
/// Source: Shaw et al. 2018, section 3.2: shared by the heads of a layer or not.
inline void convert_shared_heads(conversion_state& state, const checkpoint_contract& target) {
  const auto shared = stated<table_layout>(table_layout::shared_rows);
  const auto per_head = stated<table_layout>(table_layout::rows_per_head);
  const index_t heads = state.contract.heads.query;
  if (state.contract.layout == shared && target.layout == per_head) {
    for (const std::string& role : convert_detail::table_roles(state.contract)) {
      stored_tensor& table = state.tensors.at(role);
      table.extents.insert(table.extents.begin(), 1);
      table = convert_detail::gathered(table, 0, std::vector<index_t>(static_cast<std::size_t>(heads), 0));
    }
    state.identities.emplace_back("every head gets a copy of the table that it shared");
  } else if (state.contract.layout == per_head && target.layout == shared) {
    for (const std::string& role : convert_detail::table_roles(state.contract)) {
      stored_tensor& table = state.tensors.at(role);
      for (index_t h = 1; h < heads; ++h) {
        require(convert_detail::equal_slices(table, 0, 0, h), errc::conversion, "conversion", "layout",
                text("a {} that is the same for every head", role), text("other numbers at place {}", h));
      }
      table = convert_detail::gathered(table, 0, {0});
      table.extents.erase(table.extents.begin());
    }
    state.identities.emplace_back("the heads share the table that they all held");
  } else {
    return;
  }
  state.contract.layout = target.layout;
}

}  // namespace posgeo::contract
