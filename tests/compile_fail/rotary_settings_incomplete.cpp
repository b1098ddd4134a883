// SPDX-License-Identifier: MIT
#include <posgeo/transform/rotary.hpp>

using namespace posgeo::transform;

#ifdef POSGEO_SHOULD_FAIL
const rotary_settings settings{.offset = 2};
#else
const rotary_settings settings{.pairs = pairing::halves, .offset = 2};
#endif
