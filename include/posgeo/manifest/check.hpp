// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/manifest/position_call_record.hpp>

namespace posgeo::manifest {

namespace detail {

inline void check_space(const row_table& rows, std::size_t b, const spans& positions, const spans& places,
                        std::string_view space, violations& found) {
  const auto in_entry = [b](std::string_view what) { return text("{} of entry {}", what, b); };
  found.expect(rows_of(places) == rows_of(positions), errc::manifest, space, in_entry("rows"),
               text("{}, one for each logical position", rows_of(positions)), rows_of(places));
  found.expect(positions == rows.entries[b].logical_position_per_row, errc::manifest, space,
               in_entry("logical positions"), "those that the row space has", "others");
}

inline void check_cache(const position_call_record& r, const cache_record& cache, violations& found) {
  const auto same = [&](const auto& a, const auto& b, std::string_view axis) {
    found.expect(a == b, errc::manifest, "cache", axis, text("'{}', as the request has", b.name()), a.name());
  };
  same(cache.checkpoint_id, r.request.checkpoint_id, "checkpoint_id");
  same(cache.release_id, r.request.release_id, "release_id");
  found.expect(cache.coordinate_frame == r.key_space.coordinate_frame, errc::manifest, "cache", "coordinate frame",
               text("'{}', as the keys have", r.key_space.coordinate_frame.name()), cache.coordinate_frame.name());
  found.expect(cache.entries.size() == r.row_space.query.entries.size(), errc::manifest, "cache", "entries",
               r.row_space.query.entries.size(), cache.entries.size());
  for (std::size_t b = 0; b < cache.entries.size(); ++b) {
    const cache_entry& entry = cache.entries[b];
    found.expect(entry.past_seen_tokens <= entry.committed_length, errc::manifest, "cache",
                 text("past_seen_tokens of entry {}", b), text("at most committed_length {}", entry.committed_length),
                 entry.past_seen_tokens);
    if (b >= r.row_space.key.entries.size() || b >= r.row_space.query.entries.size()) continue;
    index_t active = 0;
    for (const run<activity>& piece : r.row_space.key.entries[b].active_token_per_row) {
      if (piece.value == activity::token) active += piece.count;
    }
    found.expect(entry.past_seen_tokens <= active, errc::manifest, "cache", text("past_seen_tokens of entry {}", b),
                 text("at most the {} key rows that are tokens", active), entry.past_seen_tokens);
    const row_entry& queries = r.row_space.query.entries[b];
    if (queries.active_token_per_row.empty() || queries.active_token_per_row.front().value != activity::token) continue;
    if (r.row_space.call_kind == posgeo::call_kind::explicit_positions) continue;
    const index_t first = queries.logical_position_per_row.front().first;
    found.expect(first == entry.committed_length, errc::manifest, "query space",
                 text("first logical position of entry {}", b), text("committed_length {}", entry.committed_length),
                 first);
  }
}

inline void check_method(const method_record& method, const position_call_record& r, std::size_t n, violations& found) {
  const std::vector<index_t> shape{static_cast<index_t>(r.row_space.query.entries.size()),
                                   r.position_method.heads.query, r.row_space.query.storage_rows,
                                   r.row_space.key.storage_rows};
  const std::string object = fmt::format("method {} ({})", n, method.policy.name());
  const auto* const tag = method.policy.find("family");
  if (tag == nullptr || !std::holds_alternative<std::string>(*tag)) {
    found.expect(false, errc::manifest, object, "family", "the name of its family's tag", "none");
    return;
  }
  const method_record summary = method_of(method.policy, shape);
  const auto follows = [&](bool same, std::string_view axis) {
    found.expect(same, errc::manifest, object, axis, "what follows from the policy and the call", "something else");
  };
  follows(method.family == summary.family, "family");
  follows(method.state_object == summary.state_object, "state_object");
  follows(method.relation_sign == summary.relation_sign, "relation_sign");
  follows(method.clipping_or_bucket_rule == summary.clipping_or_bucket_rule, "clipping_or_bucket_rule");
  follows(method.score_bias_shape == summary.score_bias_shape, "score_bias_shape");
}

}  // namespace detail

/// Lists where the groups of a record contradict one another: a cache of another frame, checkpoint or release,
/// positions that are not those of the rows, a decode whose query does not go on where the cache ends, sequences that
/// mix, a summary that does not follow from its policy.
[[nodiscard]] inline violations check(const position_call_record& r) {
  violations found;
  const auto entries = r.row_space.query.entries.size();
  found.expect(r.row_space.key.entries.size() == entries, errc::manifest, "row space", "entries of the key", entries,
               r.row_space.key.entries.size());
  found.expect(r.query_space.entries.size() == entries, errc::manifest, "query space", "entries", entries,
               r.query_space.entries.size());
  found.expect(r.key_space.entries.size() == entries, errc::manifest, "key space", "entries", entries,
               r.key_space.entries.size());
  if (!found.empty()) return found;
  for (std::size_t b = 0; b < entries; ++b) {
    const query_entry& queries = r.query_space.entries[b];
    const key_entry& keys = r.key_space.entries[b];
    detail::check_space(r.row_space.query, b, queries.logical_positions, queries.row_indices, "query space", found);
    detail::check_space(r.row_space.key, b, keys.logical_positions, keys.rows, "key space", found);
  }
  const bool cached = r.row_space.call_kind == posgeo::call_kind::decode_step ||
                      r.row_space.call_kind == posgeo::call_kind::prefill_chunk;
  found.expect(!cached || r.cache.value(), errc::manifest, "cache", "contract", "one, as a call with a past has",
               "none");
  found.expect(r.key_space.addressed_by == key_address::row_indices || r.cache.value(), errc::manifest, "key space",
               "addressed_by", "row_indices, for a call without a cache", "cache_slots");
  if (r.cache.value()) detail::check_cache(r, *r.cache.value(), found);
  const bool two_frames = !(r.query_space.coordinate_frame == r.key_space.coordinate_frame);
  const bool crosses = r.row_space.call_kind == posgeo::call_kind::cross_attention;
  found.expect(two_frames || !crosses, errc::manifest, "key space", "coordinate frame",
               "one for the target and another for the source", "one for both");
  found.expect(r.visibility.segment_isolation != segment_isolation::mixed, errc::manifest, "visibility",
               "segment_isolation", "one_sequence or isolated", "mixed");
  const std::vector<method_record>& methods = r.position_method.methods;
  for (std::size_t n = 0; n < methods.size(); ++n) detail::check_method(methods[n], r, n, found);
  for (const method_record& method : methods) {
    found.expect(!two_frames || method.relation_sign == relation_sign::none, errc::manifest, method.policy.name(),
                 "coordinate frames", "one for queries and keys, which it subtracts", "two");
  }
  return found;
}

}  // namespace posgeo::manifest
