// SPDX-License-Identifier: MIT
#include <posgeo/contract/rotary_rows.hpp>

using namespace posgeo;

#ifdef POSGEO_SHOULD_FAIL
const contract::rotary_conversion conversion{.from = transform::pairing::adjacent, .rotary_dim = 8};
#else
const contract::rotary_conversion conversion{
    .from = transform::pairing::adjacent, .to = transform::pairing::halves, .rotary_dim = 8};
#endif
