// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/call/row_identity.hpp>
#include <posgeo/core/reads.hpp>
#include <posgeo/encode/state_encoder.hpp>

namespace posgeo::encode {

/// Calls visit(b, row, value) for each row of a column that is no padding.
template <class Value, class Visit>
void for_each_value(const row_column<Value>& column, const Visit& visit) {
  for (index_t b = 0; b < column.rows().entries(); ++b) {
    for (index_t row = 0; row < column.rows().rows(); ++row) {
      if (column.rows().name(b, row).active) visit(b, row, column.at(b, row));
    }
  }
}

/// A state encoder whose coordinate is no position but a value that each row brings along: a cell, a time. Padding
/// receives nothing. Encoder says `width()`, `check<T>(column, found)` and, noexcept, `add(value, row)`; with
/// `describe()` also `describe_column(column)`, and for gradients `gradient<T>()` and, noexcept,
/// `add_gradient(value, d_row, gradient)`. Shapes: column [entries, rows], states [entries, rows, width]. Throws:
/// errc::row_identity when compiled for rows that are not the column's, in its order; what the encoder refuses.
template <class Encoder, class Value>
class of_rows {
 public:
  using family = posgeo::family::state_encoder;

  of_rows(Encoder encoder, row_column<Value> column) : encoder_(std::move(encoder)), column_(std::move(column)) {}

  [[nodiscard]] const row_column<Value>& column() const noexcept { return column_; }
  [[nodiscard]] index_t width() const noexcept { return encoder_.width(); }
  /// Values are bound to the rows of one call, in its order.
  [[nodiscard]] static constexpr reads positional_reads() noexcept { return reads::row | reads::name; }
  /// What the encoder is, and "column", the value of each row.
  [[nodiscard]] description describe() const requires described_policy<Encoder> {
    return encoder_.describe().with("column", encoder_.describe_column(column_));
  }

  template <class T>
  class term {
   public:
    [[nodiscard]] index_t width() const noexcept { return policy_.width(); }
    void add_to(batch_index b, query_index i, std::span<T> row) const noexcept {
      if (!policy_.column_.rows().name(b.value(), i.value()).active) return;
      policy_.encoder_.add(policy_.column_.at(b.value(), i.value()), row);
    }
    [[nodiscard]] auto gradient() const requires(requires(const Encoder& e) { e.template gradient<T>(); }) {
      return policy_.encoder_.template gradient<T>();
    }
    template <class Gradient>
    void add_gradient(batch_index b, query_index i, std::span<const T> d_row, Gradient& to) const noexcept
        requires(requires(const Encoder& e, const Value& value) { e.add_gradient(value, d_row, to); }) {
      if (!policy_.column_.rows().name(b.value(), i.value()).active) return;
      policy_.encoder_.add_gradient(policy_.column_.at(b.value(), i.value()), d_row, to);
    }

   private:
    friend class of_rows;
    explicit term(of_rows policy) : policy_(std::move(policy)) {}
    of_rows policy_;
  };

  /// Lists what keeps the encoder from the call, computed in T.
  template <class T>
  void check(const position_call& call, violations& found) const {
    column_.expect_of(call.query_space(), "encoded rows", found);
    encoder_.template check<T>(column_, found);
  }
  template <class T>
  [[nodiscard]] term<T> compile(const position_call& call) const {
    violations found;
    check<T>(call, found);
    found.throw_if_any();
    return term<T>(*this);
  }

 private:
  Encoder encoder_;
  row_column<Value> column_;
};

}  // namespace posgeo::encode
