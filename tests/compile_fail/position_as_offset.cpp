// SPDX-License-Identifier: MIT
#include <posgeo/coordinate/t5_bucket.hpp>

#ifdef POSGEO_SHOULD_FAIL
using argument = posgeo::position;
#else
using argument = posgeo::relative_offset;
#endif

posgeo::index_t bucket_of(const posgeo::coordinate::t5_bucket& bucket) { return bucket(argument{-3}); }
