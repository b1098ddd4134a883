// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/attend/attend.hpp>

namespace posgeo::audit {

/// An executor as a function under audit: function(plan, in, out), the signature that a kernel of your own has.
/// Throws: when called, what attend throws.
template <class Executor>
[[nodiscard]] auto as_function(const Executor& executor) {
  return [executor](const auto& plan, const auto& in, const auto& out) { attend(executor, plan, in, out); };
}

}  // namespace posgeo::audit
