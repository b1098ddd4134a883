// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/core/described_tables.hpp>
#include <posgeo/core/head_parts.hpp>
#include <posgeo/core/head_tables.hpp>
#include <posgeo/core/heads.hpp>
#include <posgeo/core/narrow.hpp>
#include <posgeo/core/positional_range.hpp>
#include <posgeo/core/required.hpp>

#include <algorithm>

namespace posgeo::content {

/// Which distance the first row of a table belongs to; the others follow one by one.
enum class distance_order {
  ascending,   ///< row 0 is the lowest distance
  descending,  ///< row 0 is the highest (Transformer-XL's release)
};

[[nodiscard]] constexpr std::string_view name_of(distance_order order) noexcept {
  return order == distance_order::ascending ? "ascending" : "descending";
}

struct distance_rows_settings {
  required<index_t> lowest;  ///< the lowest distance that has a row, query minus key; negative for keys ahead
  required<distance_order> order;
};

/// A row for each head and each distance of a range, already projected: r[h, i - j].
/// Shapes: rows [query heads, distances, head_dim].
/// Units:  distances are query minus key, in tokens.
/// Throws: errc::position_overflow, when built, for a range that leaves the positions; errc::head_count and
///         errc::shape_mismatch for tables of other heads, errc::offset_out_of_table for a call that needs another
///         distance, when the term is compiled.
/// Source: Dai et al. 2019, appendix B (the matrix Q).
template <class Element>
class distance_rows {
 public:
  distance_rows(head_tables<Element> rows, const distance_rows_settings& settings)
      : rows_(std::move(rows)), lowest_(settings.lowest), order_(settings.order) {
    require(lowest_ >= -position_limit && lowest_ <= position_limit - rows_.rows(), errc::position_overflow,
            "distance rows", "lowest", "an integer less than 2^62 from zero, as the highest", lowest_);
  }

  [[nodiscard]] index_t lowest() const noexcept { return lowest_; }
  [[nodiscard]] index_t highest() const noexcept { return lowest_ + rows_.rows() - 1; }
  /// Whether no row is for a key after the query.
  [[nodiscard]] bool looks_back_only() const noexcept { return lowest_ >= 0; }

  /// Distances that have a row. Keys after the query are the attention's matter where the rows look back only.
  [[nodiscard]] positional_range range() const noexcept {
    positional_range taken{.lowest_offset = -highest()};
    if (!looks_back_only()) taken.highest_offset = -lowest();
    return taken;
  }

  [[nodiscard]] description describe() const {
    return description("distance_rows")
        .with("table", described_tables(rows_))
        .with("table_axes", axes_of(rows_))
        .with("lowest", lowest_)
        .with("order", name_of(order_))
        .with("sign", name_of(offset_sign::query_minus_key));
  }

  [[nodiscard]] const head_tables<Element>& tables() const noexcept { return rows_; }
  /// What is learned of the rows: they themselves.
  [[nodiscard]] const head_tables<Element>& learned() const noexcept { return rows_; }

  /// The table row of a distance. Only padding and hidden keys can be beyond the ends; they read the row at the end.
  [[nodiscard]] index_t class_of(index_t distance) const noexcept {
    const index_t within = std::clamp(distance, lowest(), highest());
    return order_ == distance_order::ascending ? within - lowest() : highest() - within;
  }
  [[nodiscard]] std::span<const Element> row(head_index h, index_t distance) const noexcept {
    return rows_.row(h, class_of(distance));
  }

  [[nodiscard]] distance_rows part(const head_slice& slice) const {
    return {tables_of(rows_, slice, "distance rows"), {.lowest = lowest_, .order = order_}};
  }

  void check(const heads& layout, violations& found) const {
    rows_.check(layout.query, layout.dim, "distance rows", found);
  }
  void check_distances(index_t low, index_t high, violations& found) const {
    const auto expect = [&](bool within, index_t distance) {
      found.expect(within, errc::offset_out_of_table, "distance rows", "query - key",
                   text("from {} to {}", lowest(), highest()), distance);
    };
    expect(low >= lowest(), low);
    expect(high <= highest(), high);
  }
  /// Itself: the rows are there whatever the call needs.
  template <class T>
  [[nodiscard]] const distance_rows& over(index_t, index_t, const heads&) const {
    require_fits<T>(rows_.values(), "distance rows");
    return *this;
  }

 private:
  head_tables<Element> rows_;
  index_t lowest_;
  distance_order order_;
};

}  // namespace posgeo::content
