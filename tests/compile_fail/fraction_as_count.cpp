// SPDX-License-Identifier: MIT
#include <posgeo/frequency/yarn.hpp>

using namespace posgeo::frequency;

geometric unscaled(const yarn_settings& settings) {
#ifdef POSGEO_SHOULD_FAIL
  return geometric({.base = settings.base, .rotary_dim = settings.factor});
#else
  return geometric({.base = settings.base, .rotary_dim = settings.rotary_dim});
#endif
}
