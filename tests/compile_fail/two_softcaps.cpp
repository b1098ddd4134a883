// SPDX-License-Identifier: MIT
#include <posgeo/model/attention.hpp>
#include <posgeo/scale/none.hpp>
#include <posgeo/scale/softcap.hpp>
#include <posgeo/visible/everything.hpp>

const posgeo::scale::softcap cap{{.cap = 50.0, .place = posgeo::scale::softcap_place::before_bias}};

#ifdef POSGEO_SHOULD_FAIL
const posgeo::attention model{posgeo::heads{}, posgeo::scale::none{}, posgeo::visible::everything{}, cap, cap};
#else
const posgeo::attention model{posgeo::heads{}, posgeo::scale::none{}, posgeo::visible::everything{}, cap};
#endif
