// SPDX-License-Identifier: MIT
#include <posgeo/contract/cache_identity.hpp>

using namespace posgeo;

#ifdef POSGEO_SHOULD_FAIL
const stated<adapter_id> adapter = cache_salt("X");
#else
const stated<adapter_id> adapter = adapter_id("X");
#endif
