// SPDX-License-Identifier: MIT
#include <posgeo/call/annotated_rows.hpp>

using namespace posgeo;

#ifdef POSGEO_SHOULD_FAIL
const resampling half{.take = {}, .rows = 0, .numbers = row_numbers::kept};
#else
const resampling half{.take = {}, .rows = 0, .numbers = row_numbers::kept, .times = row_times::kept()};
#endif
