// SPDX-License-Identifier: MIT
#include <posgeo/call/segment_memory.hpp>

using namespace posgeo::call;

#ifdef POSGEO_SHOULD_FAIL
const segment_memory_settings settings{.layer = 0, .capacity = 4, .first_position = 0};
#else
const segment_memory_settings settings{
    .layer = 0, .capacity = 4, .first_position = 0, .gradient = memory_gradient::detached};
#endif
