// SPDX-License-Identifier: MIT
#include <posgeo/model/attention.hpp>
#include <posgeo/scale/none.hpp>
#include <posgeo/visible/everything.hpp>

#ifdef POSGEO_SHOULD_FAIL
const posgeo::attention model{posgeo::heads{}, posgeo::scale::none{}};
#else
const posgeo::attention model{posgeo::heads{}, posgeo::scale::none{}, posgeo::visible::everything{}};
#endif
