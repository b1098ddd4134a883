// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/contract/convert/step.hpp>

namespace posgeo::contract {

/// Row p + a becomes row p + b. Rows before that of position 0 are read by no position: new ones are zero, and those
/// that fall away must not be the padding row, which keeps its distance to the row of position 0.
/// Throws: errc::conversion for a padding row that would fall away.
/// Source: the BART and OPT releases (2), RoBERTa and fairseq (padding_idx + 1).
inline void convert_row_offset(conversion_state& state, const checkpoint_contract& target) {
  const checkpoint_contract& c = state.contract;
  const bool absolute = c.family == checkpoint_family::learned_absolute || c.family == checkpoint_family::sinusoidal;
  if (!absolute || c.row_offset == target.row_offset || c.family != target.family) return;
  const index_t shift = target.row_offset - c.row_offset;
  if (target.rows != stated<index_t>(saturating_add(*c.rows.value(), shift))) return;
  std::vector<index_t> order;
  for (index_t row = 0; row < *c.rows.value() + shift; ++row) order.push_back(std::max(row - shift, index_t{-1}));
  if (c.padding_row.value()) {
    const index_t padding = *c.padding_row.value() + shift;
    require(padding >= 0, errc::conversion, "conversion", "padding_row", "one that stays in the table",
            text("row {}, which would fall away", *c.padding_row.value()));
    state.contract.padding_row = padding;
  }
  convert_detail::take_rows(state, order);
  state.tensors.erase("position_ids");
  state.contract.row_offset = target.row_offset;
  state.identities.emplace_back("position p reads row p + its offset, and no position reads a row before that of 0");
}

}  // namespace posgeo::contract
