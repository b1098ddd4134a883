// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/audit/card_rules.hpp>
#include <posgeo/core/description_diff.hpp>
#include <posgeo/core/required.hpp>
#include <posgeo/manifest/of.hpp>
#include <posgeo/model/attention.hpp>

#include <string>
#include <utility>
#include <vector>

namespace posgeo::audit {

/// One measured number, as the caller states it. Units: length in tokens.
struct measured_quality {
  required<index_t> length;
  required<task_kind> kind;
  required<std::string> task;
  stated<std::string> placement;  ///< where the controlled information stood
  required<std::string> metric;
  required<double> value;
};

/// What training covered, and how many reads teach a row.
struct stated_coverage {
  audit::coverage counted;
  required<index_t> enough;
};

/// What of a card only the caller knows. A field left out does not compile.
struct card_settings {
  posgeo::checkpoint_id checkpoint_id;
  required<index_t> first_position;  ///< of a sequence's first token
  required<padded_side> padding_side;
  required<padded_count> padding_positions;
  required<packed_count> packed_positions;
  required<cache_offset> cached_call_begins_at;
  stated<index_t> configured_length;  ///< what is accepted; `none` for no limit
  required<index_t> trained_length;   ///< the longest sequence of training
  required<std::vector<measured_quality>> evaluated;
  stated<table_resizing> resized;
  stated<stated_coverage> coverage;
  stated<report> audit;
  required<std::vector<std::string>> not_claimed;
};

namespace detail {

[[nodiscard]] inline key_rows_are hidden_or_not(hides all, hides part) noexcept {
  return includes(all, part) ? key_rows_are::hidden : key_rows_are::visible;
}

[[nodiscard]] inline length_part lengths_of(const card_settings& stated_by_caller) {
  const index_t trained = stated_by_caller.trained_length;
  length_part out{stated_by_caller.configured_length, trained, {}};
  for (const measured_quality& one : stated_by_caller.evaluated.value()) {
    out.evaluated.push_back(
        {one.length, one.kind, one.task, one.placement, one.metric, one.value, trained_range(one.length, trained)});
  }
  return out;
}

/// The card of a method that has been described, state encoders first.
[[nodiscard]] positional_card card_of(const heads& layout, const std::vector<description>& method,
                                      const std::vector<reads>& read, const std::vector<positional_range>& taken,
                                      hides hidden, const card_settings& s, const manifest::byte_hash auto& hash) {
  std::vector<policy_part> policies;
  for (std::size_t n = 0; n < method.size(); ++n) {
    policies.push_back({manifest::record_of(method[n], hash), parts_of(read[n]), detail::part_of(taken[n])});
  }
  const auto causal = includes(hidden, hides::future) ? causal_alignment::by_position : causal_alignment::not_causal;
  method_part summary{detail::reference_of(policies), scaling_of(policies), s.resized};
  convention_part conventions{s.first_position,
                              origin_of(detail::reads_of(policies)),
                              s.padding_side,
                              s.padding_positions,
                              hidden_or_not(hidden, hides::padding),
                              s.packed_positions,
                              hidden_or_not(hidden, hides::other_segments),
                              causal,
                              reach_of(policies, "behind"),
                              reach_of(policies, "ahead"),
                              s.cached_call_begins_at};
  stated<coverage_part> taught = none;
  if (const auto& given = s.coverage.value()) taught = audit::part_of(given->counted, given->enough);
  stated<audit_part> audited = none;
  if (const auto& given = s.audit.value()) audited = audit::part_of(*given);
  positional_card card{s.checkpoint_id,     {layout.query, layout.key_value, layout.dim},
                       std::move(policies), std::move(summary),
                       conventions,         lengths_of(s),
                       std::move(taught),   std::move(audited),
                       s.not_claimed};
  check(card).throw_if_any();
  return card;
}

}  // namespace detail

/// The positional card of an attention and of the state encoders that add to its hidden states: what their policies
/// say, and what the caller states.
/// Throws: errc::card for what check(card) lists, for a rule of speeds that does not say what it is, and for a report
///         of another attention; errc::description for a policy that has no describe(); errc::coverage for a coverage
///         without calls.
template <class... Policies, manifest::byte_hash Hash, described_policy... Encoders>
[[nodiscard]] positional_card card_of(const attention<Policies...>& method, const card_settings& stated_by_caller,
                                      const Hash& hash, const Encoders&... encoders) {
  const std::vector<description> of_attention = method.describe();
  std::vector<description> whole{manifest::detail::of_family(encoders.describe(), Encoders::family::name)...};
  whole.insert(whole.end(), of_attention.begin(), of_attention.end());
  if (const auto& audited = stated_by_caller.audit.value(); audited && audited->method != whole) {
    violations found;
    differences(audited->method, of_attention, errc::card, "report", found);
    found.throw_if_any();
  }
  std::vector<reads> read{encoders.positional_reads()...};
  std::vector<positional_range> taken{range_of(encoders)...};
  const auto add = [&](const auto& policy) {
    read.push_back(policy.positional_reads());
    taken.push_back(range_of(policy));
  };
  std::apply([&add](const auto&... policy) { (add(policy), ...); }, method.policies());
  return detail::card_of(method.layout(), whole, read, taken, method.hidden(), stated_by_caller, hash);
}

}  // namespace posgeo::audit
