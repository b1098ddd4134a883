// SPDX-License-Identifier: MIT
#include <posgeo/model/attention.hpp>
#include <posgeo/scale/none.hpp>
#include <posgeo/visible/everything.hpp>

const posgeo::scale::sink sink = posgeo::scale::sink::off_by_one({.query = 1, .key_value = 1, .dim = 1});

#ifdef POSGEO_SHOULD_FAIL
const posgeo::attention model{posgeo::heads{}, posgeo::scale::none{}, posgeo::visible::everything{}, sink, sink};
#else
const posgeo::attention model{posgeo::heads{}, posgeo::scale::none{}, posgeo::visible::everything{}, sink};
#endif
