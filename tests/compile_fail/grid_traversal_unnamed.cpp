// SPDX-License-Identifier: MIT
#include <posgeo/coordinate/grid.hpp>

using namespace posgeo::coordinate;

#ifdef POSGEO_SHOULD_FAIL
const grid_settings settings{.rows = 3, .columns = 4};
#else
const grid_settings settings{.rows = 3, .columns = 4, .order = traversal::row_major};
#endif
