// SPDX-License-Identifier: MIT
#include <posgeo/frequency/yarn.hpp>

using namespace posgeo::frequency;

#ifdef POSGEO_SHOULD_FAIL
const yarn_settings settings{.base = 10000.0, .rotary_dim = 64, .factor = 4.0, .original_max_position = 4096};
#else
const yarn_settings settings{
    .base = 10000.0, .rotary_dim = 64, .factor = 4.0, .original_max_position = 4096, .ramp = yarn_ramp::pair_index};
#endif
