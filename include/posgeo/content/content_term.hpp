// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/call/position_call.hpp>
#include <posgeo/coordinate/class_side.hpp>
#include <posgeo/core/policy.hpp>
#include <posgeo/core/table_gradient.hpp>

#include <span>

namespace posgeo {

/// What a pair's content and positions together add to the raw score; it shares the scale. The rows are the transformed
/// query of head h and the transformed key of its key head. A policy with `dot_products()` has that many counted by
/// scale::inverse_sqrt_terms.
template <class P, class T = float>
concept content_term = member_of<P, family::content_term> &&
    requires(const compiled_t<P, T>& term, batch_index b, head_index h, query_index i, key_index j,
             std::span<const T> row) {
  { term(b, h, i, j, row, row) } -> std::same_as<T>;
  requires noexcept(term(b, h, i, j, row, row));
};

/// Block form of a compiled content term with a product of the query, shifted by the side, and a class row.
template <class Term, class T>
concept query_sided = requires(const Term& term) {
  requires coordinate::class_side<typename decltype(term.query_side())::value_type, T>;
  requires noexcept(term.query_side());
};
/// The same of the key.
template <class Term, class T>
concept key_sided = requires(const Term& term) {
  requires coordinate::class_side<typename decltype(term.key_side())::value_type, T>;
  requires noexcept(term.key_side());
};
/// Block form of a compiled content term that adds to the query of the content product.
template <class Term, class T>
concept adds_to_query = requires(const Term& term, head_index h, std::span<T> row) {
  requires noexcept(term.add_to_query(h, row));
};
/// Block form of a compiled content term that is the dot product of two rows of its own, appended_dim() wide. The key
/// rows are the same for all query heads if append_tables() is 1, else each query head has its own.
template <class Term, class T>
concept appended_product = requires(const Term& term, batch_index b, head_index h, query_index i, key_index j,
                                    std::span<T> out) {
  { term.appended_dim() } -> std::same_as<index_t>;
  { term.append_tables() } -> std::same_as<index_t>;
  requires noexcept(term.appended_dim())&& noexcept(term.append_tables());
  requires noexcept(term.append_query(b, h, i, out));
  requires noexcept(term.append_key(b, h, j, out));
};

/// Backward form of a compiled content term: add_gradient adds what d, the gradient of the raw score, gives the
/// transformed query row, the transformed key row and the learned numbers.
template <class Term, class T>
concept content_gradient = says_gradient<Term> &&
    requires(const Term& term, batch_index b, head_index h, query_index i, key_index j, std::span<const T> row, T d,
             std::span<T> d_row, gradient_of<Term>& gradient) {
  requires noexcept(term.add_gradient(b, h, i, j, row, row, d, d_row, d_row, gradient));
};
/// Block form of the backward form of a term that is query . row[class] and nothing else: add_class_gradient adds
/// d_row, the gradient of the row of a class.
template <class Term, class T>
concept class_content_gradient = query_sided<Term, T> && says_gradient<Term> &&
    requires(const Term& term, head_index h, index_t c, std::span<const T> d_row, gradient_of<Term>& gradient) {
  requires noexcept(term.add_class_gradient(h, c, d_row, gradient));
};

}  // namespace posgeo
