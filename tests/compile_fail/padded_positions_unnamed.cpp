// SPDX-License-Identifier: MIT
#include <posgeo/call/padded_batch.hpp>

using namespace posgeo::call;

const posgeo::index_t length = 3;

#ifdef POSGEO_SHOULD_FAIL
const padded_batch_spec spec{.lengths = {&length, 1}, .rows = 5, .side = padding_side::left};
#else
const padded_batch_spec spec{
    .lengths = {&length, 1}, .rows = 5, .side = padding_side::left, .positions = padded_positions::contiguous()};
#endif
