// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/coordinate/class_side.hpp>
#include <posgeo/coordinate/deberta_span.hpp>
#include <posgeo/core/head_tables.hpp>

namespace posgeo::content {

/// The class_side of a table over DeBERTa's span. It reads the row of key - query as the span counts it, or, with
/// offset_sign::query_minus_key, that of the negated offset.
template <class T, class Element>
class span_side {
 public:
  span_side(const head_tables<Element>& rows, const coordinate::deberta_span& span, offset_sign sign) noexcept
      : rows_(&rows), span_(&span), sign_(sign) {}

  [[nodiscard]] index_t classes() const noexcept { return span_->rows(); }
  [[nodiscard]] index_t of(relative_offset key_minus_query) const noexcept {
    return (*span_)(relative_offset{signed_offset(key_minus_query, sign_)});
  }
  [[nodiscard]] coordinate::offset_bounds constant_beyond() const noexcept {
    const coordinate::offset_bounds ends = span_->constant_beyond();
    if (sign_ == offset_sign::key_minus_query) return ends;
    return {relative_offset{-ends.highest.value()}, relative_offset{-ends.lowest.value()}};
  }
  [[nodiscard]] std::span<const Element> table_row(head_index h, index_t c) const noexcept { return rows_->row(h, c); }
  void row(head_index h, index_t c, std::span<T> out) const noexcept { coordinate::write_row(table_row(h, c), out); }
  void shift(head_index, std::span<T>) const noexcept {}

 private:
  const head_tables<Element>* rows_;
  const coordinate::deberta_span* span_;
  offset_sign sign_;
};

}  // namespace posgeo::content
