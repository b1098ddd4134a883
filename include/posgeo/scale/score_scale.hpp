// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/core/policy.hpp>

namespace posgeo {

/// What multiplies the raw score, content terms included and biases excluded.
template <class P>
concept score_scale = member_of<P, family::score_scale> && requires(const P& policy, const heads& layout) {
  { policy.factor(layout) } -> std::same_as<double>;
  requires noexcept(policy.factor(layout));
};

}  // namespace posgeo
