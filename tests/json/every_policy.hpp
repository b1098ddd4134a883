// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/bias/alibi.hpp>
#include <posgeo/bias/alibi_key_position.hpp>
#include <posgeo/bias/edge_path.hpp>
#include <posgeo/bias/learned_relative.hpp>
#include <posgeo/bias/pair.hpp>
#include <posgeo/bias/spatial.hpp>
#include <posgeo/bias/t5.hpp>
#include <posgeo/bias/tupe_relative.hpp>
#include <posgeo/content/bert_relative.hpp>
#include <posgeo/content/deberta.hpp>
#include <posgeo/content/projected_sinusoids.hpp>
#include <posgeo/content/shaw_key.hpp>
#include <posgeo/content/transformer_xl.hpp>
#include <posgeo/content/tupe.hpp>
#include <posgeo/coordinate/window_index.hpp>
#include <posgeo/core/named.hpp>
#include <posgeo/encode/binary_index.hpp>
#include <posgeo/encode/degree.hpp>
#include <posgeo/encode/grid_full.hpp>
#include <posgeo/encode/grid_separable.hpp>
#include <posgeo/encode/learned_absolute.hpp>
#include <posgeo/encode/mask_decoder_positions.hpp>
#include <posgeo/encode/normalized_index.hpp>
#include <posgeo/encode/raw_index.hpp>
#include <posgeo/encode/sinusoidal.hpp>
#include <posgeo/encode/sinusoidal_grid.hpp>
#include <posgeo/encode/time2vec.hpp>
#include <posgeo/frequency/geometric.hpp>
#include <posgeo/frequency/yarn.hpp>
#include <posgeo/manifest/of.hpp>
#include <posgeo/scale/constant.hpp>
#include <posgeo/scale/inverse_sqrt_head_dim.hpp>
#include <posgeo/scale/inverse_sqrt_terms.hpp>
#include <posgeo/scale/none.hpp>
#include <posgeo/scale/sink.hpp>
#include <posgeo/scale/softcap.hpp>
#include <posgeo/transform/multi_axis_rotary.hpp>
#include <posgeo/transform/rotary.hpp>
#include <posgeo/value/shaw_value.hpp>
#include <posgeo/visible/active.hpp>
#include <posgeo/visible/all_of.hpp>
#include <posgeo/visible/any_of.hpp>
#include <posgeo/visible/causal.hpp>
#include <posgeo/visible/custom.hpp>
#include <posgeo/visible/everything.hpp>
#include <posgeo/visible/segments.hpp>
#include <posgeo/visible/window.hpp>
#include <posgeo/visible/within_hops.hpp>

#include "support/calls.hpp"
#include "support/random.hpp"

namespace posgeo::test {

/// A policy's description with its family, as a plan has it.
template <class Policy>
[[nodiscard]] description whole_of(const Policy& policy) {
  return manifest::detail::of_family(policy.describe(), Policy::family::name);
}

[[nodiscard]] inline std::vector<description> every_bias(const coordinate::graph_rows& graphs) {
  const coordinate::t5_bucket bucket(
      {.num_buckets = 8, .max_distance = 20, .direction = coordinate::bucket_direction::bidirectional});
  const coordinate::window_index window(
      coordinate::grid({.rows = 2, .columns = 2, .order = coordinate::traversal::row_major}));
  const auto slopes = bias::alibi_slopes::reference(3);
  auto features = random_values<double>(48, 8700);
  std::fill_n(features.begin(), 4, 0.0);  // the row of padding
  const auto pairs = random_tensor<double, 4>({1, 3, 4, 5}, 8701);
  const auto narrow = random_values<float>(24, 8702);
  return {whole_of(bias::alibi(slopes, bias::alibi_direction::causal)),
          whole_of(bias::alibi_key_position(bias::alibi_slopes::custom({0.5, 0.125, 1e-7}), -4)),
          whole_of(bias::t5<double>(random_table(8, 3, 8703), bucket)),
          whole_of(bias::t5<float>(table<float>(narrow, 8, 3), bucket)),
          whole_of(bias::tupe_relative<double>(random_table(9, 3, 8704), bucket, {.cls = position{0}})),
          whole_of(bias::learned_relative(random_table(5, 3, 8705), coordinate::clipped::symmetric(2))),
          whole_of(bias::learned_relative(random_table(window.classes(), 3, 8706), window)),
          whole_of(bias::spatial<double>(random_table(8, 3, 8707), coordinate::distance_id(7), graphs)),
          whole_of(bias::edge_path<double>(
              table<double>(features, 12, 4), random_table(8, 3, 8708), graphs,
              {.rows = {.first = 2, .stride = 5}, .hops = 2, .longer = bias::longer_paths::refused})),
          whole_of(named("layer 3", bias::pair(pairs.view())))};
}

[[nodiscard]] inline std::vector<description> every_content_and_value() {
  using tables = head_tables<double>;
  const auto classes = coordinate::clipped::symmetric(2);
  const auto both = content::deberta_terms::both(content::p2c_index::paper);
  const auto exact = coordinate::deberta_span::exact(3);
  const auto bucketed = coordinate::deberta_span::bucketed(coordinate::log_bucket(
      {.num_buckets = 6, .max_position = 30, .beyond = coordinate::beyond_max_position::clamped}));
  const auto rows = tables::stacked(random_table(12, 4, 8711), 2);
  const auto more = tables::stacked(random_table(24, 4, 8718), 2);
  return {
      whole_of(content::shaw_key<double>(tables::shared(random_table(5, 4, 8712)), classes)),
      whole_of(value::shaw_value<double>(tables::stacked(random_table(15, 4, 8713), 3), classes)),
      whole_of(content::relative_key_query<double>(random_table(7, 3, 8714), 4)),
      whole_of(content::deberta<double>(both, exact, {.position_keys = rows, .position_queries = rows})),
      whole_of(content::deberta<double>(content::deberta_terms::c2p(), bucketed,
                                        {.position_keys = more, .position_queries = std::nullopt})),
      whole_of(content::transformer_xl<double>(
          {.content = random_table(2, 3, 8715), .position = random_table(2, 3, 8716)},
          content::projected_sinusoids<double>(random_table(6, 4, 8717), {.reach = content::distance_reach::back_only,
                                                                          .clamp = content::clamp_len::at(9)}))),
      whole_of(content::tupe<double>({.queries = rows, .keys = rows}, content::tupe_cls::released(position{0})))};
}

[[nodiscard]] inline std::vector<description> every_visibility_and_scale(const coordinate::graph_rows& graphs) {
  const visible::custom even([](const position_call& call, batch_index b, query_index i, key_index j) {
    return call.offset(b, i, j).value() % 2 == 0;
  });
  const visible::window near{.behind = 3, .ahead = 0};
  return {whole_of(visible::everything{}),
          whole_of(visible::causal{}),
          whole_of(visible::active{}),
          whole_of(visible::segments{}),
          whole_of(near),
          whole_of(visible::all_of(visible::causal{}, visible::any_of(near, visible::segments{}))),
          whole_of(visible::within_hops(graphs, {.most = 2, .unreachable = visible::unreachable_pairs::hidden})),
          whole_of(named("even offsets", even)),
          whole_of(scale::none{}),
          whole_of(scale::constant(0.125)),
          whole_of(scale::inverse_sqrt_head_dim{}),
          whole_of(scale::inverse_sqrt_terms{}),
          whole_of(scale::softcap({.cap = 30.0, .place = scale::softcap_place::after_bias})),
          whole_of(scale::sink({0.25, -1.0, 3e22}))};
}

[[nodiscard]] inline std::vector<description> every_transform() {
  const position_call call = call_at({5, 9});
  const row_column<coordinate::thw> places{row_identity::of(call.query_space()), {{4, 5, 6}, {-7, 1, 2}}};
  const frequency::geometric ladder({.base = 100.0, .rotary_dim = 8});
  return {whole_of(transform::rotary(ladder, {.pairs = transform::pairing::halves, .offset = 3})),
          whole_of(transform::rotary(frequency::yarn({.base = 1e4,
                                                      .rotary_dim = 8,
                                                      .factor = 4.0,
                                                      .original_max_position = 4096,
                                                      .ramp = frequency::yarn_ramp::pair_index}),
                                     {.pairs = transform::pairing::adjacent, .offset = 0})),
          whole_of(transform::multi_axis_rotary<3>(ladder, transform::axis_sections<3>::blocks({2, 1, 1}),
                                                   transform::pairing::halves, places, places))};
}

[[nodiscard]] inline std::vector<description> every_encoder(const coordinate::graph_rows& graphs) {
  using namespace encode;
  const position_call call = call_at({4, -2, 9});
  const auto rows = row_identity::of(call.query_space());
  const std::vector<coordinate::grid_place> places{coordinate::cell{1, 0}, coordinate::class_row{0},
                                                   coordinate::cell{0, 2}};
  const coordinate::grid_cells cells{rows, places};
  const std::vector<std::optional<index_t>> stamps{1790000400, 1790000000, 1789990000};
  const coordinate::grid grid({.rows = 2, .columns = 3, .order = coordinate::traversal::row_major, .class_rows = 2});
  const coordinate::clock_name clock("unix utc");
  const time2vec<double> times({.time = coordinate::elapsed_time({.clock = clock,
                                                                  .stamp_unit = coordinate::time_unit::seconds,
                                                                  .origin = 1790000000,
                                                                  .unit = coordinate::time_unit::hours}),
                                .function = periodic::sine,
                                .linear = linear_term::first,
                                .missing = missing_time::refused},
                               {.omega = random_table(1, 4, 8721), .phi = random_table(1, 4, 8722)});
  const sinusoidal waves({.width = 8, .layout = sinusoid_layout::interleaved, .exponent = sinusoid_exponent::paper});
  return {whole_of(waves),
          whole_of(learned_absolute<double>(random_table(9, 5, 8723),
                                            {.row_offset = 2, .padding = padded_rows::table_row(1)})),
          whole_of(raw_index({.width = 7, .alpha = 0.5})),
          whole_of(normalized_index({.width = 7, .length = 90})),
          whole_of(binary_index({.bits = 7, .order = bit_order::most_significant_first})),
          whole_of(grid_full<double>(random_table(8, 5, 8724), grid).at(cells)),
          whole_of(grid_separable<double>(random_table(2, 5, 8725), random_table(3, 5, 8726)).at(cells)),
          whole_of(sinusoidal_grid({.width = 8, .layout = grid_sinusoid::mae}).at(cells)),
          whole_of(times.at({{rows, stamps}, coordinate::time_unit::seconds, clock})),
          whole_of(degree<double>({.in = random_table(6, 5, 8727), .out = random_table(7, 5, 8728)}, graphs,
                                  {.row_offset = 1, .count = degree_count::by_direction})),
          manifest::detail::of_family(mask_decoder_positions(waves).describe(), family::state_encoder::name)};
}

/// A policy of every family, and of every kind of setting in it.
[[nodiscard]] inline std::vector<description> every_policy() {
  const std::vector<coordinate::graph_edge> edges{{0, 1}, {1, 2}};
  const std::vector<index_t> attributes{1, 2};
  const coordinate::graph_rows graphs({coordinate::graph::directed(3, edges, attributes)},
                                      coordinate::graph_token::none());
  std::vector<description> all;
  for (const auto& part : {every_bias(graphs), every_content_and_value(), every_visibility_and_scale(graphs),
                           every_transform(), every_encoder(graphs)}) {
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

}  // namespace posgeo::test
