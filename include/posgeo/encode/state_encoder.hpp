// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/call/position_call.hpp>
#include <posgeo/core/description.hpp>
#include <posgeo/core/policy.hpp>
#include <posgeo/core/table_gradient.hpp>
#include <posgeo/core/tensor.hpp>

#include <optional>
#include <span>

namespace posgeo {

/// What compile<T>(call) of a state encoder gives.
template <class P, class T>
using compiled_encoder_t = decltype(std::declval<const P&>().template compile<T>(std::declval<const position_call&>()));

/// Adds a coordinate to the hidden state of each row of the call's query space, before any projection.
template <class P, class T = float>
concept state_encoder = member_of<P, family::state_encoder> &&
    requires(const compiled_encoder_t<P, T>& term, batch_index b, query_index i, std::span<T> row) {
  { term.width() } -> std::same_as<index_t>;
  requires noexcept(term.width());
  requires noexcept(term.add_to(b, i, row));
};

/// Backward form of a compiled encoder: add_gradient adds to its gradient what d_row, the gradient of a row's states,
/// gives its learned numbers; the states themselves keep theirs. One without learned numbers has a gradient() that is
/// nothing_learned, and no more.
template <class Term, class T>
concept encoder_gradient = says_gradient<Term> &&
    (std::same_as<gradient_of<Term>, nothing_learned> ||
     requires(const Term& term, batch_index b, query_index i, std::span<const T> d_row, gradient_of<Term>& gradient) {
       requires noexcept(term.add_gradient(b, i, d_row, gradient));
     });

namespace encode {

/// What a padded row receives.
class padded_rows {
 public:
  enum class rule { by_position, untouched, table_row };

  /// What its position says, as if it were a token.
  static padded_rows by_position() { return {rule::by_position, 0}; }
  /// Nothing is added.
  static padded_rows untouched() { return {rule::untouched, 0}; }
  /// One row of the table, whatever the position.
  static padded_rows table_row(index_t row) { return {rule::table_row, row}; }

  [[nodiscard]] rule how() const noexcept { return rule_; }
  [[nodiscard]] index_t row() const noexcept { return row_; }
  [[nodiscard]] description describe() const {
    const std::string_view name = rule_ == rule::by_position ? "by_position"
                                  : rule_ == rule::untouched ? "untouched"
                                                             : "table_row";
    return description("padded_rows")
        .with("rule", name)
        .with("row", rule_ == rule::table_row ? std::optional(row_) : std::nullopt);
  }

 private:
  padded_rows(rule how, index_t row) : rule_(how), row_(row) {}
  rule rule_;
  index_t row_;
};

/// Adds the encoder's coordinates to the states of the call's query space, once.
/// Shapes: states [batch, queries, width].
/// Throws: errc::shape_mismatch if the states are not those of the call or not as wide as the encoder;
///         errc::memory_overlap if two rows share memory; what compile throws. Nothing is written then.
template <class T, state_encoder<T> Encoder>
void add_positions(const Encoder& encoder, const position_call& call, states_view<T> states) {
  const auto term = encoder.template compile<T>(call);
  violations found;
  found.expect(states.extent(0) == call.batch(), errc::shape_mismatch, "states", "batch", call.batch(),
               states.extent(0));
  found.expect(states.extent(1) == call.queries(), errc::shape_mismatch, "states", "rows", call.queries(),
               states.extent(1));
  found.expect(states.extent(2) == term.width(), errc::shape_mismatch, "states", "width", term.width(),
               states.extent(2));
  found.expect(states.rows_apart(), errc::memory_overlap, "states", "rows", "apart from one another", "shared");
  found.throw_if_any();
  for (const batch_index b : indices<batch_index>(call.batch())) {
    for (const query_index i : indices<query_index>(call.queries())) {
      term.add_to(b, i, states.row(b.value(), i.value()));
    }
  }
}

/// A zero gradient of the encoder's learned numbers, computed in T.
template <class T, state_encoder<T> Encoder>
requires encoder_gradient<compiled_encoder_t<Encoder, T>, T>
[[nodiscard]] auto gradient_for(const Encoder& encoder, const position_call& call) {
  return encoder.template compile<T>(call).gradient();
}

/// Adds to the encoder's gradient what the gradients of the states of the call's query space give its learned numbers.
/// The gradients of the states pass the encoder as they are.
/// Shapes: d_states [batch, queries, width].
/// Throws: errc::shape_mismatch if d_states are not those of the call or not as wide as the encoder, or if the gradient
///         is of other tables; what compile throws. Nothing is added then.
template <class T, state_encoder<T> Encoder>
requires encoder_gradient<compiled_encoder_t<Encoder, T>, T>
void add_positions_backward(const Encoder& encoder, const position_call& call,
                            const std::type_identity_t<states_view<const T>>& d_states,
                            gradient_of<compiled_encoder_t<Encoder, T>>& gradient) {
  const auto term = encoder.template compile<T>(call);
  violations found;
  const index_t expected[] = {call.batch(), call.queries(), term.width()};
  const char* const axis[] = {"batch", "rows", "width"};
  for (std::size_t a = 0; a < 3; ++a) {
    found.expect(d_states.extent(a) == expected[a], errc::shape_mismatch, "gradients of the states", axis[a],
                 expected[a], d_states.extent(a));
  }
  found.expect(gradient.same_shape(term.gradient()), errc::shape_mismatch, "gradient of the encoder", "tables",
               "those of the encoder", "others");
  found.throw_if_any();
  if constexpr (!std::same_as<gradient_of<compiled_encoder_t<Encoder, T>>, nothing_learned>) {
    for (const batch_index b : indices<batch_index>(call.batch())) {
      for (const query_index i : indices<query_index>(call.queries())) {
        term.add_gradient(b, i, d_states.row(b.value(), i.value()), gradient);
      }
    }
  }
}

}  // namespace encode
}  // namespace posgeo
