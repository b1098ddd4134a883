// SPDX-License-Identifier: MIT
#include <posgeo/audit/conformance.hpp>
#include <posgeo/audit/function.hpp>
#include <posgeo/visible/causal.hpp>

namespace pg = posgeo;

bool conforms(const pg::heads& layout) {
  const auto rotary = pg::audit::cases::rotary(layout, pg::transform::pairing::halves, pg::visible::causal{});
#ifdef POSGEO_SHOULD_FAIL
  const pg::audit::conformance_claims claims{.settings = {.seed = 3}};  // no_calls
#else
  const pg::audit::conformance_claims claims{.calls = pg::audit::call_claims::prefill, .settings = {.seed = 3}};
#endif
  return pg::audit::conformance(pg::audit::as_function(pg::eager{}), claims, rotary).conforms();
}
