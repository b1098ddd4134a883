// SPDX-License-Identifier: MIT
#include <posgeo/core/stated.hpp>
#include <posgeo/manifest/request.hpp>

using namespace posgeo;

const manifest::request_record request{.request_id = request_id("17"),
                                       .release_id = release_id("2.1"),
#ifndef POSGEO_SHOULD_FAIL
                                       .checkpoint_id = checkpoint_id("9f31"),
#endif
                                       .adapter_id = none};
