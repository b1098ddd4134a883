// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/content/projected_rows.hpp>
#include <posgeo/contract/convert/step.hpp>

namespace posgeo::contract {

namespace convert_detail {

/// A relative table through the projection of a role, "position_keys" or "position_queries": [rows, heads * head_dim].
inline table<double> projected(const named_tensors& tensors, const std::string& role) {
  const stored_tensor& rows = tensors.at("table");
  const stored_tensor& weight = tensors.at(role + ".weight");
  const auto bias = tensors.find(role + ".bias");
  return content::projected_rows<double>(
      {rows.values, rows.extents[0], rows.extents[1]},
      {.weight = {weight.values, weight.extents[0], weight.extents[1]},
       .bias = bias == tensors.end() ? std::span<const double>{} : std::span<const double>(bias->second.values)});
}

/// The projections that a DeBERTa contract has.
inline std::vector<std::string> projections(checkpoint_family family) {
  std::vector<std::string> roles;
  if (family != checkpoint_family::deberta_p2c) roles.emplace_back("position_keys");
  if (family != checkpoint_family::deberta_c2p) roles.emplace_back("position_queries");
  return roles;
}

}  // namespace convert_detail

/// DeBERTa's relative table [rows, width] and its projections -> a table for each head: q . (W r + b) is q . r' with
/// r' = W r + b. There is no way back.
/// Source: He et al. 2021 (DeBERTa), equation 4.
inline void convert_projected_table(conversion_state& state, const checkpoint_contract& target) {
  const checkpoint_contract& c = state.contract;
  if (!checkpoint_detail::of_deberta(c.family) || !target.layout.value() ||
      c.layout != stated<table_layout>(table_layout::rows_by_width) ||
      target.layout == stated<table_layout>(table_layout::rows_by_width)) {
    return;
  }
  named_tensors heads;
  for (const std::string& role : convert_detail::projections(c.family)) {
    const table<double> all = convert_detail::projected(state.tensors, role);
    stored_tensor& out = heads[role];
    out.extents = {c.heads.query, all.rows(), c.heads.dim};
    for (index_t h = 0; h < c.heads.query; ++h) {
      for (index_t row = 0; row < all.rows(); ++row) {
        const auto part = all.row(row).subspan(static_cast<std::size_t>(h * c.heads.dim),
                                               static_cast<std::size_t>(index_t{c.heads.dim}));
        out.values.insert(out.values.end(), part.begin(), part.end());
      }
    }
  }
  state.tensors = std::move(heads);
  state.contract.layout = table_layout::rows_per_head;
  state.identities.emplace_back("a projection of a table row is the same number before the call as in it");
}

}  // namespace posgeo::contract
