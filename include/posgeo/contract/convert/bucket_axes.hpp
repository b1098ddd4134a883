// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/contract/convert/step.hpp>

namespace posgeo::contract {

/// [buckets, heads] <-> [heads, buckets]: table[b, h] = table'[h, b].
/// Source: the T5 releases: mesh-tensorflow and Transformers have buckets first, T5X heads first.
inline void convert_bucket_axes(conversion_state& state, const checkpoint_contract& target) {
  if (!checkpoint_detail::of_numbers(state.contract.family) || !target.layout.value() ||
      state.contract.layout == target.layout || !checkpoint_detail::of_numbers(target.family)) {
    return;
  }
  stored_tensor& table = state.tensors.at("table");
  stored_tensor turned{.extents = {table.extents[1], table.extents[0]}, .values = {}};
  for (index_t column = 0; column < table.extents[1]; ++column) {
    for (index_t row = 0; row < table.extents[0]; ++row) {
      turned.values.push_back(table.values[static_cast<std::size_t>(row * table.extents[1] + column)]);
    }
  }
  table = std::move(turned);
  state.contract.layout = target.layout;
  state.identities.emplace_back("the number of bucket b and head h stands at [b, h] or [h, b]");
}

}  // namespace posgeo::contract
