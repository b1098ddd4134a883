// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/coordinate/grid.hpp>
#include <posgeo/core/narrow.hpp>
#include <posgeo/core/table.hpp>
#include <posgeo/encode/described_cells.hpp>
#include <posgeo/encode/of_rows.hpp>

namespace posgeo::encode {

/// Adds row_table[r] + column_table[c], so that p(r1, c1) + p(r2, c2) = p(r1, c2) + p(r2, c1). Class rows receive
/// nothing.
/// Shapes: row table [R, width], column table [C, width]: (R + C) width parameters.
/// Units:  cells.
/// Throws: errc::shape_mismatch, when built, for tables of two widths; errc::grid_bounds for a cell without a row in
///         either table, errc::row_identity for rows that are not those of the cells, errc::non_finite for table rows
///         or a sum of two that T cannot hold, when compiled.
/// Source: Carion et al. 2020, appendix (learned per axis, there concatenated); Dosovitskiy et al. 2021, appendix D.4.
template <class Element>
class grid_separable {
 public:
  grid_separable(table<Element> row_table, table<Element> column_table)
      : rows_(std::move(row_table)), columns_(std::move(column_table)) {
    require(rows_.columns() == columns_.columns(), errc::shape_mismatch, "grid_separable", "width of the column table",
            rows_.columns(), columns_.columns());
  }

  [[nodiscard]] index_t width() const noexcept { return rows_.columns(); }
  [[nodiscard]] index_t parameters() const noexcept { return (rows_.rows() + columns_.rows()) * width(); }
  [[nodiscard]] description describe() const {
    return description("grid_separable")
        .with("row_table", described_table(rows_))
        .with("column_table", described_table(columns_));
  }
  [[nodiscard]] static description describe_column(const coordinate::grid_cells& cells) {
    return describe_cells(cells);
  }

  /// The state encoder of rows that stand at the given cells.
  [[nodiscard]] of_rows<grid_separable, coordinate::grid_place> at(coordinate::grid_cells cells) const {
    return {*this, std::move(cells)};
  }

  template <class T>
  void check(const coordinate::grid_cells& cells, violations& found) const {
    for_each_value(cells, [&](index_t b, index_t row, const coordinate::grid_place& place) {
      const auto* cell = std::get_if<coordinate::cell>(&place);
      found.expect(cell == nullptr || (cell->row >= 0 && cell->row < rows_.rows() && cell->column >= 0 &&
                                       cell->column < columns_.rows()),
                   errc::grid_bounds, "grid_separable", text("cell of row {} in entry {}", row, b),
                   text("one of {} x {} cells", rows_.rows(), columns_.rows()),
                   text("row {}, column {}", cell == nullptr ? 0 : cell->row, cell == nullptr ? 0 : cell->column));
    });
    require_fits<T>(rows_.values(), "grid_separable");
    require_fits<T>(columns_.values(), "grid_separable");
    require_sums_fit<T>(rows_.values(), columns_.values(), "grid_separable");
  }
  template <class T>
  void add(const coordinate::grid_place& place, std::span<T> row) const noexcept {
    const auto* cell = std::get_if<coordinate::cell>(&place);
    if (cell == nullptr) return;
    const auto down = rows_.row(cell->row);
    const auto across = columns_.row(cell->column);
    for (std::size_t c = 0; c < down.size(); ++c) {
      row[c] += static_cast<T>(static_cast<double>(down[c]) + static_cast<double>(across[c]));
    }
  }
  template <class T>
  [[nodiscard]] table_gradients<T, 2> gradient() const {
    return table_gradients<T, 2>(table_gradient<T>("row_table", rows_), table_gradient<T>("column_table", columns_));
  }
  template <class T>
  void add_gradient(const coordinate::grid_place& place, std::span<const T> d_row,
                    table_gradients<T, 2>& to) const noexcept {
    const auto* cell = std::get_if<coordinate::cell>(&place);
    if (cell == nullptr) return;
    to[0].add_row(cell->row, d_row, T{1});
    to[1].add_row(cell->column, d_row, T{1});
  }

 private:
  table<Element> rows_;
  table<Element> columns_;
};

}  // namespace posgeo::encode
