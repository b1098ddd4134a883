// SPDX-License-Identifier: MIT
#include <posgeo/content/projected_sinusoids.hpp>

using namespace posgeo::content;

#ifdef POSGEO_SHOULD_FAIL
const projected_sinusoids_settings settings{.reach = distance_reach::back_only};
#else
const projected_sinusoids_settings settings{.reach = distance_reach::back_only, .clamp = clamp_len::unlimited()};
#endif
