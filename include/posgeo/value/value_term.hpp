// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/call/position_call.hpp>
#include <posgeo/coordinate/class_side.hpp>
#include <posgeo/core/policy.hpp>
#include <posgeo/core/table_gradient.hpp>

#include <span>

namespace posgeo {

/// What a pair adds to the output row when its weight is `weight`: something no score bias can express. A term with a
/// `width()` is held against the value dimension.
template <class P, class T = float>
concept value_term = member_of<P, family::value_term> &&
    requires(const compiled_t<P, T>& term, batch_index b, head_index h, query_index i, key_index j, T weight,
             std::span<T> out_row) {
  requires noexcept(term.accumulate(b, h, i, j, weight, out_row));
};

/// Block form of a compiled value term that adds weight * row(h, of(key - query)); rows are as wide as the values.
template <class Term, class T>
concept class_values = requires(const Term& term) {
  requires coordinate::class_side<typename decltype(term.classes_of_value())::value_type, T>;
  requires noexcept(term.classes_of_value());
};

/// Backward form of a compiled value term: add_gradient adds what d_out_row, the gradient of the output row, gives the
/// learned numbers at this weight, and returns what it gives the weight.
template <class Term, class T>
concept value_gradient = says_gradient<Term> &&
    requires(const Term& term, batch_index b, head_index h, query_index i, key_index j, T weight,
             std::span<const T> d_out_row, gradient_of<Term>& gradient) {
  { term.add_gradient(b, h, i, j, weight, d_out_row, gradient) } -> std::same_as<T>;
  requires noexcept(term.add_gradient(b, h, i, j, weight, d_out_row, gradient));
};
/// Block form of the backward form of a term with class values: add_class_gradient adds d_row, the gradient of the row
/// of a class.
template <class Term, class T>
concept class_value_gradient = class_values<Term, T> && says_gradient<Term> &&
    requires(const Term& term, head_index h, index_t c, std::span<const T> d_row, gradient_of<Term>& gradient) {
  requires noexcept(term.add_class_gradient(h, c, d_row, gradient));
};

}  // namespace posgeo
