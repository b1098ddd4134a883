// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/call/row_description.hpp>
#include <posgeo/coordinate/grid.hpp>

namespace posgeo::encode {

/// The places of a column's rows. Shapes: lists [entries * rows]; "class_row" is 1 for a class row, whose number is
/// then under "row", and 0 for a cell and for padding.
[[nodiscard]] inline description describe_cells(const coordinate::grid_cells& cells) {
  const auto numbers = [&cells](const auto& of_cell, const auto& of_class_row) {
    return column_numbers(cells, [&](const coordinate::grid_place& place) -> index_t {
      const auto* cell = std::get_if<coordinate::cell>(&place);
      return cell != nullptr ? of_cell(*cell) : of_class_row(std::get<coordinate::class_row>(place));
    });
  };
  using coordinate::cell;
  using coordinate::class_row;
  return description("cells")
      .with("rows", describe_rows(cells.rows()))
      .with("class_row", numbers([](const cell&) { return 0; }, [](const class_row&) { return 1; }))
      .with("row", numbers([](const cell& c) { return c.row; }, [](const class_row& r) { return r.index; }))
      .with("column", numbers([](const cell& c) { return c.column; }, [](const class_row&) { return 0; }));
}

}  // namespace posgeo::encode
