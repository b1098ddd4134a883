// SPDX-License-Identifier: MIT
#include <posgeo/coordinate/elapsed_time.hpp>

using namespace posgeo::coordinate;

const clock_name utc("unix utc");

#ifdef POSGEO_SHOULD_FAIL
const elapsed_time_settings no_unit{.clock = utc, .stamp_unit = time_unit::seconds, .origin = 0};
const elapsed_time_settings no_origin{.clock = utc, .stamp_unit = time_unit::seconds, .unit = time_unit::hours};
const elapsed_time_settings no_stamp_unit{.clock = utc, .origin = 0, .unit = time_unit::hours};
#else
const elapsed_time_settings settings{
    .clock = utc, .stamp_unit = time_unit::seconds, .origin = 0, .unit = time_unit::hours};
#endif
