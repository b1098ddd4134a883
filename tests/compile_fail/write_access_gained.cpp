// SPDX-License-Identifier: MIT
#include <posgeo/core/tensor.hpp>

#ifdef POSGEO_SHOULD_FAIL
using wanted = posgeo::heads_view<float>;
#else
using wanted = posgeo::heads_view<const float>;
#endif

wanted view_again(posgeo::heads_view<const float> view) { return view; }
