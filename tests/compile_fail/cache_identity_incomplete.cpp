// SPDX-License-Identifier: MIT
#include <posgeo/contract/cache_identity.hpp>

using namespace posgeo;
using namespace posgeo::contract;

const cache_identity identity{.request = request_id("r"),
                              .sequence = 0,
                              .checkpoint = checkpoint_id("m"),
                              .adapter = none,
                              .release = release_id("1"),
#ifndef POSGEO_SHOULD_FAIL
                              .salt = none,
#endif
                              .tokens = token_ids({1, 2}),
                              .committed_length = 2,
                              .frame = coordinate_frame("sequence"),
                              .start = none,
                              .sign = none,
                              .method = {description("alibi")},
                              .mask = mask_id("causal"),
                              .format = precision::binary32,
                              .backend = backend_id("cpu"),
                              .revision = implementation_revision("1"),
                              .baked = none};
