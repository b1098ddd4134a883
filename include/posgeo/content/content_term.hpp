// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/call/position_call.hpp>
#include <posgeo/core/policy.hpp>

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

}  // namespace posgeo
