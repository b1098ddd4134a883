// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/contract/convert/step.hpp>

namespace posgeo::contract {

/// sin 0, cos 0, sin 1, cos 1, ... <-> every sine, then every cosine: the columns of the table, and of whatever else
/// stands in the order of its columns.
/// Throws: errc::conversion for an odd width, whose last column may be either's.
/// Source: Vaswani et al. 2017, section 3.5, and the released tensor2tensor code.
inline void convert_sinusoid_columns(conversion_state& state, const checkpoint_contract& target) {
  const checkpoint_contract& c = state.contract;
  if (c.family != checkpoint_family::sinusoidal || target.family != c.family || c.layout == target.layout) return;
  stored_tensor& table = state.tensors.at("table");
  const index_t width = table.extents[1];
  require(width % 2 == 0, errc::conversion, "conversion", "layout", "an even width", width);
  std::vector<index_t> order;
  for (index_t column = 0; column < width; ++column) {
    const bool to_concatenated = target.layout == stated<table_layout>(table_layout::concatenated);
    order.push_back(to_concatenated ? 2 * (column % (width / 2)) + column / (width / 2)
                                    : column / 2 + column % 2 * (width / 2));
  }
  table = convert_detail::gathered(table, 1, order);
  state.contract.layout = target.layout;
  state.arithmetic = step_arithmetic::other_order;
  state.identities.emplace_back("sine and cosine of every pair stand in other columns, with what reads them");
}

}  // namespace posgeo::contract
