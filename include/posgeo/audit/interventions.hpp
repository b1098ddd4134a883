// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/audit/edit_rows.hpp>
#include <posgeo/audit/layout_interventions.hpp>
#include <posgeo/audit/mirror_evidence.hpp>
#include <posgeo/audit/split_interventions.hpp>

namespace posgeo::audit {

namespace detail {

/// Rows of each entry in another order, padding among them.
inline void permute(const row_space& side, std::uint64_t seed, explicit_rows& rows, std::vector<row_source>& sources) {
  const explicit_rows before = spelled(side);
  const std::vector<row_source> own = own_sources(side);
  rows = before;
  sources = own;
  for (index_t b = 0; b < side.entries(); ++b) {
    const auto order = cycle(side.rows(), seed, b, 0);
    for (index_t row = 0; row < side.rows(); ++row) {
      const auto to = static_cast<std::size_t>(b * side.rows() + row);
      const auto from = static_cast<std::size_t>(b * side.rows() + order[static_cast<std::size_t>(row)]);
      rows.positions[to] = before.positions[from];
      rows.sequences[to] = before.sequences[from];
      rows.active[to] = before.active[from];
      sources[to] = own[from];
    }
  }
}

/// Contents of each sequence's tokens in another order.
[[nodiscard]] inline std::vector<row_source> permuted_sources(const row_space& side, std::uint64_t seed) {
  std::vector<row_source> sources = own_sources(side);
  std::map<sequence_key, std::vector<index_t>> tokens;
  for (index_t b = 0; b < side.entries(); ++b) {
    for (index_t row = 0; row < side.rows(); ++row) {
      if (side.active(b, row)) tokens[{b, side.sequence(b, row)}].push_back(row);
    }
  }
  for (const auto& [key, rows] : tokens) {
    const auto order = cycle(static_cast<index_t>(rows.size()), seed, key.first, key.second);
    for (std::size_t n = 0; n < rows.size(); ++n) {
      const index_t from = rows[static_cast<std::size_t>(order[n])];
      sources[static_cast<std::size_t>(key.first * side.rows() + rows[n])] = {key.first, from};
    }
  }
  return sources;
}

/// A shift keeps the kind of the call, and the cache as long as it can have seen so many tokens.
[[nodiscard]] inline call_description shifted(const position_call& call, index_t queries, index_t keys) {
  const call_description& from = call.described();
  call_description to = with_spaces(from, moved(from.query, queries), moved(from.key, keys));
  to.kind = from.kind;
  to.cache = {from.cache.size(), [&](index_t b) {
                cache_state cache = from.cache[b];
                cache.committed_length = saturating_add(cache.committed_length, queries);
                return cache;
              }};
  for (index_t b = 0; b < to.cache.size(); ++b) {
    if (to.cache[b].committed_length < to.cache[b].past_length) {
      return with_spaces(from, std::move(to.query), std::move(to.key));
    }
  }
  return to;
}

}  // namespace detail

/// Storage rows in another order, queries and keys each with position, sequence and content. Equally many queries and
/// keys go the same way.
[[nodiscard]] inline edit permute_rows(const position_call& call, const intervention_settings& settings = {}) {
  check(settings);
  if (call.queries() < 2 && call.keys() < 2) {
    return detail::not_applicable(intervention::permute_rows, "one row has one order");
  }
  const auto& [queries, keys] = std::pair<const row_space&, const row_space&>(call.query_space(), call.key_space());
  explicit_rows query_rows;
  explicit_rows key_rows;
  edited_call to;
  detail::permute(queries, settings.seed, query_rows, to.query_source);
  detail::permute(keys, settings.seed, key_rows, to.key_source);
  to.call = detail::with_spaces(call.described(), detail::with_rows(queries, std::move(query_rows)),
                                detail::with_rows(keys, std::move(key_rows)));
  return detail::one_call(intervention::permute_rows, "rows stored in another order, each with its position",
                          std::move(to));
}

/// The call as it is; the tokens of each sequence have one another's content.
[[nodiscard]] inline edit permute_content(const position_call& call, const intervention_settings& settings = {}) {
  check(settings);
  edited_call to{call.described(), detail::permuted_sources(call.query_space(), settings.seed),
                 detail::permuted_sources(call.key_space(), settings.seed)};
  const edited_call own = detail::with_own_sources(call.described());
  if (to.query_source == own.query_source && to.key_source == own.key_source) {
    return detail::not_applicable(intervention::permute_content, "no sequence has two tokens on one side");
  }
  return detail::one_call(intervention::permute_content, "contents change places, positions and mask stay",
                          std::move(to));
}

/// The same for the attention without its mask.
[[nodiscard]] inline edit permute_content_unmasked(const position_call& call,
                                                   const intervention_settings& settings = {}) {
  edit made = permute_content(call, settings);
  made.kind = intervention::permute_content_unmasked;
  made.mask = edited_mask::everything;
  if (!made.calls.empty()) made.what = "contents change places where everybody sees everybody";
  return made;
}

/// Every row stands `shift` further on.
[[nodiscard]] inline edit shift_all(const position_call& call, const intervention_settings& settings = {}) {
  check(settings);
  return detail::one_call(intervention::shift_all, fmt::format("all positions {:+}", settings.shift),
                          detail::with_own_sources(detail::shifted(call, settings.shift, settings.shift)));
}

/// The queries alone stand `shift` further on.
[[nodiscard]] inline edit shift_queries(const position_call& call, const intervention_settings& settings = {}) {
  check(settings);
  return detail::one_call(intervention::shift_queries, fmt::format("query positions {:+}", settings.shift),
                          detail::with_own_sources(detail::shifted(call, settings.shift, 0)));
}

/// A gap of `gap` in each sequence, in the middle of its queries' positions; of all of its positions, if it has one
/// query or frames differ. Tokens behind it stand so much further on, queries and keys alike.
[[nodiscard]] inline edit stretch_gap(const position_call& call, const intervention_settings& settings = {}) {
  check(settings);
  if (!detail::any_pair(call)) {
    return detail::not_applicable(intervention::stretch_gap, "no sequence has two positions");
  }
  const auto of_queries = detail::places(call.query_space());
  const auto to = [&](index_t p, const std::set<index_t>& all, const detail::sequence_key& key) {
    const auto queries = of_queries.find(key);
    const bool by_queries = call.same_frame() && queries != of_queries.end() && queries->second.size() > 1;
    const std::set<index_t>& halved = by_queries ? queries->second : all;
    const index_t middle = *std::next(halved.begin(), static_cast<std::ptrdiff_t>(halved.size() / 2));
    return all.size() > 1 && p >= middle ? saturating_add(p, settings.gap) : p;
  };
  return detail::one_call(
      intervention::stretch_gap, fmt::format("a gap of {} in the middle of each sequence", settings.gap),
      detail::with_own_sources(detail::with_spaces(call.described(), detail::replaced(call, call.query_space(), to),
                                                   detail::replaced(call, call.key_space(), to))));
}

/// The positions of each sequence are mirrored between its lowest and its highest.
[[nodiscard]] inline edit reverse(const position_call& call, const intervention_settings& settings = {}) {
  check(settings);
  if (!detail::any_pair(call)) {
    return detail::not_applicable(intervention::reverse, "no sequence has two positions");
  }
  const auto to = [](index_t p, const std::set<index_t>& all, const detail::sequence_key&) {
    return *all.begin() + (*all.rbegin() - p);
  };
  return detail::one_call(
      intervention::reverse, "positions mirrored, before and after change places",
      detail::with_own_sources(detail::with_spaces(call.described(), detail::replaced(call, call.query_space(), to),
                                                   detail::replaced(call, call.key_space(), to))));
}

/// The keys count in a frame of their own; no number changes.
[[nodiscard]] inline edit swap_frames(const position_call& call, const intervention_settings& settings = {}) {
  check(settings);
  if (!call.same_frame()) {
    return detail::not_applicable(intervention::swap_frames, "the frames of queries and keys differ already");
  }
  const coordinate_frame other(call.key_space().frame().name() == "another origin" ? "a third origin"
                                                                                   : "another origin");
  call_description to = call.described();
  to.key = detail::with_frame(to.key, other);
  return detail::one_call(intervention::swap_frames, fmt::format("keys counted in the frame '{}'", other.name()),
                          detail::with_own_sources(std::move(to)));
}

/// Every row stands `far` further on: a shift that no table holds.
[[nodiscard]] inline edit out_of_range(const position_call& call, const intervention_settings& settings = {}) {
  check(settings);
  return detail::one_call(intervention::out_of_range, fmt::format("all positions {:+}", settings.far),
                          detail::with_own_sources(detail::shifted(call, settings.far, settings.far)));
}

/// Every intervention in the order of the enum. One that has no meaning for the call has no calls, and says why.
/// Throws: errc::position_rule for settings of no size.
[[nodiscard]] inline std::vector<edit> all_interventions(const position_call& call,
                                                         const intervention_settings& settings = {}) {
  return {permute_rows(call, settings), permute_content(call, settings), permute_content_unmasked(call, settings),
          shift_all(call, settings),    shift_queries(call, settings),   stretch_gap(call, settings),
          reverse(call, settings),      mirror_evidence(call, settings), swap_frames(call, settings),
          out_of_range(call, settings), pad_left(call, settings),        pad_right(call, settings),
          pack(call, settings),         chunk(call, settings),           cached(call, settings)};
}

}  // namespace posgeo::audit
