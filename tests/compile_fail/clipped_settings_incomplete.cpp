// SPDX-License-Identifier: MIT
#include <posgeo/coordinate/clipped.hpp>

using namespace posgeo;
using coordinate::beyond_ends;
using coordinate::clipped_settings;

// A table trained under one sign is mirrored under the other, so that there is no default.
#ifdef POSGEO_SHOULD_FAIL
const clipped_settings no_sign{.behind = 4, .ahead = 4, .beyond = beyond_ends::clipped};
const clipped_settings no_beyond{.behind = 4, .ahead = 4, .sign = offset_sign::key_minus_query};
const clipped_settings no_ahead{.behind = 4, .sign = offset_sign::key_minus_query, .beyond = beyond_ends::clipped};
#else
const coordinate::clipped classes(
    {.behind = 4, .ahead = 4, .sign = offset_sign::key_minus_query, .beyond = beyond_ends::clipped});
#endif
