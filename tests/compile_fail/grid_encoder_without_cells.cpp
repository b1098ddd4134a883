// SPDX-License-Identifier: MIT
#include <posgeo/encode/sinusoidal_grid.hpp>

using namespace posgeo;

const encode::sinusoidal_grid encoder({.width = 8, .layout = encode::grid_sinusoid::mae});

void add(const position_call& call, const coordinate::grid_cells& cells, states_view<float> states) {
#ifdef POSGEO_SHOULD_FAIL
  (void)cells;
  encode::add_positions(encoder, call, states);
#else
  encode::add_positions(encoder.at(cells), call, states);
#endif
}
