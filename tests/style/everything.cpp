// SPDX-License-Identifier: MIT
#include <posgeo/posgeo.hpp>

namespace pg = posgeo;

// One attention with every kind of policy, and each encoder: what the analysis is run on.
void instantiate(const pg::position_call& call, const pg::qkv<float>& in, pg::states_view<float> states,
                 const pg::table<float>& table, const pg::bias::pair<float>& pair) {
  using namespace pg;
  encode::add_positions(
      encode::sinusoidal{
          {.width = 8, .layout = encode::sinusoid_layout::interleaved, .exponent = encode::sinusoid_exponent::paper}},
      call, states);
  encode::add_positions(encode::learned_absolute<float>{table, {.row_offset = 0}}, call, states);
  const coordinate::t5_bucket bucket{
      {.num_buckets = 32, .max_distance = 128, .direction = coordinate::bucket_direction::causal}};
  const attention model{
      heads{.query = 4, .key_value = 2, .dim = 8},
      scale::inverse_sqrt_head_dim{},
      scale::softcap{{.cap = 30.0, .place = scale::softcap_place::before_bias}},
      transform::rotary{frequency::geometric{{.base = 1e4, .rotary_dim = 8}}, {.pairs = transform::pairing::halves}},
      bias::alibi{bias::alibi_slopes::reference(4), bias::alibi_direction::causal},
      bias::t5<float>{table, bucket},
      pair,
      visible::segments{},
      visible::all_of{visible::causal{}, visible::window{.behind = 3, .ahead = 0}}};
  const auto plan = model.compile(call);
  const auto result = attend(eager{}, plan, in, also::everything);
  static_cast<void>(result.output.view());
}
