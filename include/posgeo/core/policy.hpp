// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/core/heads.hpp>

#include <concepts>
#include <string_view>
#include <utility>

namespace posgeo {

class position_call;

/// The tags by which a policy says what it is. A type without a tag is no policy, whatever its members.
namespace family {
/// Adds to hidden states before the projections.
struct state_encoder {
  static constexpr std::string_view name = "state_encoder";
};
/// Changes queries and keys before their dot product.
struct qk_transform {
  static constexpr std::string_view name = "qk_transform";
};
/// Adds to the raw score, reads query or key; shares the scale.
struct content_term {
  static constexpr std::string_view name = "content_term";
};
/// Adds to the scaled score, reads positions only.
struct score_bias {
  static constexpr std::string_view name = "score_bias";
};
/// Adds to the weighted values.
struct value_term {
  static constexpr std::string_view name = "value_term";
};
/// Says which keys a query may see.
struct visibility {
  static constexpr std::string_view name = "visibility";
};
/// Multiplies the raw score.
struct score_scale {
  static constexpr std::string_view name = "score_scale";
};
/// Bounds the score.
struct softcap {
  static constexpr std::string_view name = "softcap";
};
/// Takes a share of the weights and has no value.
struct softmax_sink {
  static constexpr std::string_view name = "softmax_sink";
};
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
