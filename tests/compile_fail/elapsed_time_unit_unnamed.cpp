// SPDX-License-Identifier: MIT
#include <posgeo/coordinate/elapsed_time.hpp>

using namespace posgeo::coordinate;

#ifdef POSGEO_SHOULD_FAIL
const elapsed_time_settings settings{.clock = clock_name("unix utc"), .stamp_unit = time_unit::seconds, .origin = 0};
#else
const elapsed_time_settings settings{
    .clock = clock_name("unix utc"), .stamp_unit = time_unit::seconds, .origin = 0, .unit = time_unit::hours};
#endif
