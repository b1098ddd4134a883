// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/core/policy.hpp>

namespace posgeo {

/// What multiplies the raw score, content terms included and biases excluded. dot_products counts query . key and what
/// the content terms say they add to it.
template <class P>
concept score_scale = member_of<P, family::score_scale> &&
    requires(const P& policy, const heads& layout, index_t dot_products) {
  { policy.factor(layout, dot_products) } -> std::same_as<double>;
  requires noexcept(policy.factor(layout, dot_products));
};

}  // namespace posgeo
