// SPDX-License-Identifier: MIT
#include <posgeo/model/attention.hpp>
#include <posgeo/scale/none.hpp>
#include <posgeo/visible/everything.hpp>

// A scale that does not say whether it reads anything of a call.
struct doubled {
  using family = posgeo::family::score_scale;
#ifndef POSGEO_SHOULD_FAIL
  static constexpr posgeo::reads positional_reads() noexcept { return posgeo::reads::nothing; }
#endif
  double factor(const posgeo::heads&, posgeo::index_t) const noexcept { return 2.0; }
};

const posgeo::attention model{posgeo::heads{}, posgeo::visible::everything{}, doubled{}};
const posgeo::reads all = model.positional_reads();
