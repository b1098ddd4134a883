// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/audit/edit_rows.hpp>

namespace posgeo::audit {

namespace detail {

/// The token rows of one entry by position.
[[nodiscard]] inline std::vector<index_t> by_position(const row_space& space, index_t entry) {
  std::vector<index_t> rows;
  for (index_t row = 0; row < space.rows(); ++row) {
    if (space.active(entry, row)) rows.push_back(row);
  }
  std::sort(rows.begin(), rows.end(), [&](index_t a, index_t b) { return space.at(entry, a) < space.at(entry, b); });
  return rows;
}

/// Why the queries cannot come in several calls with a cache between them; empty, if they can.
[[nodiscard]] inline std::string why_not_split(const position_call& call) {
  if (!call.same_frame()) return "keys of another frame are there from the start";
  if (call.described().reuse == position_reuse::intended) return "a cache has one row for each position";
  for (index_t b = 0; b < call.batch(); ++b) {
    const auto of_queries = call.query_space().sequence_bounds(b);
    if (!of_queries) continue;
    const auto of_keys = call.key_space().sequence_bounds(b);
    if (!of_keys || *of_keys != *of_queries || of_keys->first != of_keys->second) {
      return fmt::format("entry {} is not one sequence", b);
    }
    std::set<index_t> keys;
    for (const index_t j : by_position(call.key_space(), b)) keys.insert(call.key_space().at(b, j).value());
    if (*keys.begin() < 0) return fmt::format("entry {} has a position below 0, before any cache", b);
    for (const index_t i : by_position(call.query_space(), b)) {
      if (!keys.contains(call.query_space().at(b, i).value())) {
        return fmt::format("entry {} has a query whose own key is not there", b);
      }
    }
  }
  return {};
}

/// One side of a part of a call: the chosen rows of each entry, in storage order as they are given, then padding.
[[nodiscard]] inline row_space chosen(const row_space& from, const std::vector<std::vector<index_t>>& rows,
                                      std::vector<row_source>& sources) {
  std::size_t count = 0;
  for (const auto& of_entry : rows) count = std::max(count, of_entry.size());
  explicit_rows to;
  std::vector<affine_rows> lines;
  bool affine = true;
  std::optional<index_t> padded;
  for (index_t b = 0; b < from.entries(); ++b) {
    const auto& mine = rows[static_cast<std::size_t>(b)];
    const index_t first = mine.empty() ? 0 : from.at(b, mine.front()).value();
    const index_t sequence = mine.empty() ? b : from.sequence(b, mine.front());
    lines.push_back({first, 0, static_cast<index_t>(mine.size()), sequence});
    if (!padded && !mine.empty()) padded = first;
    for (std::size_t n = 0; n < count; ++n) {
      const bool token = n < mine.size();
      const index_t position = token ? from.at(b, mine[n]).value() : first;
      affine = affine && (!token || position == first + static_cast<index_t>(n));
      to.positions.push_back(position);
      to.sequences.push_back(token ? from.sequence(b, mine[n]) : sequence);
      to.active.push_back(token ? 1 : 0);
      sources.push_back(token ? row_source{b, mine[n]} : row_source{});
    }
  }
  const auto width = static_cast<index_t>(count);
  if (!affine) return {from.entries(), width, std::move(to), from.frame(), from.origin()};
  const auto line = [&](index_t b) { return lines[static_cast<std::size_t>(b)]; };
  const bool full = std::all_of(rows.begin(), rows.end(), [&](const auto& mine) { return mine.size() == count; });
  return {width, {from.entries(), line}, from.frame(), from.origin(), full ? std::nullopt : padded};
}

/// The queries of each entry by position, `size` in a call, with the keys that stand at or before the last of them.
[[nodiscard]] inline edit split(const position_call& call, intervention kind, index_t size) {
  if (std::string why = why_not_split(call); !why.empty()) return not_applicable(kind, std::move(why));
  const row_space& queries = call.query_space();
  const row_space& keys = call.key_space();
  std::vector<std::vector<index_t>> to_come;
  std::size_t longest = 0;
  for (index_t b = 0; b < call.batch(); ++b) {
    to_come.push_back(by_position(queries, b));
    longest = std::max(longest, to_come.back().size());
  }
  const auto step = static_cast<std::size_t>(size);
  edit made{kind, {}, {}, edited_mask::kept};
  for (std::size_t begin = 0; begin < longest; begin += step) {
    std::vector<std::vector<index_t>> query_rows;
    std::vector<std::vector<index_t>> key_rows;
    std::vector<cache_state> caches;
    for (index_t b = 0; b < call.batch(); ++b) {
      const auto& mine = to_come[static_cast<std::size_t>(b)];
      const std::size_t first = std::min(begin, mine.size());
      const std::size_t last = std::min(begin + step, mine.size());
      query_rows.emplace_back(mine.begin() + static_cast<std::ptrdiff_t>(first),
                              mine.begin() + static_cast<std::ptrdiff_t>(last));
      const index_t end = mine.empty() ? -1 : queries.at(b, mine[last - 1]).value();
      const index_t committed = first < last ? queries.at(b, mine[first]).value() : end + 1;
      cache_state cache{committed, 0};
      key_rows.emplace_back();
      for (index_t j = 0; j < keys.rows(); ++j) {
        if (!keys.active(b, j) || keys.at(b, j).value() > end) continue;
        key_rows.back().push_back(j);
        if (keys.at(b, j).value() < committed) ++cache.past_length;
      }
      caches.push_back(cache);
    }
    edited_call part;
    part.call.kind = kind == intervention::cached ? call_kind::decode_step : call_kind::prefill_chunk;
    part.call.query = chosen(queries, query_rows, part.query_source);
    part.call.key = chosen(keys, key_rows, part.key_source);
    part.call.cache = {call.batch(), [&](index_t b) { return caches[static_cast<std::size_t>(b)]; }};
    made.calls.push_back(std::move(part));
  }
  made.what = fmt::format("{} calls of {} {} each, with the keys so far", made.calls.size(), size,
                          size == 1 ? "query" : "queries");
  if (made.calls.empty()) made.what = "no query";
  return checked(std::move(made));
}

[[nodiscard]] inline index_t longest_entry(const position_call& call) {
  index_t longest = 0;
  for (index_t b = 0; b < call.batch(); ++b) {
    longest = std::max(longest, static_cast<index_t>(by_position(call.query_space(), b).size()));
  }
  return longest;
}

}  // namespace detail

/// The queries come in calls of `chunk`, each with a cache of the keys before it.
[[nodiscard]] inline edit chunk(const position_call& call, const intervention_settings& settings = {}) {
  check(settings);
  const index_t longest = detail::longest_entry(call);
  const index_t size = settings.chunk.value_or(std::max<index_t>((longest + 1) / 2, 1));
  if (size >= longest) return detail::not_applicable(intervention::chunk, "all queries fit in one chunk");
  return detail::split(call, intervention::chunk, size);
}

/// The queries come one by one, each with a cache of the keys before it.
[[nodiscard]] inline edit cached(const position_call& call, const intervention_settings& settings = {}) {
  check(settings);
  if (call.kind() == call_kind::decode_step) {
    return detail::not_applicable(intervention::cached, "the queries come one by one already");
  }
  return detail::split(call, intervention::cached, 1);
}

}  // namespace posgeo::audit
