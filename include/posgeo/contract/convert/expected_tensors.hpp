// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/contract/convert/projected_table.hpp>
#include <posgeo/contract/convert/step.hpp>

namespace posgeo::contract {

/// Whether a checkpoint must hold a tensor.
enum class tensor_need {
  trained,       ///< nothing else makes it
  optional,      ///< a bias, which a layer may be without
  recomputable,  ///< a buffer that the contract makes again
};

struct expected_tensor {
  static constexpr index_t any = -1;  ///< an extent that the contract does not fix

  std::string role;
  std::vector<index_t> extents;
  tensor_need need = tensor_need::trained;
};

/// The tensors of one layer, or of the model, under a contract whose family has converters. The others have none.
/// Shapes: "table" as the layout says; "key_table" and "value_table" of Shaw's rows; "position_keys" and
///         "position_queries" of DeBERTa's, or their ".weight" [heads * head_dim, width] and ".bias" beside a table
///         [rows, width]; "queries" and "keys" likewise for rotary rows; "position_ids" [1, rows].
[[nodiscard]] inline std::vector<expected_tensor> expected_tensors(const checkpoint_contract& c) {
  constexpr index_t any = expected_tensor::any;
  std::vector<expected_tensor> all;
  const index_t rows = c.rows.value().value_or(0);
  const index_t query = c.heads.query;
  const index_t dim = c.heads.dim;
  const auto add_projection = [&](const std::string& role, index_t heads, index_t width) {
    all.push_back({role + ".weight", {heads * dim, width}});
    all.push_back({role + ".bias", {heads * dim}, tensor_need::optional});
  };
  if (c.family == checkpoint_family::rotary) {
    add_projection("queries", query, any);
    add_projection("keys", c.heads.key_value, any);
    return all;
  }
  if (!c.layout.value()) return all;
  for (const std::string& role : convert_detail::table_roles(c)) {
    switch (*c.layout.value()) {
      case table_layout::buckets_by_heads:
        all.push_back({role, {rows, query}});
        break;
      case table_layout::heads_by_buckets:
        all.push_back({role, {query, rows}});
        break;
      case table_layout::shared_rows:
        all.push_back({role, {rows, dim}});
        break;
      case table_layout::rows_per_head:
        all.push_back({role, {query, rows, dim}});
        break;
      default:
        all.push_back({role, {rows, any}});
    }
  }
  if (checkpoint_detail::of_deberta(c.family) && *c.layout.value() == table_layout::rows_by_width) {
    for (const std::string& role : convert_detail::projections(c.family)) add_projection(role, query, any);
  }
  if (c.family == checkpoint_family::learned_absolute) {
    all.push_back({"position_ids", {1, rows}, tensor_need::recomputable});
  }
  return all;
}

/// Whether a family has converters and a proof.
[[nodiscard]] inline bool convertible(checkpoint_family family) {
  return family != checkpoint_family::alibi && family != checkpoint_family::transformer_xl &&
         family != checkpoint_family::tupe;
}

}  // namespace posgeo::contract
