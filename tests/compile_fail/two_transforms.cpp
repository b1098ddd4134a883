// SPDX-License-Identifier: MIT
#include <posgeo/frequency/geometric.hpp>
#include <posgeo/model/attention.hpp>
#include <posgeo/scale/none.hpp>
#include <posgeo/transform/rotary.hpp>
#include <posgeo/visible/everything.hpp>

const posgeo::transform::rotary turn{posgeo::frequency::geometric{{.base = 1e4, .rotary_dim = 8}},
                                     {.pairs = posgeo::transform::pairing::halves}};

#ifdef POSGEO_SHOULD_FAIL
const posgeo::attention model{posgeo::heads{.dim = 8}, posgeo::scale::none{}, posgeo::visible::everything{}, turn,
                              turn};
#else
const posgeo::attention model{posgeo::heads{.dim = 8}, posgeo::scale::none{}, posgeo::visible::everything{}, turn};
#endif
