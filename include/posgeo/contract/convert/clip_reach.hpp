// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/contract/convert/step.hpp>

#include <optional>

namespace posgeo::contract {

namespace convert_detail {

/// What a span without buckets is as a reach: query - key from -span to span - 1, a row for each.
inline std::optional<clip_rule> reach_of(const stated<offset_rule>& rule) {
  if (!rule.value()) return std::nullopt;
  if (const auto* const clip = std::get_if<clip_rule>(&*rule.value())) return *clip;
  const auto* const span = std::get_if<span_rule>(&*rule.value());
  if (span == nullptr || span->buckets.value()) return std::nullopt;
  return clip_rule{.behind = span->span - 1, .ahead = index_t{span->span}, .beyond = coordinate::beyond_ends::clipped};
}

}  // namespace convert_detail

/// DeBERTa's content-to-position rows as Shaw's keys: clip(i - j + k, 0, 2k - 1) is the class of i - j clipped to k
/// ahead and k - 1 behind. Only where the table is as the heads read it.
/// Source: He et al. 2021 (DeBERTa), equation 3; Shaw et al. 2018, section 3.2.
inline void convert_span_to_reach(conversion_state& state, const checkpoint_contract& target) {
  if (state.contract.family != checkpoint_family::deberta_c2p || target.family != checkpoint_family::shaw_key ||
      !state.tensors.contains("position_keys")) {
    return;
  }
  const auto reach = convert_detail::reach_of(state.contract.rule);
  if (!reach) return;
  auto rows = state.tensors.extract("position_keys");
  rows.key() = "key_table";
  state.tensors.insert(std::move(rows));
  state.contract.family = checkpoint_family::shaw_key;
  state.contract.rule = offset_rule(*reach);
  state.identities.emplace_back("a span of k is a reach of k - 1 behind and k ahead, counted query - key");
}

/// Shaw's keys as DeBERTa's content-to-position rows, once sign and reach are those of a span.
inline void convert_reach_to_span(conversion_state& state, const checkpoint_contract& target) {
  const auto reach = convert_detail::reach_of(target.rule);
  if (state.contract.family != checkpoint_family::shaw_key || target.family != checkpoint_family::deberta_c2p ||
      !reach || state.contract.rule != stated<offset_rule>(offset_rule(*reach)) || state.contract.sign != target.sign) {
    return;
  }
  auto rows = state.tensors.extract("key_table");
  rows.key() = "position_keys";
  state.tensors.insert(std::move(rows));
  state.contract.family = checkpoint_family::deberta_c2p;
  state.contract.rule = target.rule;
  state.identities.emplace_back("a reach of k - 1 behind and k ahead, counted query - key, is a span of k");
}

/// Another reach of clipped classes. A longer one repeats the end row, which those offsets were clipped to; a shorter
/// one is possible only if the rows it loses equal the row that the offsets are clipped to then.
/// Throws: errc::conversion for a row that would be lost.
/// Source: Shaw et al. 2018, section 3.2: 2k + 1 rows; He et al. 2021 (DeBERTa), equation 3: 2k rows.
inline void convert_reach(conversion_state& state, const checkpoint_contract& target) {
  const auto wanted = convert_detail::reach_of(target.rule);
  if (!state.contract.rule.value() || !wanted || !std::holds_alternative<clip_rule>(*state.contract.rule.value())) {
    return;
  }
  const clip_rule has = std::get<clip_rule>(*state.contract.rule.value());
  if (has == *wanted || has.beyond != wanted->beyond || has.beyond != coordinate::beyond_ends::clipped) return;
  const bool counts_keys = state.contract.sign == stated<offset_sign>(offset_sign::key_minus_query);
  const index_t below = counts_keys ? has.behind : has.ahead;  // rows before that of offset 0
  const index_t above = counts_keys ? has.ahead : has.behind;
  const index_t new_below = counts_keys ? wanted->behind : wanted->ahead;
  const index_t new_above = counts_keys ? wanted->ahead : wanted->behind;
  const index_t first = below - std::min(below, new_below);
  const index_t last = below + std::min(above, new_above);
  for (const std::string& role : convert_detail::table_roles(state.contract)) {
    const stored_tensor& table = state.tensors.at(role);
    const std::size_t axis = convert_detail::row_axis(*state.contract.layout.value());
    for (index_t row = 0; row < below + above + 1; ++row) {
      const bool kept = row >= first && row <= last;
      require(kept || convert_detail::equal_slices(table, axis, row, row < first ? first : last), errc::conversion,
              "conversion", "rule", text("row {} of the {} equal to the end row that replaces it", row, role),
              "a row that would be lost");
    }
  }
  std::vector<index_t> order;
  for (index_t n = -new_below; n <= new_above; ++n) order.push_back(std::clamp(below + n, first, last));
  convert_detail::take_rows(state, order);
  state.contract.rule = offset_rule(*wanted);
  state.identities.emplace_back("offsets beyond the shorter reach read its end row, which the longer one repeats");
}

}  // namespace posgeo::contract
