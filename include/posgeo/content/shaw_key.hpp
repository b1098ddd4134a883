// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/content/content_term.hpp>
#include <posgeo/coordinate/relation_rows.hpp>
#include <posgeo/core/head_parts.hpp>
#include <posgeo/core/narrow.hpp>
#include <posgeo/core/positional_range.hpp>
#include <posgeo/core/reads.hpp>
#include <posgeo/core/row_product.hpp>
#include <posgeo/core/table_gradient.hpp>

#include <optional>

namespace posgeo::content {

/// Adds query . R[class(key - query)] to the raw score, so that the scale divides it too.
/// Shapes: R [1 or query heads, classes, head_dim]; one score for each (batch, head, query, key).
/// Units:  offsets in tokens.
/// Throws: errc::table_rows, when built, without one row for each class; errc::head_count and errc::shape_mismatch for
///         tables of other heads, errc::frame_mismatch across frames, errc::offset_out_of_table for an offset that the
///         classes refuse, when compiled.
/// Source: Shaw, Uszkoreit and Vaswani 2018, equation 4 and section 3.3.
template <class Element>
class shaw_key {
 public:
  using family = posgeo::family::content_term;

  shaw_key(head_tables<Element> rows, coordinate::clipped classes) : relations_(std::move(rows), classes, "shaw key") {}

  [[nodiscard]] const head_tables<Element>& rows() const noexcept { return relations_.rows(); }
  [[nodiscard]] const coordinate::clipped& classes() const noexcept { return relations_.classes(); }
  /// Whether no row is for a key after the query.
  [[nodiscard]] bool looks_back_only() const noexcept { return relations_.classes().looks_back_only(); }

  [[nodiscard]] reads positional_reads() const noexcept { return classes().positional_reads(); }
  [[nodiscard]] positional_range range() const noexcept { return classes().range(); }

  [[nodiscard]] description describe() const { return relations_.describe_as("shaw_key"); }

  [[nodiscard]] shaw_key part(const head_slice& slice) const {
    return {tables_of(rows(), slice, "shaw key"), classes()};
  }

  void check(const position_call& call, const heads& layout, violations& found) const {
    relations_.check(call, layout.query, layout.dim, "shaw key", found);
  }

  template <class T>
  class term {
   public:
    [[nodiscard]] T operator()(batch_index b, head_index h, query_index i, key_index j, std::span<const T> query,
                               std::span<const T>) const noexcept {
      return row_product(query, row(b, h, i, j));
    }
    /// R[class] of a pair.
    [[nodiscard]] std::span<const Element> row(batch_index b, head_index h, query_index i, key_index j) const noexcept {
      return relations_.row(call_, b, h, i, j);
    }
    [[nodiscard]] std::optional<coordinate::relation_side<T, Element>> query_side() const noexcept {
      return coordinate::relation_side<T, Element>(relations_);
    }
    [[nodiscard]] table_gradients<T, 1> gradient() const {
      return table_gradients<T, 1>(table_gradient<T>("table", relations_.rows()));
    }
    void add_gradient(batch_index b, head_index h, query_index i, key_index j, std::span<const T> query,
                      std::span<const T>, T d, std::span<T> d_query, std::span<T>,
                      table_gradients<T, 1>& to) const noexcept {
      add_scaled(d, row(b, h, i, j), d_query);
      to[0].add_row(relations_.rows(), h, relations_.classes()(call_.offset(b, i, j)), query, d);
    }
    void add_class_gradient(head_index h, index_t c, std::span<const T> d_row,
                            table_gradients<T, 1>& to) const noexcept {
      to[0].add_row(relations_.rows(), h, c, d_row, T{1});
    }

   private:
    friend class shaw_key;
    term(coordinate::relation_rows<Element> relations, position_call call)
        : relations_(std::move(relations)), call_(std::move(call)) {}
    coordinate::relation_rows<Element> relations_;
    position_call call_;
  };

  template <class T>
  [[nodiscard]] term<T> compile(const position_call& call, const heads& layout) const {
    require_fit(*this, call, layout);
    require_fits<T>(relations_.rows().values(), "shaw key");
    return {relations_, call};
  }

 private:
  coordinate::relation_rows<Element> relations_;
};

}  // namespace posgeo::content
