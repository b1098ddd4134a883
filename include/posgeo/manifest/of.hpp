// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/core/heads.hpp>
#include <posgeo/manifest/position_call_record.hpp>

namespace posgeo::manifest {

/// What only the caller knows. A field left out does not compile.
struct stated_by_caller {
  request_record request;
  manifest::key_rows key_rows;
  stated<cache_contract> cache;
  runtime_record runtime;
};

namespace detail {

/// The description with its family as the first field, as those of a plan have it.
inline description of_family(const description& own, std::string_view tag) {
  description whole = description(own.name()).with("family", tag);
  for (const description::field& one : own.fields()) whole = std::move(whole).with(one.name, one.what);
  return whole;
}

inline spans in_order(index_t rows) {
  span_builder all;
  all.add_line(0, rows, 1);
  return std::move(all).finish();
}

inline spans slots_of(const key_rows& where, index_t b, index_t keys) {
  if (where.addressed_by() == key_address::row_indices) return in_order(keys);
  const std::vector<index_t>& slots = where.slots()[static_cast<std::size_t>(b)];
  require(std::cmp_equal(slots.size(), keys), errc::manifest, "manifest", text("cache slots of entry {}", b),
          text("{}, one for each key row", keys), slots.size());
  span_builder all;
  for (const index_t slot : slots) {
    require(slot >= 0, errc::manifest, "manifest", text("cache slots of entry {}", b), "at least 0", slot);
    all.add(slot);
  }
  return std::move(all).finish();
}

/// The names of the visibility policies, in order.
inline mask_id mask_of(const std::vector<method_record>& methods) {
  std::string names;
  for (const method_record& method : methods) {
    if (family_tag(method.policy) != "visibility") continue;
    if (!names.empty()) names += " and ";
    names += method.policy.name();
  }
  return mask_id(names.empty() ? "none" : names);
}

inline std::vector<element_type> parameter_types(const std::vector<method_record>& methods) {
  std::vector<element_type> types;
  for (const method_record& method : methods) {
    if (!method.state_object.value()) continue;
    for (const state_table& state : *method.state_object.value()) {
      if (state.table.element_type != element_type::int64) types.push_back(state.table.element_type);
    }
  }
  std::sort(types.begin(), types.end());
  types.erase(std::unique(types.begin(), types.end()), types.end());
  return types;
}

inline stated<cache_record> cache_of(const position_call& call, const stated<cache_contract>& contracted) {
  const bool needed = call.has_cache();
  require(needed == contracted.value().has_value(), errc::manifest, "manifest", "cache",
          needed ? "the contract of the call's cache" : "none, as the call has", needed ? "none" : "a contract");
  if (!needed) return none;
  std::vector<cache_entry> entries;
  for (const batch_index b : indices<batch_index>(call.batch())) {
    entries.push_back({call.committed_length(b), call.past_length(b)});
  }
  const cache_contract& contract = *contracted.value();
  return cache_record{contract.cache_id, std::move(entries), contract.coordinate_frame, contract.checkpoint_id,
                      contract.release_id};
}

}  // namespace detail

/// The record of a call and of a method that has been described, state encoders first.
/// Throws: errc::manifest for a cache stated where the call has none or left out where it has one, slots that are not
///         one for each key row, and a policy that names no family.
[[nodiscard]] position_call_record of(const position_call& call, const heads& layout,
                                      const std::vector<description>& method, element_type computed_in,
                                      const stated_by_caller& caller, const byte_hash auto& hash) {
  const bool slots = caller.key_rows.addressed_by() == key_address::cache_slots;
  require(!slots || std::cmp_equal(caller.key_rows.slots().size(), call.batch()), errc::manifest, "manifest",
          "lists of cache slots", text("{}, one for each batch entry", call.batch()), caller.key_rows.slots().size());
  row_space_record rows{call.kind(), rows_of_space(call.query_space()), rows_of_space(call.key_space())};
  query_space_record queries{call.query_space().frame(), {}};
  key_space_record keys{call.key_space().frame(), caller.key_rows.addressed_by(), {}};
  for (index_t b = 0; b < call.batch(); ++b) {
    const auto entry = static_cast<std::size_t>(b);
    queries.entries.push_back({detail::in_order(call.queries()), rows.query.entries[entry].logical_position_per_row});
    keys.entries.push_back(
        {detail::slots_of(caller.key_rows, b, call.keys()), rows.key.entries[entry].logical_position_per_row});
  }
  std::vector<method_record> methods;
  const std::vector<index_t> bias_shape{call.batch(), layout.query, call.queries(), call.keys()};
  for (const description& policy : method) methods.push_back(method_of(record_of(policy, hash), bias_shape));
  visibility_record visibility{detail::mask_of(methods), mask_polarity::true_is_visible,
                               call.mixes_sequences() ? segment_isolation::isolated : segment_isolation::one_sequence};
  numerical_state_record numbers{element_type::int64, detail::parameter_types(methods), computed_in, computed_in};
  return {caller.request,
          std::move(rows),
          std::move(queries),
          std::move(keys),
          {{layout.query, layout.key_value, layout.dim}, std::move(methods)},
          std::move(visibility),
          detail::cache_of(call, caller.cache),
          std::move(numbers),
          caller.runtime};
}

/// The record of a plan, and of the state encoders that its hidden states were made with.
/// Throws: as above; errc::description for a policy that cannot say what it is.
/// Source: the positional-call manifest numinens.position-call.v1.
template <class Plan, byte_hash Hash, described_policy... Encoders>
requires requires(const Plan& plan) { plan.method(); }
[[nodiscard]] position_call_record of(const Plan& plan, const stated_by_caller& caller, const Hash& hash,
                                      const Encoders&... encoders) {
  std::vector<description> method{detail::of_family(encoders.describe(), Encoders::family::name)...};
  for (const description& policy : plan.method()) method.push_back(policy);
  return of(plan.call(), plan.layout(), method, detail::element_type_of<typename Plan::scalar>, caller, hash);
}

}  // namespace posgeo::manifest
