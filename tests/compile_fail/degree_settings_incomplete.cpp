// SPDX-License-Identifier: MIT
#include <posgeo/encode/degree.hpp>

using namespace posgeo::encode;

#ifdef POSGEO_SHOULD_FAIL
const degree_settings settings{.row_offset = 1};
#else
const degree_settings settings{.row_offset = 1, .count = degree_count::by_direction};
#endif
