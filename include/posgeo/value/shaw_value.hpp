// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/coordinate/relation_rows.hpp>
#include <posgeo/core/head_parts.hpp>
#include <posgeo/core/narrow.hpp>
#include <posgeo/core/positional_range.hpp>
#include <posgeo/core/reads.hpp>
#include <posgeo/core/row_product.hpp>
#include <posgeo/core/table_gradient.hpp>
#include <posgeo/value/value_term.hpp>

#include <optional>

namespace posgeo::value {

/// Adds weight * R[class(key - query)] to the output row, after the softmax.
/// Shapes: R [1 or query heads, classes, value dim].
/// Units:  offsets in tokens.
/// Throws: errc::table_rows, when built, without one row for each class; errc::head_count for tables of other heads,
///         errc::frame_mismatch across frames, errc::offset_out_of_table for an offset that the classes refuse, when
///         compiled; errc::shape_mismatch, in attend, for values of another width.
/// Source: Shaw, Uszkoreit and Vaswani 2018, equation 3 and section 3.3.
template <class Element>
class shaw_value {
 public:
  using family = posgeo::family::value_term;

  shaw_value(head_tables<Element> rows, coordinate::clipped classes)
      : relations_(std::move(rows), classes, "shaw value") {}

  [[nodiscard]] const head_tables<Element>& rows() const noexcept { return relations_.rows(); }
  [[nodiscard]] const coordinate::clipped& classes() const noexcept { return relations_.classes(); }
  /// Whether no row is for a key after the query.
  [[nodiscard]] bool looks_back_only() const noexcept { return relations_.classes().looks_back_only(); }

  [[nodiscard]] reads positional_reads() const noexcept { return classes().positional_reads(); }
  [[nodiscard]] positional_range range() const noexcept { return classes().range(); }

  [[nodiscard]] description describe() const { return relations_.describe_as("shaw_value"); }

  [[nodiscard]] shaw_value part(const head_slice& slice) const {
    return {tables_of(rows(), slice, "shaw value"), classes()};
  }

  void check(const position_call& call, const heads& layout, violations& found) const {
    relations_.check(call, layout.query, relations_.rows().dim(), "shaw value", found);
  }

  template <class T>
  class term {
   public:
    [[nodiscard]] index_t width() const noexcept { return relations_.rows().dim(); }
    void accumulate(batch_index b, head_index h, query_index i, key_index j, T weight,
                    std::span<T> out_row) const noexcept {
      const auto row = relations_.row(call_, b, h, i, j);
      for (std::size_t d = 0; d < out_row.size(); ++d) out_row[d] += weight * static_cast<T>(row[d]);
    }
    [[nodiscard]] std::optional<coordinate::relation_side<T, Element>> classes_of_value() const noexcept {
      return coordinate::relation_side<T, Element>(relations_);
    }
    [[nodiscard]] table_gradients<T, 1> gradient() const {
      return table_gradients<T, 1>(table_gradient<T>("table", relations_.rows()));
    }
    [[nodiscard]] T add_gradient(batch_index b, head_index h, query_index i, key_index j, T weight,
                                 std::span<const T> d_out_row, table_gradients<T, 1>& to) const noexcept {
      to[0].add_row(relations_.rows(), h, relations_.classes()(call_.offset(b, i, j)), d_out_row, weight);
      return row_product(d_out_row, relations_.row(call_, b, h, i, j));
    }
    void add_class_gradient(head_index h, index_t c, std::span<const T> d_row,
                            table_gradients<T, 1>& to) const noexcept {
      to[0].add_row(relations_.rows(), h, c, d_row, T{1});
    }

   private:
    friend class shaw_value;
    term(coordinate::relation_rows<Element> relations, position_call call)
        : relations_(std::move(relations)), call_(std::move(call)) {}
    coordinate::relation_rows<Element> relations_;
    position_call call_;
  };

  template <class T>
  [[nodiscard]] term<T> compile(const position_call& call, const heads& layout) const {
    require_fit(*this, call, layout);
    require_fits<T>(relations_.rows().values(), "shaw value");
    return {relations_, call};
  }

 private:
  coordinate::relation_rows<Element> relations_;
};

}  // namespace posgeo::value
