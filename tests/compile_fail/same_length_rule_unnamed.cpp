// SPDX-License-Identifier: MIT
#include <posgeo/visible/same_length.hpp>

using namespace posgeo::visible;

#ifdef POSGEO_SHOULD_FAIL
const window sees = same_length(4);
#else
const window sees = same_length(4, same_length_rule::pytorch_release);
#endif
