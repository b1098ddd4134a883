// SPDX-License-Identifier: MIT
#include <posgeo/audit/coverage.hpp>
#include <posgeo/encode/raw_index.hpp>
#include <posgeo/model/attention.hpp>
#include <posgeo/scale/none.hpp>
#include <posgeo/visible/causal.hpp>

namespace pg = posgeo;

void observe(pg::audit::coverage& taught, const pg::position_call& call) {
  const pg::attention method(pg::heads{}, pg::scale::none{}, pg::visible::causal{});
#ifdef POSGEO_SHOULD_FAIL
  taught.observe(method.compile<float>(call), pg::visible::causal{});  // visibility_is_no_encoder
  static_cast<void>(taught.support());                                 // no_enough
#else
  taught.observe(method.compile<float>(call));
  static_cast<void>(taught.support(10));
#endif
}
