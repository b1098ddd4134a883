// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/core/error.hpp>
#include <posgeo/core/index.hpp>
#include <posgeo/core/required.hpp>

#include <span>

namespace posgeo::coordinate {

/// Where the values of several categorical attributes lie in one table: attribute f, value v is row
/// first + stride * f + v.
/// Throws: errc::graph_structure, by check, for a value that would read another attribute's rows.
/// Source: the released Graphormer convert_to_single_emb (stride 512), with its shifts.
struct attribute_rows {
  required<index_t> first;
  required<index_t> stride;

  /// Node attributes in the original release: + 1 each in convert_to_single_emb and in the collator.
  [[nodiscard]] static attribute_rows graphormer_nodes() { return {.first = 2, .stride = 512}; }
  /// Node attributes as Transformers prepares them: one row further on.
  [[nodiscard]] static attribute_rows transformers_nodes() { return {.first = 3, .stride = 512}; }
  /// Edge attributes along a path, in both: one more, for "an edge is here".
  [[nodiscard]] static attribute_rows graphormer_edges() { return {.first = 3, .stride = 512}; }

  [[nodiscard]] index_t operator()(index_t attribute, index_t value) const noexcept {
    return first + stride * attribute + value;
  }
  /// Lists values that have no row of their own in a table of `rows` rows.
  void check(std::span<const index_t> values, index_t rows, std::string_view object, violations& found) const {
    for (std::size_t f = 0; f < values.size(); ++f) {
      const bool own = values[f] >= 0 && values[f] < stride;
      found.expect(own, errc::graph_structure, object, text("attribute {}", f), text("0..{}", stride - 1), values[f]);
      if (!own) continue;
      const index_t row = (*this)(static_cast<index_t>(f), values[f]);
      found.expect(row >= 0 && row < rows, errc::graph_structure, object, text("table row of attribute {}", f),
                   text("0..{}", rows - 1), row);
    }
  }
};

}  // namespace posgeo::coordinate
