// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/audit/intervention.hpp>
#include <posgeo/call/position_call.hpp>
#include <posgeo/core/required.hpp>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace posgeo::audit {

/// How far the interventions go. Units: tokens, rows.
struct intervention_settings {
  std::uint64_t seed = 1;  ///< of the permutations
  index_t shift = 17;      ///< of shift_all and shift_queries
  index_t gap = 5;         ///< of stretch_gap
  index_t mirrored = 1;    ///< the least distance of the key that mirror_evidence moves
  index_t far = index_t{1} << 20;
  index_t padding = 3;                          ///< rows on one side of each entry
  std::optional<index_t> chunk = std::nullopt;  ///< queries of one call; left out: half of the longest entry's
};

/// Throws: errc::position_rule for a shift of 0, or a gap, far or row count below 1.
inline void check(const intervention_settings& s) {
  violations found;
  const auto expect = [&](bool ok, std::string_view axis, std::string_view expected, index_t actual) {
    found.expect(ok, errc::position_rule, "intervention settings", axis, expected, actual);
  };
  expect(s.shift != 0, "shift", "another number than 0", s.shift);
  expect(s.gap >= 1, "gap", "at least 1", s.gap);
  expect(s.mirrored >= 1, "mirrored", "at least 1", s.mirrored);
  expect(s.far >= 1, "far", "at least 1", s.far);
  expect(s.padding >= 1, "padding", "at least 1", s.padding);
  expect(s.chunk.value_or(1) >= 1, "chunk", "at least 1", s.chunk.value_or(1));
  found.throw_if_any();
}

namespace detail {

/// The rows of a space, each spelled out.
[[nodiscard]] inline explicit_rows spelled(const row_space& space) {
  if (!space.affine()) return space.spelled_out();
  explicit_rows rows;
  for (index_t b = 0; b < space.entries(); ++b) {
    for (index_t row = 0; row < space.rows(); ++row) {
      rows.positions.push_back(space.at(b, row).value());
      rows.sequences.push_back(space.sequence(b, row));
      rows.active.push_back(space.active(b, row) ? 1 : 0);
    }
  }
  return rows;
}

/// Tokens have their own content, padding has none.
[[nodiscard]] inline std::vector<row_source> own_sources(const row_space& space) {
  std::vector<row_source> sources;
  for (index_t b = 0; b < space.entries(); ++b) {
    for (index_t row = 0; row < space.rows(); ++row) {
      sources.push_back(space.active(b, row) ? row_source{b, row} : row_source{});
    }
  }
  return sources;
}

[[nodiscard]] inline edited_call with_own_sources(call_description call) {
  std::vector<row_source> of_queries = own_sources(call.query);
  std::vector<row_source> of_keys = own_sources(call.key);
  return {std::move(call), std::move(of_queries), std::move(of_keys)};
}

/// The rows of `like`, elsewhere. The space stays as it was made, affine or spelled out.
[[nodiscard]] inline row_space with_frame(const row_space& like, const coordinate_frame& frame) {
  if (!like.affine()) return {like.entries(), like.rows(), like.spelled_out(), frame, like.origin()};
  return {like.rows(), like.affine_entries(), frame, like.origin(), like.padded_position()};
}
[[nodiscard]] inline row_space moved(const row_space& like, index_t by) {
  if (!like.affine()) {
    explicit_rows rows = like.spelled_out();
    for (index_t& p : rows.positions) p = saturating_add(p, by);
    return {like.entries(), like.rows(), std::move(rows), like.frame(), like.origin()};
  }
  const auto entry = [&](index_t b) {
    affine_rows of = like.affine_entries()[b];
    of.first = saturating_add(of.first, by);
    return of;
  };
  std::optional<index_t> padded = like.padded_position();
  if (padded) padded = saturating_add(*padded, by);
  return {like.rows(), {like.entries(), entry}, like.frame(), like.origin(), padded};
}
[[nodiscard]] inline row_space with_rows(const row_space& like, explicit_rows rows) {
  return {like.entries(), like.rows(), std::move(rows), like.frame(), like.origin()};
}

/// A call of other rows, which no cache knows. Across frames it stays what it was.
[[nodiscard]] inline call_description with_spaces(const call_description& from, row_space query, row_space key) {
  const bool across = from.kind == call_kind::cross_attention;
  return {.kind = across ? from.kind : call_kind::explicit_positions,
          .query = std::move(query),
          .key = std::move(key),
          .cache = {},
          .reuse = from.reuse};
}

[[nodiscard]] inline edit not_applicable(intervention kind, std::string why) {
  return {kind, std::move(why), {}, edited_mask::kept};
}
/// The edit, or why a call of it is none.
[[nodiscard]] inline edit checked(edit made) {
  for (const edited_call& one : made.calls) {
    const violations found = posgeo::check(one.call);
    if (!found.empty()) return not_applicable(made.kind, "no call: " + found.front().message);
  }
  return made;
}
[[nodiscard]] inline edit one_call(intervention kind, std::string what, edited_call call) {
  edit made{kind, std::move(what), {}, edited_mask::kept};
  made.calls.push_back(std::move(call));
  return checked(std::move(made));
}

/// Where each of n things goes: one cycle through all of them, so that with two or more none stays.
/// Source: Sattolo 1986.
[[nodiscard]] inline std::vector<index_t> cycle(index_t n, std::uint64_t seed, index_t entry, index_t sequence) {
  std::seed_seq mixed{seed, seed >> 32U, static_cast<std::uint64_t>(entry), static_cast<std::uint64_t>(sequence)};
  std::mt19937_64 draw(mixed);
  std::vector<index_t> order;
  for (index_t k = 0; k < n; ++k) order.push_back(k);
  for (std::size_t last = order.size(); last-- > 1;) std::swap(order[last], order[draw() % last]);
  return order;
}

/// A sequence of a batch entry.
using sequence_key = std::pair<index_t, index_t>;

/// The positions of each sequence's tokens; of both sides, where they count in one frame.
[[nodiscard]] inline std::map<sequence_key, std::set<index_t>> places(const row_space& space) {
  std::map<sequence_key, std::set<index_t>> all;
  for (index_t b = 0; b < space.entries(); ++b) {
    for (index_t row = 0; row < space.rows(); ++row) {
      if (space.active(b, row)) all[{b, space.sequence(b, row)}].insert(space.at(b, row).value());
    }
  }
  return all;
}
[[nodiscard]] inline std::map<sequence_key, std::set<index_t>> places(const position_call& call,
                                                                      const row_space& side) {
  auto all = places(side);
  if (!call.same_frame()) return all;
  for (const row_space* space : {&call.query_space(), &call.key_space()}) {
    for (auto& [key, at] : places(*space)) {
      if (const auto mine = all.find(key); mine != all.end()) mine->second.insert(at.begin(), at.end());
    }
  }
  return all;
}

/// The space with each token where `to(position, places of its sequence, sequence)` says; padding stays.
template <class To>
[[nodiscard]] row_space replaced(const position_call& call, const row_space& side, const To& to) {
  const auto all = places(call, side);
  explicit_rows rows = spelled(side);
  for (std::size_t at = 0; at < rows.positions.size(); ++at) {
    if (rows.active[at] == 0) continue;
    const index_t entry = static_cast<index_t>(at) / side.rows();
    const sequence_key key{entry, rows.sequences[at]};
    rows.positions[at] = to(rows.positions[at], all.at(key), key);
  }
  return with_rows(side, std::move(rows));
}

/// Whether a sequence has two places, so that something can change between them.
[[nodiscard]] inline bool any_pair(const position_call& call) {
  const auto of_queries = places(call, call.query_space());
  const auto of_keys = places(call, call.key_space());
  const auto two = [](const auto& one) { return one.second.size() > 1; };
  return std::any_of(of_queries.begin(), of_queries.end(), two) || std::any_of(of_keys.begin(), of_keys.end(), two);
}

}  // namespace detail
}  // namespace posgeo::audit
