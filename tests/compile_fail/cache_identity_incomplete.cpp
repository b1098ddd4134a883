// SPDX-License-Identifier: MIT
#include <posgeo/contract/cache_identity.hpp>

using namespace posgeo;
using namespace posgeo::contract;

const cache_identity identity{.model = model_digest("m"),
                              .adapter = none,
#ifndef POSGEO_SHOULD_FAIL
                              .salt = none,
#endif
                              .tokens = token_ids({1, 2}),
                              .start = none,
                              .mechanism = {"alibi", {}},
                              .mask = mask_kind("causal"),
                              .format = precision::binary32};
