// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/coordinate/grid_selection.hpp>
#include <posgeo/core/narrow.hpp>
#include <posgeo/core/table.hpp>
#include <posgeo/encode/described_cells.hpp>
#include <posgeo/encode/of_rows.hpp>

namespace posgeo::encode {

/// Adds a learned row for each cell: table[n] at the n-th place of the grid that the table was trained on, whatever the
/// order of the rows that read it.
/// Shapes: table [class rows + R C, width], in the order of its grid: R C width parameters beside the class rows.
/// Units:  cells.
/// Throws: errc::table_rows, when built, without one row for each place; errc::grid_bounds for cells of rows that count
///         in the frame of a grid of another size or class rows, when given them (counted_cells are of no such frame);
///         errc::grid_bounds for a cell outside the grid, errc::row_identity for rows that are not those of the cells,
///         errc::non_finite for a table that T cannot hold, when compiled.
/// Source: Dosovitskiy et al. 2021, section 3.1.
template <class Element>
class grid_full {
 public:
  grid_full(table<Element> rows, const coordinate::grid& grid) : table_(std::move(rows)), grid_(grid) {
    require(table_.rows() == grid.positions(), errc::table_rows, "grid_full", "table rows",
            text("{} class rows and {} x {} cells", grid.class_rows(), grid.rows(), grid.columns()), table_.rows());
  }

  [[nodiscard]] index_t width() const noexcept { return table_.columns(); }
  [[nodiscard]] index_t parameters() const noexcept { return table_.rows() * table_.columns(); }
  [[nodiscard]] description describe() const {
    return description("grid_full").with("table", described_table(table_)).with("grid", grid_.describe());
  }
  [[nodiscard]] static description describe_column(const coordinate::grid_cells& cells) {
    return describe_cells(cells);
  }

  /// The state encoder of rows that stand at the given cells.
  [[nodiscard]] of_rows<grid_full, coordinate::grid_place> at(coordinate::grid_cells cells) const {
    const std::string_view frame = cells.rows().frame().name();
    require(grid_.admits(cells.rows().frame()), errc::grid_bounds, "grid_full", "grid of the cells",
            text("{}, in any order (or counted_from)", grid_.frame().name()), frame);
    return {*this, std::move(cells)};
  }
  [[nodiscard]] of_rows<grid_full, coordinate::grid_place> at(coordinate::counted_cells cells) const {
    return {*this, std::move(cells)};
  }

  template <class T>
  void check(const coordinate::grid_cells& cells, violations& found) const {
    for_each_value(cells, [&](index_t b, index_t row, const coordinate::grid_place& place) {
      grid_.expect_inside(place, "grid_full", text("cell of row {} in entry {}", row, b), found);
    });
    require_fits<T>(table_.values(), "grid_full");
  }
  template <class T>
  void add(const coordinate::grid_place& place, std::span<T> row) const noexcept {
    const auto learned = table_.row(grid_.index_of(place));
    for (std::size_t c = 0; c < learned.size(); ++c) row[c] += static_cast<T>(learned[c]);
  }
  template <class T>
  [[nodiscard]] table_gradients<T, 1> gradient() const {
    return table_gradients<T, 1>(table_gradient<T>("table", table_));
  }
  template <class T>
  void add_gradient(const coordinate::grid_place& place, std::span<const T> d_row,
                    table_gradients<T, 1>& to) const noexcept {
    to[0].add_row(grid_.index_of(place), d_row, T{1});
  }

 private:
  table<Element> table_;
  coordinate::grid grid_;
};

}  // namespace posgeo::encode
