// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/call/position_call.hpp>

#include <algorithm>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace posgeo::audit {

/// A way in which a kernel may misread where the rows of a call stand.
enum class misread {
  mirrored,          ///< before and after change places
  query_at_zero,     ///< the first query of each entry stands at 0
  query_at_memory,   ///< it stands at the number of keys before it
  query_behind,      ///< every query stands one position too far back
  query_ahead,       ///< or too far on
  memory_behind,     ///< the keys before the first query stand one position too far back
  memory_ahead,      ///< or too far on
  rows_from_top,     ///< positions are storage rows, counted from the first query and the first key
  rows_from_bottom,  ///< the same, counted back from the last query and the last key
  all_active,        ///< padding is taken for tokens
  one_sequence,      ///< every token of an entry is of one sequence
};

namespace detail {

/// The rows of a space as arrays, with `where` in place of the position of (entry, row, position).
template <class Where>
[[nodiscard]] row_space respelled(const row_space& space, misread how, const Where& where) {
  explicit_rows out;
  for (index_t b = 0; b < space.entries(); ++b) {
    for (index_t row = 0; row < space.rows(); ++row) {
      out.positions.push_back(where(b, row, space.at(b, row).value()));
      out.sequences.push_back(how == misread::one_sequence ? b : space.sequence(b, row));
      out.active.push_back(how == misread::all_active || space.active(b, row) ? 1 : 0);
    }
  }
  return {space.entries(), space.rows(), std::move(out), space.frame(), space.origin()};
}

}  // namespace detail

/// The call as the misreading has it: the same rows, which stand elsewhere. Padding that is taken for tokens belongs to
/// the sequence that its row names. Throws: errc::position_overflow for positions that would leave their range.
[[nodiscard]] inline position_call misread_call(const position_call& call, misread how) {
  const row_space& queries = call.query_space();
  const row_space& keys = call.key_space();
  std::vector<index_t> first(static_cast<std::size_t>(call.batch()), 0);
  std::vector<index_t> before(first.size(), 0);
  index_t lowest = std::numeric_limits<index_t>::max();
  index_t highest = std::numeric_limits<index_t>::min();
  for (index_t b = 0; b < call.batch(); ++b) {
    for (const row_space* space : {&queries, &keys}) {
      const auto [low, high] = space->position_bounds(b);
      lowest = std::min(lowest, low);
      highest = std::max(highest, high);
    }
    std::optional<index_t> start;
    for (index_t i = 0; i < queries.rows(); ++i) {
      if (queries.active(b, i)) start = std::min(start.value_or(queries.at(b, i).value()), queries.at(b, i).value());
    }
    first[static_cast<std::size_t>(b)] = start.value_or(0);
    for (index_t j = 0; start && j < keys.rows(); ++j) {
      before[static_cast<std::size_t>(b)] += keys.active(b, j) && keys.at(b, j).value() < *start ? 1 : 0;
    }
  }
  const auto in_memory = [&](index_t b, index_t at) { return at < first[static_cast<std::size_t>(b)]; };
  const auto query = [&](index_t b, index_t row, index_t at) {
    const index_t start = first[static_cast<std::size_t>(b)];
    switch (how) {
      case misread::mirrored:
        return lowest + (highest - at);
      case misread::query_at_zero:
        return at - start;
      case misread::query_at_memory:
        return at - start + before[static_cast<std::size_t>(b)];
      case misread::query_behind:
        return at - 1;
      case misread::query_ahead:
        return at + 1;
      case misread::rows_from_top:
        return row;
      case misread::rows_from_bottom:
        return row + keys.rows() - queries.rows();
      default:
        return at;
    }
  };
  const auto key = [&](index_t b, index_t row, index_t at) {
    switch (how) {
      case misread::mirrored:
        return lowest + (highest - at);
      case misread::memory_behind:
        return in_memory(b, at) ? at - 1 : at;
      case misread::memory_ahead:
        return in_memory(b, at) ? at + 1 : at;
      case misread::rows_from_top:
      case misread::rows_from_bottom:
        return row;
      default:
        return at;
    }
  };
  return position_call({.kind = call_kind::explicit_positions,
                        .query = detail::respelled(queries, how, query),
                        .key = detail::respelled(keys, how, key),
                        .cache = {},
                        .reuse = position_reuse::intended});
}

}  // namespace posgeo::audit
