// SPDX-License-Identifier: MIT
#include <posgeo/bias/edge_path.hpp>

using namespace posgeo;

#ifdef POSGEO_SHOULD_FAIL
const bias::edge_path_settings settings{.rows = {.first = 3, .stride = 512}, .hops = 5};
#else
const bias::edge_path_settings settings{
    .rows = {.first = 3, .stride = 512}, .hops = 5, .longer = bias::longer_paths::cut};
#endif
