// SPDX-License-Identifier: MIT
#include <posgeo/coordinate/log_bucket.hpp>

using namespace posgeo::coordinate;

#ifdef POSGEO_SHOULD_FAIL
const log_bucket bucket{log_bucket_settings{.num_buckets = 256, .max_position = 512}};
#else
const log_bucket bucket{
    log_bucket_settings{.num_buckets = 256, .max_position = 512, .beyond = beyond_max_position::clamped}};
#endif
