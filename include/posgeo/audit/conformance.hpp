// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/audit/conformance_calls.hpp>
#include <posgeo/audit/conformance_cases.hpp>
#include <posgeo/audit/conformance_diagnosis.hpp>
#include <posgeo/core/required.hpp>

#include <algorithm>
#include <vector>

namespace posgeo::audit {

/// What a kernel claims to run beside the cases: the kinds of call.
struct conformance_claims {
  required<call_claims> calls;
  conformance_settings settings = {};
};

/// A kernel held against eager in every case and call that it claims.
struct conformance_report {
  std::vector<diagnosis> cases;
  [[nodiscard]] bool conforms() const noexcept {
    return std::all_of(cases.begin(), cases.end(), [](const diagnosis& one) { return one.conforms(); });
  }
};

/// Runs each case over each claimed call: conformance<float>(kernel, {.calls = call_claims::prefill},
/// cases::alibi(...), as_case("mine", my_attention)). A case whose attention takes none of the calls does not conform.
/// Shapes, Units, Throws: see diagnose.
template <class T = double, class Function, class... Attention>
[[nodiscard]] conformance_report conformance(const Function& function, const conformance_claims& claims,
                                             const conformance_case<Attention>&... of) {
  const std::vector<named_call> calls = calls_of(claims.calls);
  return {{diagnose<T>(of.name, function, of.model, calls, claims.settings)...}};
}

}  // namespace posgeo::audit
