// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/core/description.hpp>
#include <posgeo/core/error.hpp>
#include <posgeo/core/index.hpp>
#include <posgeo/core/required.hpp>

#include <concepts>
#include <span>

namespace posgeo::coordinate {

struct of_nodes;
struct of_edges;

/// Where the values of several categorical attributes lie in one table: attribute f, value v is row
/// first + stride * f + v.
/// Shapes: one value for each attribute.
/// Units:  table rows.
/// Throws: errc::graph_structure, by check, for a value that would read another attribute's rows, and for a first row
/// or
///         stride that is negative or beyond 2^31.
/// Source: the released Graphormer convert_to_single_emb (stride 512), with its shifts.
/// Of: what has the attributes, since nodes and edges lie one row apart in the release.
template <class Of>
struct attribute_rows {
  required<index_t> first;
  required<index_t> stride;

  /// The original release: + 1 in convert_to_single_emb and in the collator, and for edges one more, for "an edge is
  /// here".
  [[nodiscard]] static attribute_rows graphormer() {
    return {.first = std::same_as<Of, of_edges> ? 3 : 2, .stride = 512};
  }
  /// Node attributes as Transformers prepares them: one row further on. Its edges are those of the release.
  [[nodiscard]] static attribute_rows transformers() requires std::same_as<Of, of_nodes> {
    return {.first = 3, .stride = 512};
  }

  [[nodiscard]] description describe() const {
    return description("attribute_rows").with("first", index_t{first}).with("stride", index_t{stride});
  }

  [[nodiscard]] index_t operator()(index_t attribute, index_t value) const noexcept {
    return first + stride * attribute + value;
  }
  /// Lists values that have no row of their own in a table of `rows` rows.
  void check(std::span<const index_t> values, index_t rows, std::string_view object, violations& found) const {
    constexpr index_t most = index_t{1} << 31;  // so that no row overflows
    const bool bounded = first >= 0 && first <= most && stride >= 0 && stride <= most;
    found.expect(bounded, errc::graph_structure, object, "first row and stride of the attributes", "from 0 to 2^31",
                 text("{} and {}", first, stride));
    for (std::size_t f = 0; bounded && f < values.size(); ++f) {
      const bool own = values[f] >= 0 && values[f] < stride;
      found.expect(own, errc::graph_structure, object, text("attribute {}", f), text("0..{}", stride - 1), values[f]);
      if (!own) continue;
      const index_t row = (*this)(static_cast<index_t>(f), values[f]);
      found.expect(row >= 0 && row < rows, errc::graph_structure, object, text("table row of attribute {}", f),
                   text("0..{}", rows - 1), row);
    }
  }
};

using node_attribute_rows = attribute_rows<of_nodes>;
using edge_attribute_rows = attribute_rows<of_edges>;

}  // namespace posgeo::coordinate
