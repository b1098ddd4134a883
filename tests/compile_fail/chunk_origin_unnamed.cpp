// SPDX-License-Identifier: MIT
#include <posgeo/call/chunk_positions.hpp>

using namespace posgeo::call;

#ifdef POSGEO_SHOULD_FAIL
const chunk_positions_spec spec{.length = 30, .chunk_rows = 8};
#else
const chunk_positions_spec spec{.length = 30, .chunk_rows = 8, .origin_of_chunks = chunk_origin::global};
#endif
