// SPDX-License-Identifier: MIT
#include <posgeo/posgeo.hpp>

namespace pg = posgeo;

namespace {

template <class... Policies>
void attend_with(const pg::position_call& call, const pg::qkv<float>& in, const Policies&... policies) {
  const pg::attention model{pg::heads{.query = 4, .key_value = 2, .dim = 8}, policies...};
  const auto result = attend(pg::eager{}, model.compile(call), in, pg::also::everything);
  static_cast<void>(result.output.view());
  const auto fused = attend(pg::fused{}, model.compile(call), in, pg::also::log_sum_exp);
  static_cast<void>(fused.output.view());
}

template <class... Encoders>
void encode_with(const pg::position_call& call, pg::states_view<float> states, const Encoders&... encoders) {
  (pg::encode::add_positions(encoders, call, states), ...);
}

}  // namespace

// Every policy of an attention.
void instantiate_attentions(const pg::position_call& call, const pg::qkv<float>& in, const pg::table<float>& table,
                            const pg::bias::pair<float>& pair, const pg::coordinate::graph_rows& graphs,
                            const pg::content::deberta<float>& deberta,
                            const pg::content::transformer_xl<float>& transformer_xl,
                            const pg::content::tupe<float>& tupe, const pg::bias::spatial<float>& spatial,
                            const pg::bias::edge_path<float>& edge_path,
                            const pg::transform::multi_axis_rotary<3>& multi_axis) {
  using namespace pg;
  const coordinate::t5_bucket bucket{
      {.num_buckets = 32, .max_distance = 128, .direction = coordinate::bucket_direction::causal}};
  const coordinate::grid window{{.rows = 7, .columns = 7, .order = coordinate::traversal::row_major}};
  const auto clipped = coordinate::clipped::symmetric(2);
  const auto slopes = bias::alibi_slopes::reference(4);
  const frequency::yarn stretched{{.base = 1e4,
                                   .rotary_dim = 8,
                                   .factor = 4.0,
                                   .original_max_position = 4096,
                                   .ramp = frequency::yarn_ramp::pair_index}};
  attend_with(
      call, in, scale::inverse_sqrt_head_dim{},
      scale::softcap{{.cap = 30.0, .place = scale::softcap_place::before_bias}},
      transform::rotary{frequency::geometric{{.base = 1e4, .rotary_dim = 8}}, {.pairs = transform::pairing::halves}},
      bias::alibi{slopes, bias::alibi_direction::causal}, bias::t5<float>{table, bucket}, pair, visible::segments{},
      visible::all_of{visible::causal{}, visible::window{.behind = 3, .ahead = 0}});
  attend_with(call, in, scale::inverse_sqrt_terms{}, multi_axis, deberta, transformer_xl,
              content::shaw_key<float>{head_tables<float>::shared(table), clipped},
              content::relative_key_query<float>{table, 512},
              value::shaw_value<float>{head_tables<float>::shared(table), clipped},
              bias::learned_relative<float, coordinate::window_index>{table, coordinate::window_index{window}},
              visible::any_of{visible::active{}, visible::everything{}});
  attend_with(call, in, scale::constant{0.125}, tupe, spatial, edge_path,
              transform::rotary{stretched, {.pairs = transform::pairing::adjacent}},
              bias::tupe_relative<float>{table, bucket, {.cls = position{0}}}, bias::alibi_key_position{slopes, 0},
              visible::causal{},
              visible::within_hops{graphs, {.most = 2, .unreachable = visible::unreachable_pairs::hidden}});
}

// Every encoder.
void instantiate_encoders(const pg::position_call& call, pg::states_view<float> states, const pg::table<float>& table,
                          const pg::coordinate::time_column& times, const pg::coordinate::graph_rows& graphs) {
  using namespace pg;
  const encode::sinusoidal sinusoidal{
      {.width = 8, .layout = encode::sinusoid_layout::interleaved, .exponent = encode::sinusoid_exponent::paper}};
  const encode::learned_absolute<float> learned{table, {.row_offset = 0}};
  const coordinate::grid patches{{.rows = 2, .columns = 3, .order = coordinate::traversal::row_major}};
  const auto cells = patches.cells_of(call.query_space());
  const encode::time2vec<float> time2vec{
      {.time = coordinate::elapsed_time{{.clock = coordinate::clock_name{"utc"},
                                         .stamp_unit = coordinate::time_unit::seconds,
                                         .origin = 0,
                                         .unit = coordinate::time_unit::hours}},
       .function = encode::periodic::sine,
       .linear = encode::linear_term::first,
       .missing = encode::missing_time::refused},
      {.omega = table, .phi = table}};
  encode_with(call, states, sinusoidal, learned, encode::raw_index{{.width = 8, .alpha = 0.5}},
              encode::normalized_index{{.width = 8, .length = 512}},
              encode::binary_index{{.bits = 8, .order = encode::bit_order::most_significant_first}},
              encode::grid_full<float>{table, patches}.at(cells), encode::grid_separable<float>{table, table}.at(cells),
              encode::sinusoidal_grid{{.width = 8, .layout = encode::grid_sinusoid::mae}}.at(cells), time2vec.at(times),
              encode::degree<float>{
                  {.in = table, .out = table}, graphs, {.row_offset = 1, .count = encode::degree_count::by_direction}});
  static_cast<void>(encode::mask_decoder_positions{learned}.query_states(call, states));
}
