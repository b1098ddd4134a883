// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/call/position_call.hpp>
#include <posgeo/core/policy.hpp>

namespace posgeo {

/// What a pair of positions adds to a head's scaled score. Reads no content and is never divided by the scale.
template <class P, class T = float>
concept score_bias = member_of<P, family::score_bias> &&
    requires(const compiled_t<P, T>& term, batch_index b, head_index h, query_index i, key_index j) {
  { term(b, h, i, j) } -> std::same_as<T>;
  requires noexcept(term(b, h, i, j));
};

/// A bias that says nothing about keys after the query; an attention that lets one be seen refuses to compile it.
template <class P>
concept looks_back_only = requires(const P& policy) {
  { policy.looks_back_only() } -> std::same_as<bool>;
};

}  // namespace posgeo
