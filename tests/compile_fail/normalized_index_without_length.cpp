// SPDX-License-Identifier: MIT
#include <posgeo/encode/normalized_index.hpp>

using namespace posgeo::encode;

#ifdef POSGEO_SHOULD_FAIL
const normalized_index_settings settings{.width = 8};
#else
const normalized_index_settings settings{.width = 8, .length = 512};
#endif
