// SPDX-License-Identifier: MIT
#include <posgeo/encode/sinusoidal.hpp>

using namespace posgeo::encode;

#ifdef POSGEO_SHOULD_FAIL
const sinusoidal_settings settings{.width = 8, .exponent = sinusoid_exponent::paper};
#else
const sinusoidal_settings settings{
    .width = 8, .layout = sinusoid_layout::concatenated, .exponent = sinusoid_exponent::paper};
#endif
