// SPDX-License-Identifier: MIT
#include <posgeo/encode/mask_decoder_positions.hpp>
#include <posgeo/encode/sinusoidal.hpp>

using namespace posgeo;

const encode::sinusoidal encoder{
    {.width = 8, .layout = encode::sinusoid_layout::interleaved, .exponent = encode::sinusoid_exponent::paper}};
const encode::mask_decoder_positions decoder{encoder};

void at_the_input(const position_call& call, states_view<float> states) {
#ifdef POSGEO_SHOULD_FAIL
  encode::add_positions(decoder, call, states);
#else
  encode::add_positions(encoder, call, states);
#endif
}
