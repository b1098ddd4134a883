// SPDX-License-Identifier: MIT
#include <posgeo/coordinate/clipped.hpp>

using namespace posgeo;
using coordinate::clipped_settings;

// A table trained under one sign is mirrored under the other, so that there is no default.
#ifdef POSGEO_SHOULD_FAIL
const clipped_settings settings{.behind = 4, .ahead = 4, .beyond = coordinate::beyond_ends::clipped};
#else
const clipped_settings settings{
    .behind = 4, .ahead = 4, .sign = offset_sign::key_minus_query, .beyond = coordinate::beyond_ends::clipped};
#endif
const coordinate::clipped classes(settings);
