// SPDX-License-Identifier: MIT
#include <posgeo/scale/softcap.hpp>

using namespace posgeo::scale;

#ifdef POSGEO_SHOULD_FAIL
const softcap cap{softcap_settings{.cap = 50.0}};
#else
const softcap cap{softcap_settings{.cap = 50.0, .place = softcap_place::before_bias}};
#endif
