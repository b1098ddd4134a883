// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/contract/convert/step.hpp>

namespace posgeo::contract {

/// key - query <-> query - key: the row of offset d becomes that of -d. Clipped classes are read from the other end;
/// of bidirectional buckets the two halves change places, all but the offset 0.
/// Causal buckets have no row for the other direction, and a span has one only.
/// Source: Shaw et al. 2018 subtracts the query, BERT's relative keys and DeBERTa's release subtract the key.
inline void convert_sign(conversion_state& state, const checkpoint_contract& target) {
  const checkpoint_contract& c = state.contract;
  if (!c.sign.value() || !target.sign.value() || c.sign == target.sign || !c.rule.value()) return;
  std::vector<index_t> order = convert_detail::counted(*c.rows.value());
  if (std::holds_alternative<clip_rule>(*c.rule.value())) {
    std::reverse(order.begin(), order.end());
  } else if (const auto* const buckets = std::get_if<t5_rule>(&*c.rule.value());
             buckets && buckets->settings.direction == coordinate::bucket_direction::bidirectional) {
    const index_t half = buckets->settings.num_buckets / 2;
    for (index_t n = 1; n < half; ++n) {
      std::swap(order[static_cast<std::size_t>(n)], order[static_cast<std::size_t>(half + n)]);
    }
  } else {
    return;
  }
  convert_detail::take_rows(state, order);
  state.contract.sign = target.sign;
  state.identities.emplace_back("the row of offset d becomes the row of offset -d, counted the other way");
}

}  // namespace posgeo::contract
