// SPDX-License-Identifier: MIT
#include <posgeo/encode/binary_index.hpp>
#include <posgeo/encode/sinusoidal_grid.hpp>

using namespace posgeo::encode;

#ifdef POSGEO_SHOULD_FAIL
const sinusoidal_grid_settings no_layout{.width = 8};
const binary_index_settings no_bit_order{.bits = 4};
#else
const sinusoidal_grid_settings grid{.width = 8, .layout = grid_sinusoid::mae};
const binary_index_settings bits{.bits = 4, .order = bit_order::most_significant_first};
#endif
