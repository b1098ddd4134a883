// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/call/position_call.hpp>
#include <posgeo/core/tensor.hpp>

#include <span>
#include <type_traits>
#include <unordered_map>

namespace posgeo::coordinate {

/// Which pairs must have a column.
enum class shift_alignment {
  causal,         ///< keys up to the query; those after it come out absent
  bidirectional,  ///< every key: 2T - 1 columns for T rows against themselves
};

/// The column of each pair's distance, query minus key; -1 where the pair has none: under the causal alignment keys
/// after the query, and always padding and pairs of two sequences.
///
/// Shapes: distances [columns], in any order; the result [batch, queries, keys].
/// Units:  those of the call's frame.
/// Throws: errc::frame_mismatch across frames; errc::offset_out_of_table for a distance that two columns claim, or that
///         a pair needs and no column has.
/// Source: Dai et al. 2019, appendix B, without its pad-and-reshape, which is right only up to the query.
[[nodiscard]] inline tensor<index_t, 3> shift_columns(std::span<const index_t> distances, const position_call& call,
                                                      shift_alignment alignment) {
  violations found;
  expect_same_frame(call, "relative shift", found);
  std::unordered_map<index_t, index_t> column_of;
  for (std::size_t column = 0; column < distances.size(); ++column) {
    const auto [at, fresh] = column_of.try_emplace(distances[column], static_cast<index_t>(column));
    found.expect(fresh, errc::offset_out_of_table, "relative shift", text("distance {}", distances[column]),
                 "one column", text("columns {} and {}", at->second, column));
  }
  found.throw_if_any();

  tensor<index_t, 3> columns({call.batch(), call.queries(), call.keys()});
  for (const batch_index b : indices<batch_index>(call.batch())) {
    for (const query_index i : indices<query_index>(call.queries())) {
      for (const key_index j : indices<key_index>(call.keys())) {
        const index_t distance = signed_offset(call.offset(b, i, j), offset_sign::query_minus_key);
        const bool meets = call.active(b, i) && call.active(b, j) && call.sequence(b, i) == call.sequence(b, j);
        const bool wanted = meets && (alignment == shift_alignment::bidirectional || distance >= 0);
        const auto at = column_of.find(distance);
        require(!wanted || at != column_of.end(), errc::offset_out_of_table, "relative shift",
                text("query {} and key {} of entry {}", i.value(), j.value(), b.value()),
                text("one of the {} distances that have a column", distances.size()), distance);
        columns(b.value(), i.value(), j.value()) = wanted ? at->second : -1;
      }
    }
  }
  return columns;
}

/// Aligns scores by distance with keys: out[b, h, i, j] = compact[b, h, i, column of the distance from i to j], and
/// `absent` where shift_columns has none. Nothing is computed, so that the numbers come out as they went in.
/// Shapes: compact [batch, heads, queries, columns]; the result [batch, heads, queries, keys].
/// Throws: errc::shape_mismatch for another compact tensor; what shift_columns throws.
/// Source: Dai et al. 2019, appendix B.
template <class T>
[[nodiscard]] tensor<T, 4> relative_shift(const heads_view<const T>& compact, std::span<const index_t> distances,
                                          const position_call& call, shift_alignment alignment,
                                          std::type_identity_t<T> absent) {
  violations found;
  const auto expect = [&](std::size_t axis, std::string_view name, index_t extent) {
    found.expect(compact.extent(axis) == extent, errc::shape_mismatch, "compact scores", name, extent,
                 compact.extent(axis));
  };
  expect(0, "batch", call.batch());
  expect(2, "queries", call.queries());
  expect(3, "columns", static_cast<index_t>(distances.size()));
  found.throw_if_any();
  const auto columns = shift_columns(distances, call, alignment);

  tensor<T, 4> out({call.batch(), compact.extent(1), call.queries(), call.keys()});
  for (index_t b = 0; b < out.extent(0); ++b) {
    for (index_t h = 0; h < out.extent(1); ++h) {
      for (index_t i = 0; i < out.extent(2); ++i) {
        const auto from = compact.row(b, h, i);
        for (index_t j = 0; j < out.extent(3); ++j) {
          const index_t column = columns(b, i, j);
          out(b, h, i, j) = column < 0 ? absent : from[static_cast<std::size_t>(column)];
        }
      }
    }
  }
  return out;
}
template <class T>
requires(!std::is_const_v<T>)
    [[nodiscard]] tensor<T, 4> relative_shift(const heads_view<T>& compact, std::span<const index_t> distances,
                                              const position_call& call, shift_alignment alignment,
                                              std::type_identity_t<T> absent) {
  return relative_shift(heads_view<const T>(compact), distances, call, alignment, absent);
}

}  // namespace posgeo::coordinate
