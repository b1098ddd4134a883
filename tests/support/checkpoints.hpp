// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/contract/convert/step.hpp>

#include "support/random.hpp"

namespace posgeo::test {

/// T5's table: 3 heads, 12 buckets in both directions.
[[nodiscard]] inline contract::checkpoint_contract t5_checkpoint() {
  using namespace contract;
  return {
      .family = checkpoint_family::t5,
      .revision = source_revision("source 1"),
      .layout = table_layout::buckets_by_heads,
      .rows = 12,
      .heads = {.query = 3, .key_value = 3, .dim = 5},
      .order = head_order::natural(3),
      .sign = offset_sign::key_minus_query,
      .rule =
          t5_rule{{.num_buckets = 12, .max_distance = 50, .direction = coordinate::bucket_direction::bidirectional}},
      .scale_factor = none,
      .cls = none,
      .layers = {.owner = tensor_owner::first_layer, .layers = 4},
      .row_offset = 0,
      .padding_row = none,
      .rotary = none};
}

/// Shaw's keys and values, shared by 4 heads of which 2 read one key head, clipped at 3.
[[nodiscard]] inline contract::checkpoint_contract shaw_checkpoint() {
  using namespace contract;
  auto c = t5_checkpoint();
  c.family = checkpoint_family::shaw_key_value;
  c.layout = table_layout::shared_rows;
  c.rows = 7;
  c.heads = {.query = 4, .key_value = 2, .dim = 5};
  c.order = head_order::natural(4);
  c.rule = clip_rule{.behind = 3, .ahead = 3, .beyond = coordinate::beyond_ends::clipped};
  c.scale_factor = 1;
  c.layers = {.owner = tensor_owner::model, .layers = 2};
  return c;
}

/// DeBERTa's relative table of span 3 and its two projections, 3 heads.
[[nodiscard]] inline contract::checkpoint_contract deberta_checkpoint() {
  using namespace contract;
  auto c = t5_checkpoint();
  c.family = checkpoint_family::deberta_c2p_p2c;
  c.layout = table_layout::rows_by_width;
  c.rows = 6;
  c.sign = offset_sign::query_minus_key;
  c.rule = span_rule{.span = 3, .buckets = none};
  c.scale_factor = 3;
  c.layers = {.owner = tensor_owner::model, .layers = 1};
  return c;
}

/// A learned table: 11 rows, the first two of no position.
[[nodiscard]] inline contract::checkpoint_contract learned_checkpoint() {
  using namespace contract;
  auto c = t5_checkpoint();
  c.family = checkpoint_family::learned_absolute;
  c.layout = table_layout::rows_by_width;
  c.rows = 11;
  c.sign = none;
  c.rule = none;
  c.scale_factor = 1;
  c.layers = {.owner = tensor_owner::model, .layers = 4};
  c.row_offset = 2;
  return c;
}

[[nodiscard]] inline contract::checkpoint_contract sinusoid_checkpoint() {
  auto c = learned_checkpoint();
  c.family = contract::checkpoint_family::sinusoidal;
  c.layout = contract::table_layout::interleaved;
  c.row_offset = 0;
  return c;
}

/// Projections of 6 query and 2 key heads, of whose 7 dimensions 6 turn in adjacent pairs.
[[nodiscard]] inline contract::checkpoint_contract rotary_checkpoint() {
  using namespace contract;
  auto c = t5_checkpoint();
  c.family = checkpoint_family::rotary;
  c.layout = none;
  c.rows = none;
  c.heads = {.query = 6, .key_value = 2, .dim = 7};
  c.order = head_order::natural(6);
  c.sign = none;
  c.rule = none;
  c.scale_factor = 1;
  c.layers = {.owner = tensor_owner::every_layer, .layers = 1};
  c.rotary = rotary_layout{.pairs = transform::pairing::adjacent, .rotary_dim = 6};
  return c;
}

[[nodiscard]] inline contract::stored_tensor random_stored(std::vector<index_t> extents, unsigned seed) {
  std::size_t count = 1;
  for (const index_t extent : extents) count *= static_cast<std::size_t>(extent);
  return {.extents = std::move(extents), .values = random_values<double>(count, seed)};
}

}  // namespace posgeo::test
