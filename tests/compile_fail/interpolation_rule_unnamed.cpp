// SPDX-License-Identifier: MIT
#include <posgeo/encode/interpolated_grid.hpp>

using namespace posgeo::encode;

#ifdef POSGEO_SHOULD_FAIL
const interpolated_grid_settings settings{.from = {.rows = 14, .columns = 14},
                                          .to = {.rows = 24, .columns = 24},
                                          .class_rows = 1,
                                          .kernel = grid_kernel::bicubic};
#else
const interpolated_grid_settings settings{.from = {.rows = 14, .columns = 14},
                                          .to = {.rows = 24, .columns = 24},
                                          .class_rows = 1,
                                          .kernel = grid_kernel::bicubic,
                                          .rule = size_rule::exact_size};
#endif
