// SPDX-License-Identifier: MIT
#include <posgeo/model/attention.hpp>
#include <posgeo/scale/none.hpp>
#include <posgeo/visible/everything.hpp>

// Has every member of a score scale.
struct doubled {
#ifndef POSGEO_SHOULD_FAIL
  using family = posgeo::family::score_scale;
#endif
  double factor(const posgeo::heads&, posgeo::index_t) const noexcept { return 2.0; }
};

const posgeo::attention model{posgeo::heads{}, posgeo::visible::everything{}, doubled{}};
