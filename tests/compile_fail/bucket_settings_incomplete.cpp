// SPDX-License-Identifier: MIT
#include <posgeo/coordinate/t5_bucket.hpp>

using namespace posgeo::coordinate;

#ifdef POSGEO_SHOULD_FAIL
const t5_bucket bucket{t5_bucket_settings{.num_buckets = 32, .max_distance = 128}};
#else
const t5_bucket bucket{
    t5_bucket_settings{.num_buckets = 32, .max_distance = 128, .direction = bucket_direction::causal}};
#endif
