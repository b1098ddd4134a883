// SPDX-License-Identifier: MIT
#include <posgeo/encode/time2vec.hpp>

using namespace posgeo;

const coordinate::elapsed_time hours({.clock = coordinate::clock_name("unix utc"),
                                      .stamp_unit = coordinate::time_unit::seconds,
                                      .origin = 0,
                                      .unit = coordinate::time_unit::hours});
#ifdef POSGEO_SHOULD_FAIL
const encode::time2vec_settings settings{
    .time = hours, .function = encode::periodic::sine, .linear = encode::linear_term::first};
#else
const encode::time2vec_settings settings{.time = hours,
                                         .function = encode::periodic::sine,
                                         .linear = encode::linear_term::first,
                                         .missing = encode::missing_time::refused};
#endif
