// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/audit/card_evidence.hpp>
#include <posgeo/audit/card_parts.hpp>
#include <posgeo/core/identifier.hpp>
#include <posgeo/manifest/position_method.hpp>

#include <string>
#include <vector>

namespace posgeo::audit {

/// A rule that slows rotary speeds down for longer sequences. Its other settings are in the policy.
/// Units: original_length in tokens, the length before scaling.
struct scaling_rule {
  std::string policy;
  std::string rule;
  stated<double> factor;
  stated<index_t> original_length;
  static constexpr auto fields() {
    using manifest::field;
    return std::make_tuple(field("policy", &scaling_rule::policy), field("rule", &scaling_rule::rule),
                           field("factor", &scaling_rule::factor),
                           field("original_length", &scaling_rule::original_length));
  }
  friend bool operator==(const scaling_rule&, const scaling_rule&) noexcept = default;
};

/// What was done to a position table to give it another number of rows.
struct table_resizing {
  index_t rows_before;
  std::string rule;  ///< "bicubic", "tiled twice", "new rows drawn, N(0, 0.02)"
  static constexpr auto fields() {
    using manifest::field;
    return std::make_tuple(field("rows_before", &table_resizing::rows_before), field("rule", &table_resizing::rule));
  }
  friend bool operator==(const table_resizing&, const table_resizing&) noexcept = default;
};

/// What a policy takes and refuses to leave. An end that is `none` is no end.
/// Units: positions of tokens, and offsets, key minus query; ends included.
struct range_part {
  stated<index_t> lowest_position;
  stated<index_t> highest_position;
  stated<index_t> lowest_offset;
  stated<index_t> highest_offset;
  static constexpr auto fields() {
    using r = range_part;
    using manifest::field;
    return std::make_tuple(field("lowest_position", &r::lowest_position),
                           field("highest_position", &r::highest_position), field("lowest_offset", &r::lowest_offset),
                           field("highest_offset", &r::highest_offset));
  }
  friend bool operator==(const range_part&, const range_part&) noexcept = default;
};

/// A policy: its settings, what of a call it reads, and what it takes.
struct policy_part {
  manifest::policy_record policy;
  std::vector<read_part> reads;
  range_part range;
  static constexpr auto fields() {
    using manifest::field;
    return std::make_tuple(field("policy", &policy_part::policy), field("reads", &policy_part::reads),
                           field("range", &policy_part::range));
  }
  friend bool operator==(const policy_part&, const policy_part&) noexcept = default;
};

/// The method, summed up. All but `resized` follow from the policies.
struct method_part {
  position_reference reference;
  stated<scaling_rule> scaling;
  stated<table_resizing> resized;
  static constexpr auto fields() {
    using manifest::field;
    return std::make_tuple(field("reference", &method_part::reference), field("scaling", &method_part::scaling),
                           field("resized", &method_part::resized));
  }
  friend bool operator==(const method_part&, const method_part&) noexcept = default;
};

/// How rows are counted and who sees whom. Units: positions; reaches do not count the query's own key.
struct convention_part {
  index_t first_position;  ///< of a sequence's first token
  origin_effect origin;
  padded_side padding_side;
  padded_count padding_positions;
  key_rows_are padding_keys;
  packed_count packed_positions;
  key_rows_are keys_of_other_sequences;
  causal_alignment causal;
  stated<index_t> reach_behind;  ///< `none` if no visibility policy is a window
  stated<index_t> reach_ahead;
  cache_offset cached_call_begins_at;
  static constexpr auto fields() {
    using c = convention_part;
    using manifest::field;
    return std::make_tuple(field("first_position", &c::first_position), field("origin", &c::origin),
                           field("padding_side", &c::padding_side), field("padding_positions", &c::padding_positions),
                           field("padding_keys", &c::padding_keys), field("packed_positions", &c::packed_positions),
                           field("keys_of_other_sequences", &c::keys_of_other_sequences), field("causal", &c::causal),
                           field("reach_behind", &c::reach_behind), field("reach_ahead", &c::reach_ahead),
                           field("cached_call_begins_at", &c::cached_call_begins_at));
  }
  friend bool operator==(const convention_part&, const convention_part&) noexcept = default;
};

/// The positional part of a model card: what has to be recorded so that a claim about length means something. Made by
/// card_of; check(card) lists where its parts contradict one another.
/// Shapes: policies are the state encoders and then those of the attention, in order, with digests of their tables.
/// Source: the audit record of positional information, and what to log of a release.
struct positional_card {
  posgeo::checkpoint_id checkpoint_id;
  manifest::heads_record heads;
  std::vector<policy_part> policies;
  method_part method;
  convention_part conventions;
  length_part lengths;
  stated<coverage_part> coverage;
  stated<audit_part> audit;
  std::vector<std::string> not_claimed;
  static constexpr auto fields() {
    using c = positional_card;
    using manifest::field;
    return std::make_tuple(
        field("checkpoint_id", &c::checkpoint_id), field("heads", &c::heads), field("policies", &c::policies, "policy"),
        field("method", &c::method), field("conventions", &c::conventions), field("lengths", &c::lengths),
        field("coverage", &c::coverage), field("audit", &c::audit), field("not_claimed", &c::not_claimed));
  }
  friend bool operator==(const positional_card&, const positional_card&) noexcept = default;
};

}  // namespace posgeo::audit
