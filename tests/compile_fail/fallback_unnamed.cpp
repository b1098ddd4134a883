// SPDX-License-Identifier: MIT
#include <posgeo/contract/admission.hpp>
#include <posgeo/scale/none.hpp>
#include <posgeo/visible/everything.hpp>

using namespace posgeo;

contract::admission chosen(const position_call& call, const contract::admission_request& request) {
  const attention model{heads{}, scale::none{}, visible::everything{}};
  const auto plan = model.compile<float>(call);
#ifdef POSGEO_SHOULD_FAIL
  return contract::admit(plan, request, eager{});
#else
  return contract::admit(plan, request, contract::reference_fallback::refused, eager{});
#endif
}
