// SPDX-License-Identifier: MIT
#include <posgeo/encode/sinusoidal.hpp>
#include <posgeo/model/attention.hpp>
#include <posgeo/scale/none.hpp>
#include <posgeo/visible/everything.hpp>

const posgeo::encode::sinusoidal encoder{{.width = 8,
                                          .layout = posgeo::encode::sinusoid_layout::interleaved,
                                          .exponent = posgeo::encode::sinusoid_exponent::paper}};

#ifdef POSGEO_SHOULD_FAIL
const posgeo::attention model{posgeo::heads{}, posgeo::scale::none{}, posgeo::visible::everything{}, encoder};
#else
const posgeo::attention model{posgeo::heads{}, posgeo::scale::none{}, posgeo::visible::everything{}};
#endif
