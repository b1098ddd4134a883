// SPDX-License-Identifier: MIT
#include <posgeo/frequency/geometric.hpp>
#include <posgeo/transform/key_shift.hpp>

using namespace posgeo;

#ifdef POSGEO_SHOULD_FAIL
using rotation = transform::multi_axis_rotary<3>;
#else
using rotation = transform::rotary<frequency::geometric>;
#endif

void move(transform::key_shift& shift, const rotation& turn, std::span<float> key) { shift.apply(turn, key); }
