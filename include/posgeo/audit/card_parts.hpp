// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/audit/intervention.hpp>
#include <posgeo/core/reads.hpp>
#include <posgeo/core/stated.hpp>
#include <posgeo/manifest/fields.hpp>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace posgeo::audit {

/// What the numbers of a method follow: nothing of the positions, only which row comes first, offsets, places counted
/// from the origin, both, or values that a caller bound to rows.
enum class position_reference { none, order, relative, absolute, absolute_and_relative, values_of_rows };
[[nodiscard]] constexpr auto names_of(position_reference) noexcept {
  return std::array<std::string_view, 6>{"none",          "order", "relative", "absolute", "absolute_and_relative",
                                         "values_of_rows"};
}

/// One thing of a call that is read: a bit of posgeo::reads.
enum class read_part {
  ahead,
  behind,
  distance,
  absolute_query,
  absolute_key,
  padding,
  sequence,
  extent,
  row,
  name,
  frame,
};
[[nodiscard]] constexpr auto names_of(read_part) noexcept {
  return std::array<std::string_view, 11>{"ahead",    "behind", "distance", "absolute_query", "absolute_key", "padding",
                                          "sequence", "extent", "row",      "name",           "frame"};
}
[[nodiscard]] constexpr reads reads_of(read_part part) noexcept {
  constexpr std::array all{reads::ahead,        reads::behind,  reads::distance, reads::absolute_query,
                           reads::absolute_key, reads::padding, reads::sequence, reads::extent,
                           reads::row,          reads::name,    reads::frame};
  return all[static_cast<std::size_t>(part)];
}

[[nodiscard]] inline std::vector<read_part> parts_of(reads all) {
  std::vector<read_part> parts;
  for (std::size_t n = 0; n < names_of(read_part{}).size(); ++n) {
    const auto part = static_cast<read_part>(n);
    if (includes(all, reads_of(part))) parts.push_back(part);
  }
  return parts;
}
[[nodiscard]] inline reads reads_of(const std::vector<read_part>& parts) noexcept {
  reads all = reads::nothing;
  for (const read_part part : parts) all = all | reads_of(part);
  return all;
}
/// What is read, in words; parts that belong together as one.
[[nodiscard]] inline std::string words_of(reads all) {
  constexpr std::array<std::pair<reads, std::string_view>, 3> whole{
      {{reads::offset, "offset"}, {reads::order, "order"}, {reads::absolute, "absolute position"}}};
  std::string out;
  const auto say = [&](reads part, std::string_view name) {
    if (!includes(all, part)) return;
    std::string word(name);
    std::replace(word.begin(), word.end(), '_', ' ');
    out += (out.empty() ? "" : ", ") + word;
    all = static_cast<reads>(static_cast<unsigned>(all) & ~static_cast<unsigned>(part));
  };
  for (const auto& [part, name] : whole) say(part, name);
  for (std::size_t n = 0; n < names_of(read_part{}).size(); ++n) {
    say(reads_of(static_cast<read_part>(n)), names_of(read_part{})[n]);
  }
  return out.empty() ? "nothing" : out;
}

[[nodiscard]] constexpr position_reference reference_of(reads all) noexcept {
  const bool absolute = includes_any(all, reads::absolute);
  const bool relative = includes(all, reads::distance);
  if (absolute && relative) return position_reference::absolute_and_relative;
  if (absolute) return position_reference::absolute;
  if (relative) return position_reference::relative;
  if (includes_any(all, reads::row | reads::name)) return position_reference::values_of_rows;
  return includes_any(all, reads::order) ? position_reference::order : position_reference::none;
}

/// Whether outputs may change when all positions are counted from another origin.
enum class origin_effect { irrelevant, matters };
[[nodiscard]] constexpr auto names_of(origin_effect) noexcept {
  return std::array<std::string_view, 2>{"irrelevant", "matters"};
}

/// Where rows without a token stand.
enum class padded_side { never, left, right, anywhere };
[[nodiscard]] constexpr auto names_of(padded_side) noexcept {
  return std::array<std::string_view, 4>{"never", "left", "right", "anywhere"};
}

/// How rows without a token are counted: not at all, for there are none; as tokens are; at one position; at one
/// position while tokens count themselves alone. The rules of call::padded_positions.
enum class padded_count { none, contiguous, fixed, compressed };
[[nodiscard]] constexpr auto names_of(padded_count) noexcept {
  return std::array<std::string_view, 4>{"none", "contiguous", "fixed", "compressed"};
}

/// How positions run where several sequences share a row of the batch.
enum class packed_count { never_packed, restart, continuing };
[[nodiscard]] constexpr auto names_of(packed_count) noexcept {
  return std::array<std::string_view, 3>{"never_packed", "restart", "continuing"};
}

/// Whether key rows of a kind are out of every query's sight.
enum class key_rows_are { visible, hidden };
[[nodiscard]] constexpr auto names_of(key_rows_are) noexcept {
  return std::array<std::string_view, 2>{"visible", "hidden"};
}

/// By what "after the query" is told: its position, or a corner of the score matrix, as other kernels do.
enum class causal_alignment { not_causal, by_position, top_left, bottom_right };
[[nodiscard]] constexpr auto names_of(causal_alignment) noexcept {
  return std::array<std::string_view, 4>{"not_causal", "by_position", "top_left", "bottom_right"};
}

/// Where the first row of a cached call stands: behind all tokens committed so far, or behind the rows that are kept.
enum class cache_offset { no_cache, committed_length, kept_rows };
[[nodiscard]] constexpr auto names_of(cache_offset) noexcept {
  return std::array<std::string_view, 3>{"no_cache", "committed_length", "kept_rows"};
}

/// What a task asks of positions. Quality on one kind says nothing of another.
enum class task_kind { language_modelling, retrieval, aggregation, exact_ordering, missing_evidence, generation };
[[nodiscard]] constexpr auto names_of(task_kind) noexcept {
  return std::array<std::string_view, 6>{"language_modelling", "retrieval",        "aggregation",
                                         "exact_ordering",     "missing_evidence", "generation"};
}

/// Whether a length was in training.
enum class length_range { within_trained, beyond_trained };
[[nodiscard]] constexpr auto names_of(length_range) noexcept {
  return std::array<std::string_view, 2>{"within_trained", "beyond_trained"};
}

}  // namespace posgeo::audit
