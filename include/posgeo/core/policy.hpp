// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/core/heads.hpp>

#include <concepts>
#include <utility>

namespace posgeo {

class position_call;

/// The tags by which a policy says what it is. A type without a tag is no policy, whatever its members.
namespace family {
struct state_encoder {};  ///< adds to hidden states before the projections
struct qk_transform {};   ///< changes queries and keys before their dot product
struct content_term {};   ///< adds to the raw score, reads query or key; shares the scale
struct score_bias {};     ///< adds to the scaled score, reads positions only
struct value_term {};     ///< adds to the weighted values
struct visibility {};     ///< says which keys a query may see
struct score_scale {};    ///< multiplies the raw score
struct softcap {};        ///< bounds the score
struct softmax_sink {};   ///< takes a share of the weights and has no value
}  // namespace family

/// A small copyable value that opts into one family. It knows no lengths.
template <class P, class Family>
concept member_of = std::copy_constructible<P> && std::same_as<typename P::family, Family>;

/// What policy.compile<T>(call, heads) gives: a term that is bound to the call and computes in T.
template <class P, class T>
using compiled_t = decltype(std::declval<const P&>().template compile<T>(std::declval<const position_call&>(),
                                                                         std::declval<const heads&>()));

/// Runs the policy's own check, if it has one: check(call, heads, found).
template <class P>
void check_policy(const P& policy, const position_call& call, const heads& layout, violations& found) {
  if constexpr (requires { policy.check(call, layout, found); }) policy.check(call, layout, found);
}

/// Throws what the policy's own check finds. The first line of every compile.
template <class P>
void require_fit(const P& policy, const position_call& call, const heads& layout) {
  violations found;
  check_policy(policy, call, layout, found);
  found.throw_if_any();
}

}  // namespace posgeo
