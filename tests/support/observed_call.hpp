// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/audit/conformance.hpp>

#include <functional>

namespace posgeo::test {

/// What the conformance kit sees of a function in double on one call.
template <class Function, class... Policies>
[[nodiscard]] audit::detail::observed_call observed(const Function& function, const attention<Policies...>& model,
                                                    const position_call& call) {
  return audit::detail::observe_call<double, Policies...>(std::cref(function), model, call, {});
}

}  // namespace posgeo::test
