// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/core/table.hpp>

namespace posgeo {

/// Rows of numbers for each head: one table that every head reads, or one table for each.
/// Shapes: [tables, rows, dim], where tables is 1 or the number of heads.
/// Throws: errc::head_count for less than one head; errc::shape_mismatch if the heads do not divide the table.
template <class T>
class head_tables {
 public:
  /// One table [rows, dim] for all heads.
  [[nodiscard]] static head_tables shared(table<T> rows) {
    const index_t count = rows.rows();
    const index_t dim = rows.columns();
    return {std::move(rows), 1, count, dim};
  }
  /// A table [heads * rows, dim]: the rows of head 0, then those of head 1.
  [[nodiscard]] static head_tables stacked(table<T> all, index_t heads) {
    const index_t rows = part("rows", all.rows(), heads);
    const index_t dim = all.columns();
    return {std::move(all), heads, rows, dim};
  }
  /// A table [rows, heads * dim], as a projection leaves it: the columns of head 0, then those of head 1.
  [[nodiscard]] static head_tables by_column(table<T> all, index_t heads) {
    const index_t dim = part("columns", all.columns(), heads);
    const index_t rows = all.rows();
    return {std::move(all), heads, rows, dim};
  }

  /// 1 if the heads share the table.
  [[nodiscard]] index_t tables() const noexcept { return tables_; }
  [[nodiscard]] index_t rows() const noexcept { return rows_; }
  [[nodiscard]] index_t dim() const noexcept { return dim_; }
  [[nodiscard]] std::span<const T> values() const noexcept { return all_.values(); }
  /// The table that the tables are parts of.
  [[nodiscard]] const table<T>& all() const noexcept { return all_; }
  /// Whether each head's table is rows of it, one after the other, and not columns.
  [[nodiscard]] bool by_row() const noexcept { return tables_ == 1 || all_.rows() != rows_; }
  [[nodiscard]] std::span<const T> row(head_index h, index_t r) const noexcept {
    if (tables_ == 1) return all_.row(r);
    if (all_.rows() != rows_) return all_.row(h.value() * rows_ + r);
    return all_.row(r).subspan(static_cast<std::size_t>(h.value() * dim_), static_cast<std::size_t>(dim_));
  }

  /// Lists what keeps the heads of a layout from reading these tables: their number, or rows of another width.
  void check(index_t heads, index_t width, std::string_view object, violations& found) const {
    found.expect(tables_ == 1 || tables_ == heads, errc::head_count, object, "tables",
                 text("1 or {} query heads", heads), tables_);
    found.expect(dim_ == width, errc::shape_mismatch, object, "width of a table row", width, dim_);
  }

 private:
  head_tables(table<T> all, index_t tables, index_t rows, index_t dim)
      : all_(std::move(all)), tables_(tables), rows_(rows), dim_(dim) {}

  [[nodiscard]] static index_t part(std::string_view axis, index_t whole, index_t heads) {
    require(heads > 0, errc::head_count, "head tables", "heads", "at least 1", heads);
    require(whole % heads == 0, errc::shape_mismatch, "head tables", axis, text("a multiple of {} heads", heads),
            whole);
    return whole / heads;
  }

  table<T> all_;
  index_t tables_;
  index_t rows_;
  index_t dim_;
};

}  // namespace posgeo
