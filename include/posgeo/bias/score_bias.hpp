// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/call/position_call.hpp>
#include <posgeo/coordinate/offset_bounds.hpp>
#include <posgeo/core/policy.hpp>
#include <posgeo/core/table_gradient.hpp>

#include <concepts>
#include <optional>

namespace posgeo {

/// What a pair of positions adds to a head's scaled score. Reads no content and is never divided by the scale.
template <class P, class T = float>
concept score_bias = member_of<P, family::score_bias> &&
    requires(const compiled_t<P, T>& term, batch_index b, head_index h, query_index i, key_index j) {
  { term(b, h, i, j) } -> std::same_as<T>;
  requires noexcept(term(b, h, i, j));
};

/// Block form of a compiled bias that is a function of head and key - query alone, but for one position: the pairs of a
/// query that stands at *cls() have at_cls_query(h), else those of a key that stands there at_cls_key(h), all others
/// at_offset(h, o): the scalar form's number to the bit.
template <class Term, class T>
concept cls_offset_bias = requires(const Term& term, head_index h, relative_offset offset) {
  { term.at_offset(h, offset) } -> std::same_as<T>;
  { term.at_cls_query(h) } -> std::same_as<T>;
  { term.at_cls_key(h) } -> std::same_as<T>;
  { term.cls() } -> std::same_as<std::optional<position>>;
  requires noexcept(term.at_offset(h, offset))&& noexcept(term.at_cls_query(h))&& noexcept(term.at_cls_key(h));
};
/// The same without such a position.
template <class Term, class T>
concept offset_bias = !cls_offset_bias<Term, T> && requires(const Term& term, head_index h, relative_offset offset) {
  { term.at_offset(h, offset) } -> std::same_as<T>;
  requires noexcept(term.at_offset(h, offset));
};
/// One of the two with two ends: below the lowest offset at_offset is what it is there, above the highest likewise.
template <class Term, class T>
concept ended_offset_bias = (offset_bias<Term, T> || cls_offset_bias<Term, T>)&&requires(const Term& term) {
  { term.constant_beyond() } -> std::same_as<coordinate::offset_bounds>;
  requires noexcept(term.constant_beyond());
};
/// Block form of a compiled bias that is a function of head and key position alone: at_key(h, p), to the bit.
template <class Term, class T>
concept key_bias = requires(const Term& term, head_index h, position key) {
  { term.at_key(h, key) } -> std::same_as<T>;
  requires noexcept(term.at_key(h, key));
};

/// A row of numbers in the caller's memory: key j's is first[j * step].
template <class Element>
struct bias_line {
  const Element* first;
  index_t step;  ///< 1, or 0 where one number is for every key
};
/// Block form of a compiled bias that reads its numbers from memory: line(b, h, i), whose elements the scalar form
/// converts.
template <class Term>
concept line_bias = requires(const Term& term, batch_index b, head_index h, query_index i) {
  {term.line(b, h, i).first[0]};
  { term.line(b, h, i).step } -> std::convertible_to<index_t>;
  requires noexcept(term.line(b, h, i));
};

/// Backward form of a compiled bias: add_gradient adds to its gradient what d_score gives its learned numbers, where
/// d_score is the gradient of the score that the bias was added to. One without learned numbers has a gradient() that
/// is nothing_learned, and no more.
template <class Term, class T>
concept bias_gradient = says_gradient<Term> &&
    (std::same_as<gradient_of<Term>, nothing_learned> ||
     requires(const Term& term, batch_index b, head_index h, query_index i, key_index j, T d_score,
              gradient_of<Term>& gradient) { requires noexcept(term.add_gradient(b, h, i, j, d_score, gradient)); });
/// Block form of the backward form of a bias by offset: add_gradient_at adds what d_score, a sum over pairs of one
/// head and offset, gives its learned numbers.
template <class Term, class T>
concept offset_bias_gradient = offset_bias<Term, T> && says_gradient<Term> &&
    requires(const Term& term, head_index h, relative_offset offset, T d_score, gradient_of<Term>& gradient) {
  requires noexcept(term.add_gradient_at(h, offset, d_score, gradient));
};

/// A bias that says nothing about keys after the query; an attention that lets one be seen refuses to compile it.
template <class P>
concept looks_back_only = requires(const P& policy) {
  { policy.looks_back_only() } -> std::same_as<bool>;
};

}  // namespace posgeo
