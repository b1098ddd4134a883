// SPDX-License-Identifier: MIT
#include <posgeo/contract/cache_identity.hpp>

using namespace posgeo::contract;

#ifdef POSGEO_SHOULD_FAIL
const stated<adapter_digest> adapter = cache_salt("X");
#else
const stated<adapter_digest> adapter = adapter_digest("X");
#endif
