// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/call/row_selection.hpp>
#include <posgeo/coordinate/grid.hpp>

namespace posgeo::coordinate {

/// Cells of a picture that the frame of their rows does not name: a crop that was counted anew, patches that brought
/// their cells along.
class counted_cells : public grid_cells {
 public:
  explicit counted_cells(grid_cells cells) : grid_cells(std::move(cells)) {}
};

/// The places of patches whose cells came with their rows.
[[nodiscard]] inline counted_cells places_of(const row_column<image_cell>& cells) {
  return counted_cells({cells.rows(), std::vector<grid_place>(cells.values().begin(), cells.values().end())});
}

/// A rectangle of cells: rows [first.row, first.row + rows), columns likewise.
struct grid_crop {
  cell first;
  required<index_t> rows;
  required<index_t> columns;
};

/// The storage rows of entry b whose cell lies in the crop, in storage order: what a crop keeps. Class rows are kept.
/// Units:  cells.
/// Throws: errc::row_count for an entry that is not there; errc::grid_bounds for a crop without rows or columns and for
///         one that no cell lies in.
/// Source: cells stay those of the uncropped picture.
[[nodiscard]] inline std::vector<index_t> rows_within(const grid_cells& cells, index_t b, const grid_crop& crop) {
  require(b >= 0 && b < cells.rows().entries(), errc::row_count, "crop", "entry",
          text("one of {}", cells.rows().entries()), b);
  for (const index_t extent : {index_t{crop.rows}, index_t{crop.columns}}) {
    require(extent > 0, errc::grid_bounds, "crop", "rows and columns", "at least 1", extent);
  }
  const auto in = [](index_t at, index_t first, index_t count) {
    return at >= first && saturating_subtract(at, first) < count;
  };
  bool any = false;
  std::vector<index_t> kept;
  for (index_t row = 0; row < cells.rows().rows(); ++row) {
    if (!cells.rows().name(b, row).active) continue;
    const cell* c = std::get_if<cell>(&cells.at(b, row));
    const bool inside =
        c != nullptr && in(c->row, crop.first.row, crop.rows) && in(c->column, crop.first.column, crop.columns);
    if (inside || c == nullptr) kept.push_back(row);
    any = any || inside;
  }
  require(
      any, errc::grid_bounds, "crop", text("cells of entry {}", b), "at least one inside",
      text("none in {} x {} cells from row {}, column {}", crop.rows, crop.columns, crop.first.row, crop.first.column));
  return kept;
}

/// The column of the given storage rows, in the given order: a drop, a sort, a crop. Each value stays with its logical
/// row.
/// Shapes: rows [entries * rows kept], entry after entry, each with as many.
/// Throws: errc::row_count for a row that is not there, and for rows that are not as many in every entry.
/// Source: p(row) goes with its row, whatever is dropped or sorted.
template <class Value>
[[nodiscard]] row_column<Value> selected(const row_column<Value>& column, std::span<const index_t> rows) {
  const row_identity& from = column.rows();
  const index_t entries = from.entries();
  const auto count = static_cast<index_t>(rows.size());
  const index_t each = entries == 0 ? 0 : count / entries;
  require(count == each * entries, errc::row_count, "selected rows", "rows",
          text("as many in each of {} entries", entries), count);
  std::vector<Value> values;
  for (index_t n = 0; n < count; ++n) {
    const index_t row = rows[static_cast<std::size_t>(n)];
    require(row >= 0 && row < from.rows(), errc::row_count, "selected rows", text("row of entry {}", n / each),
            text("from 0 to below {}", from.rows()), row);
    values.push_back(column.at(n / each, row));
  }
  return {posgeo::detail::select(from, {.rows = each, .take = {rows.begin(), rows.end()}}), std::move(values)};
}

/// The same rows with cells counted from another one: a crop read as a picture of its own.
/// Units:  cells.
/// Throws: errc::grid_bounds for an origin or a cell beyond 2^62.
/// Source: cells are counted in the picture that the model is shown.
[[nodiscard]] inline counted_cells counted_from(const grid_cells& cells, const cell& origin) {
  std::vector<grid_place> places = cells.values();
  const auto less = [](index_t at, index_t first) {
    for (const index_t number : {at, first}) {
      require(number >= -position_limit && number <= position_limit, errc::grid_bounds, "counted cells", "cell",
              "numbers within 2^62", number);
    }
    return at - first;
  };
  for (grid_place& place : places) {
    if (cell* c = std::get_if<cell>(&place)) *c = {less(c->row, origin.row), less(c->column, origin.column)};
  }
  return counted_cells({cells.rows(), std::move(places)});
}

}  // namespace posgeo::coordinate
