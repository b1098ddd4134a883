// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/coordinate/clipped.hpp>
#include <posgeo/core/described_tables.hpp>
#include <posgeo/core/head_tables.hpp>

namespace posgeo::coordinate {

/// The vector of each relation: R[class(key - query)], for all heads or each head's own.
/// Shapes: R [1 or query heads, classes, width].
/// Units:  offsets in tokens.
/// Throws: errc::table_rows, when built, without one row for each class.
/// Source: Shaw, Uszkoreit and Vaswani 2018, section 3.2.
template <class Element>
class relation_rows {
 public:
  relation_rows(head_tables<Element> rows, clipped classes, std::string_view object)
      : rows_(std::move(rows)), classes_(classes) {
    require(rows_.rows() == classes_.classes(), errc::table_rows, object, "table rows",
            text("{} classes", classes_.classes()), rows_.rows());
  }

  [[nodiscard]] const head_tables<Element>& rows() const noexcept { return rows_; }
  [[nodiscard]] const clipped& classes() const noexcept { return classes_; }

  /// The description of the mechanism that adds these rows.
  [[nodiscard]] description describe_as(std::string_view mechanism) const {
    return description(mechanism)
        .with("table", described_tables(rows_))
        .with("table_axes", axes_of(rows_))
        .with("rule", classes_.describe());
  }

  /// Lists tables of other heads or another width, and what the classes refuse of a call.
  void check(const position_call& call, index_t heads, index_t width, std::string_view object,
             violations& found) const {
    rows_.check(heads, width, object, found);
    classes_.check(call, object, found);
  }
  /// The row of a pair, as query head h reads it.
  [[nodiscard]] std::span<const Element> row(const position_call& call, batch_index b, head_index h, query_index i,
                                             key_index j) const noexcept {
    return rows_.row(h, classes_(call.offset(b, i, j)));
  }

 private:
  head_tables<Element> rows_;
  clipped classes_;
};

}  // namespace posgeo::coordinate
