// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/call/row_identity.hpp>
#include <posgeo/core/description.hpp>

#include <vector>

namespace posgeo {

/// Rows as a call knows them: the frame, and of each storage row its sequence and position, 0 and 0 for padding. Names
/// that the rows had before are not in it.
/// Shapes: three lists [entries * rows], entry after entry; "active" is 1 for a token.
[[nodiscard]] inline description describe_rows(const row_identity& rows) {
  std::vector<index_t> sequences;
  std::vector<index_t> positions;
  std::vector<index_t> active;
  for (index_t b = 0; b < rows.entries(); ++b) {
    for (index_t row = 0; row < rows.rows(); ++row) {
      const row_name& name = rows.name(b, row);
      sequences.push_back(name.active ? name.sequence : 0);
      positions.push_back(name.active ? name.position : 0);
      active.push_back(name.active ? 1 : 0);
    }
  }
  return description("rows")
      .with("entries", rows.entries())
      .with("rows", rows.rows())
      .with("frame", rows.frame().name())
      .with("sequences", sequences)
      .with("positions", positions)
      .with("active", active);
}

/// One number of each value of a column; 0 for padding, whose value nobody reads. Shapes: [entries * rows].
template <class Value, class Read>
[[nodiscard]] auto column_numbers(const row_column<Value>& column, const Read& read) {
  std::vector<decltype(read(std::declval<const Value&>()))> numbers;
  for (index_t b = 0; b < column.rows().entries(); ++b) {
    for (index_t row = 0; row < column.rows().rows(); ++row) {
      const bool active = column.rows().name(b, row).active;
      numbers.push_back(active ? read(column.at(b, row)) : 0);
    }
  }
  return numbers;
}

}  // namespace posgeo
