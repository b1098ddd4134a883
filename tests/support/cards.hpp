// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/audit/card.hpp>
#include <posgeo/bias/alibi.hpp>
#include <posgeo/bias/t5.hpp>
#include <posgeo/call/packed_batch.hpp>
#include <posgeo/content/shaw_key.hpp>
#include <posgeo/encode/learned_absolute.hpp>
#include <posgeo/frequency/yarn.hpp>
#include <posgeo/scale/inverse_sqrt_head_dim.hpp>
#include <posgeo/scale/none.hpp>
#include <posgeo/transform/rotary.hpp>
#include <posgeo/value/shaw_value.hpp>
#include <posgeo/visible/active.hpp>
#include <posgeo/visible/causal.hpp>
#include <posgeo/visible/segments.hpp>
#include <posgeo/visible/window.hpp>

#include <string>
#include <vector>

#include "support/random.hpp"

namespace posgeo::test {

/// A hash for tests that have no library for one: FNV, twice 64 bits.
struct toy_hash {
  [[nodiscard]] manifest::digest128 operator()(std::span<const std::byte> bytes) const noexcept {
    manifest::digest128 out{14695981039346656037U, 1469598103934665603U};
    for (const std::byte byte : bytes) {
      out.high = (out.high ^ static_cast<std::uint64_t>(byte)) * 1099511628211U;
      out.low = (out.low + static_cast<std::uint64_t>(byte)) * 1099511628211U;
    }
    return out;
  }
};

/// What a caller states of a model that was trained on 64 rows, one sequence each, and evaluated on as many.
[[nodiscard]] inline audit::card_settings plainly_stated() {
  return {.checkpoint_id = checkpoint_id("sha256:5f"),
          .first_position = 0,
          .padding_side = audit::padded_side::never,
          .padding_positions = audit::padded_count::none,
          .packed_positions = audit::packed_count::never_packed,
          .cached_call_begins_at = audit::cache_offset::no_cache,
          .configured_length = 64,
          .trained_length = 64,
          .evaluated = std::vector<audit::measured_quality>{{.length = 64,
                                                             .kind = audit::task_kind::language_modelling,
                                                             .task = "held-out books",
                                                             .placement = none,
                                                             .metric = "perplexity",
                                                             .value = 11.25}},
          .resized = none,
          .coverage = none,
          .audit = none,
          .not_claimed = std::vector<std::string>{"Nothing is claimed of code."}};
}

[[nodiscard]] inline auto t5_attention(coordinate::bucket_direction direction) {
  return attention(
      {.query = 6, .key_value = 3, .dim = 4}, scale::none{}, visible::active{}, visible::causal{},
      bias::t5<double>(random_table(8, 6, 61),
                       coordinate::t5_bucket({.num_buckets = 8, .max_distance = 16, .direction = direction})));
}
[[nodiscard]] inline audit::coverage t5_coverage() {
  const std::vector<index_t> lengths{5, 64, 9};
  audit::coverage taught;
  for (const index_t length : lengths) {
    const std::vector<index_t> alone{length};
    taught.observe(
        t5_attention(coordinate::bucket_direction::causal)
            .compile<double>(call::packed_batch({.lengths = alone, .positions = call::packed_positions::restart})));
  }
  return taught;
}
/// T5's buckets, no limit, padding on the right, and a coverage of training.
[[nodiscard]] inline audit::positional_card t5_card() {
  audit::card_settings stated_by_caller = plainly_stated();
  stated_by_caller.padding_side = audit::padded_side::right;
  stated_by_caller.padding_positions = audit::padded_count::contiguous;
  stated_by_caller.configured_length = none;
  stated_by_caller.coverage = audit::stated_coverage{.counted = t5_coverage(), .enough = 100};
  return audit::card_of(t5_attention(coordinate::bucket_direction::causal), stated_by_caller, toy_hash{});
}

[[nodiscard]] inline auto alibi_attention() {
  return attention({.query = 6, .key_value = 3, .dim = 4}, scale::inverse_sqrt_head_dim{}, visible::causal{},
                   bias::alibi(bias::alibi_slopes::reference(6), bias::alibi_direction::causal));
}
/// A report of the ALiBi attention with one test of each outcome.
[[nodiscard]] inline audit::report alibi_report() {
  audit::report out{.name = "my kernel", .method = alibi_attention().describe(), .findings = {}, .debts = {}};
  out.findings.push_back({.kind = audit::intervention::shift_all,
                          .what = "all positions + 17",
                          .expected = audit::verdict::invariant,
                          .reference = audit::verdict::invariant,
                          .found = audit::verdict::invariant,
                          .measured = {std::nullopt, std::nullopt, std::nullopt, 2e-7},
                          .tolerance = 1e-6,
                          .from_reference = 3e-7,
                          .message = ""});
  out.findings.push_back({.kind = audit::intervention::cached,
                          .what = "one query at a time",
                          .expected = audit::verdict::equivariant,
                          .reference = audit::verdict::equivariant,
                          .found = audit::verdict::changes,
                          .measured = {std::nullopt, std::nullopt, std::nullopt, 0.25},
                          .tolerance = 1e-6,
                          .from_reference = 0.25,
                          .message = ""});
  out.findings.push_back({.kind = audit::intervention::swap_frames,
                          .what = "keys in a frame of their own",
                          .expected = audit::verdict::refused,
                          .reference = audit::verdict::refused,
                          .found = audit::verdict::refused,
                          .measured = {},
                          .tolerance = 1e-6,
                          .from_reference = 0.0,
                          .message = "frames differ"});
  out.debts.push_back({.kind = audit::debt::distance, .because = "offsets beyond -63 were not in training"});
  return out;
}
/// ALiBi, evaluated at four times the trained length, with a report.
[[nodiscard]] inline audit::positional_card alibi_card() {
  audit::card_settings stated_by_caller = plainly_stated();
  stated_by_caller.configured_length = 4096;
  stated_by_caller.cached_call_begins_at = audit::cache_offset::committed_length;
  std::vector<audit::measured_quality> evaluated = stated_by_caller.evaluated.value();
  evaluated.push_back({.length = 256,
                       .kind = audit::task_kind::retrieval,
                       .task = "one of 64 names",
                       .placement = "answers at 16 depths",
                       .metric = "accuracy",
                       .value = 0.375});
  stated_by_caller.evaluated = evaluated;
  stated_by_caller.audit = alibi_report();
  return audit::card_of(alibi_attention(), stated_by_caller, toy_hash{});
}

/// Rotary positions with YaRN from 32 to 128 rows, trained on 64, packed, with a window and a cache.
[[nodiscard]] inline audit::positional_card yarn_card() {
  audit::card_settings stated_by_caller = plainly_stated();
  stated_by_caller.packed_positions = audit::packed_count::restart;
  stated_by_caller.cached_call_begins_at = audit::cache_offset::committed_length;
  stated_by_caller.configured_length = 128;
  const frequency::yarn speeds({.base = 100.0,
                                .rotary_dim = 8,
                                .factor = 4.0,
                                .original_max_position = 32,
                                .ramp = frequency::yarn_ramp::turns});
  return audit::card_of(
      attention({.query = 4, .key_value = 2, .dim = 8},
                transform::rotary(speeds, {.pairs = transform::pairing::halves}), scale::inverse_sqrt_head_dim{},
                visible::segments{}, visible::causal{}, visible::window{.behind = 31, .ahead = 0}),
      stated_by_caller, toy_hash{});
}

/// A learned table of 66 rows, the first two of which are no positions, resized from 34.
[[nodiscard]] inline audit::positional_card learned_absolute_card() {
  audit::card_settings stated_by_caller = plainly_stated();
  stated_by_caller.padding_side = audit::padded_side::left;
  stated_by_caller.padding_positions = audit::padded_count::fixed;
  stated_by_caller.resized = audit::table_resizing{.rows_before = 34, .rule = "linear, rows 2 to 33"};
  return audit::card_of(attention({.query = 2, .key_value = 1, .dim = 4}, scale::inverse_sqrt_head_dim{},
                                  visible::active{}, visible::causal{}),
                        stated_by_caller, toy_hash{},
                        encode::learned_absolute<double>(random_table(66, 8, 62), {.row_offset = 2}));
}

/// Shaw's keys and values, which refuse distances beyond 70.
[[nodiscard]] inline audit::positional_card shaw_card() {
  const coordinate::clipped classes(
      {.behind = 70, .ahead = 75, .sign = offset_sign::key_minus_query, .beyond = coordinate::beyond_ends::refused});
  return audit::card_of(
      attention({.query = 2, .key_value = 1, .dim = 4}, scale::inverse_sqrt_head_dim{}, visible::active{},
                content::shaw_key<double>(head_tables<double>::shared(random_table(146, 4, 63)), classes),
                value::shaw_value<double>(head_tables<double>::shared(random_table(146, 4, 64)), classes)),
      plainly_stated(), toy_hash{});
}

}  // namespace posgeo::test
