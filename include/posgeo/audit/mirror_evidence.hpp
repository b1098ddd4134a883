// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/audit/edit_rows.hpp>

#include <cmath>
#include <tuple>

namespace posgeo::audit {

namespace detail {

/// A query, a key of its sequence elsewhere, and the key that stands where it goes, if there is one.
struct mirrored_pair {
  index_t query;
  index_t key;
  index_t to;
  std::optional<index_t> other;
};

/// The pair of an entry whose mirrored place is taken, so that the two keys change places, or else free; of those the
/// nearest, and of those the query nearest to the middle of its rows.
[[nodiscard]] inline std::optional<mirrored_pair> pair_to_mirror(const position_call& call, index_t entry,
                                                                 index_t least) {
  const row_space& queries = call.query_space();
  const row_space& keys = call.key_space();
  std::map<std::pair<index_t, index_t>, index_t> at;  // sequence and position: the row
  for (index_t j = 0; j < keys.rows(); ++j) {
    if (keys.active(entry, j)) at[{keys.sequence(entry, j), keys.at(entry, j).value()}] = j;
  }
  std::optional<std::tuple<index_t, index_t, index_t>> best_rank;
  std::optional<mirrored_pair> best;
  for (index_t i = 0; i < queries.rows(); ++i) {
    if (!queries.active(entry, i)) continue;
    const index_t query = queries.at(entry, i).value();
    for (const auto& [place, j] : at) {
      if (place.first != queries.sequence(entry, i)) continue;
      const index_t distance = saturating_subtract(place.second, query);
      if (distance < -position_limit || distance > position_limit || std::abs(distance) < least) continue;
      const index_t to = query - distance;
      if (to < -position_limit || to > position_limit) continue;  // no row can stand there
      const auto there = at.find({place.first, to});
      const index_t off_middle = std::abs(2 * i + 1 - queries.rows());
      const std::tuple rank{there == at.end() ? index_t{1} : index_t{0}, std::abs(distance), off_middle};
      if (best_rank && *best_rank <= rank) continue;
      best_rank = rank;
      best = {i, j, to, there == at.end() ? std::nullopt : std::optional(there->second)};
    }
  }
  return best;
}

}  // namespace detail

/// One key of each entry stands on the other side of one query, as far away as it was, and the key that stood there
/// where it was. The other queries of the entry are no tokens: their distances would change.
[[nodiscard]] inline edit mirror_evidence(const position_call& call, const intervention_settings& settings = {}) {
  check(settings);
  if (!call.same_frame()) {
    return detail::not_applicable(intervention::mirror_evidence, "no distance across frames");
  }
  const row_space& queries = call.query_space();
  const row_space& keys = call.key_space();
  explicit_rows query_rows = detail::spelled(queries);
  explicit_rows key_rows = detail::spelled(keys);
  query_rows.active.assign(query_rows.active.size(), 0);
  std::string what;
  for (index_t b = 0; b < call.batch(); ++b) {
    const auto pair = detail::pair_to_mirror(call, b, settings.mirrored);
    if (!pair) continue;
    query_rows.active[static_cast<std::size_t>(b * queries.rows() + pair->query)] = 1;
    const auto key = static_cast<std::size_t>(b * keys.rows() + pair->key);
    if (pair->other)
      key_rows.positions[static_cast<std::size_t>(b * keys.rows() + *pair->other)] = key_rows.positions[key];
    if (what.empty()) {
      what = fmt::format("entry {}: the key at {} moves to {}, across the query at {}", b, key_rows.positions[key],
                         pair->to, queries.at(b, pair->query).value());
    }
    key_rows.positions[key] = pair->to;
  }
  if (what.empty()) {
    return detail::not_applicable(intervention::mirror_evidence, "no key stands so far before or after a query");
  }
  return detail::one_call(
      intervention::mirror_evidence, std::move(what),
      detail::with_own_sources(detail::with_spaces(call.described(), detail::with_rows(queries, std::move(query_rows)),
                                                   detail::with_rows(keys, std::move(key_rows)))));
}

}  // namespace posgeo::audit
