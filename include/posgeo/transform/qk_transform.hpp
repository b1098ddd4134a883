// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/call/position_call.hpp>
#include <posgeo/core/policy.hpp>

#include <span>

namespace posgeo {

/// Changes query rows and key rows in place, each by where it stands, before their dot product. A key row is shared by
/// the query heads of its group, so h is the first of them there.
template <class P, class T = float>
concept qk_transform = member_of<P, family::qk_transform> &&
    requires(const compiled_t<P, T>& term, batch_index b, head_index h, query_index i, key_index j, std::span<T> row) {
  requires noexcept(term.query(b, h, i, row));
  requires noexcept(term.key(b, h, j, row));
};

/// Block form of a compiled transform that turns pairs of a row's first rotary_dim() dimensions by its position alone:
/// turns(first, count, out) writes [count, rotary_dim()] for consecutive positions, the cosines of a position and then
/// its sines; turn(turns, row) applies one row of them.
template <class Term, class T>
concept turning_transform = requires(const Term& term, position first, index_t count, std::span<T> out,
                                     std::span<const T> turns) {
  { term.rotary_dim() } -> std::same_as<index_t>;
  requires noexcept(term.rotary_dim());
  requires noexcept(term.turns(first, count, out));
  requires noexcept(term.turn(turns, out));
};

/// Backward form of a compiled transform: turn_back makes of the gradient of a changed row that of the row as it was,
/// in place. The index says whose row it is.
template <class Term, class T>
concept transform_gradient = requires(const Term& term, batch_index b, head_index h, query_index i, key_index j,
                                      std::span<T> d_row) {
  requires noexcept(term.turn_back(b, h, i, d_row));
  requires noexcept(term.turn_back(b, h, j, d_row));
};

}  // namespace posgeo
