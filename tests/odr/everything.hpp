// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/posgeo.hpp>

#include <array>
#include <vector>

#include "odr/report.hpp"

namespace {

// Internal linkage: each unit instantiates the library for itself.
template <class T>
std::vector<T> uneven(std::size_t count, std::size_t step) {
  std::vector<T> out(count);
  for (std::size_t n = 0; n < count; ++n) out[n] = static_cast<T>(n * step % 23) / T{7} - T{1};
  return out;
}

/// Attends with uneven inputs and appends what comes out.
template <class T, class Model>
void report_attention(const Model& model, const posgeo::position_call& call, std::vector<double>& numbers) {
  using namespace posgeo;
  const heads& layout = model.layout();
  const auto filled = [&](index_t of_heads, index_t rows, index_t dim, std::size_t step) {
    tensor<T, 4> t({call.batch(), of_heads, rows, dim});
    const auto values = uneven<T>(t.values().size(), step);
    std::copy(values.begin(), values.end(), t.values().begin());
    return t;
  };
  const tensor<T, 4> query = filled(layout.query, call.queries(), layout.dim, 5);
  const tensor<T, 4> key = filled(layout.key_value, call.keys(), layout.dim, 11);
  const tensor<T, 4> value = filled(layout.key_value, call.keys(), 3, 13);
  const auto result = attend(eager{}, model.template compile<T>(call), {query.view(), key.view(), value.view()},
                             also::log_sum_exp | also::scores);
  for (const auto& part : {result.output.values(), result.log_sum_exp.values(), result.scores.values()}) {
    numbers.insert(numbers.end(), part.begin(), part.end());
  }
}

template <class T>
void run_sequence(std::vector<double>& numbers) {
  using namespace posgeo;
  const std::vector<call::decode_entry> entries{
      {.committed_length = 9, .query_position = 9, .past_length = 6, .padding = 1},
      {.committed_length = 5, .query_position = 5, .past_length = 5, .sequence = 1}};
  std::vector<T> weights(32 * 4);
  for (std::size_t n = 0; n < weights.size(); ++n) weights[n] = static_cast<T>(n * n % 17) / T{8};
  const attention model{
      heads{.query = 4, .key_value = 2, .dim = 6},
      scale::inverse_sqrt_head_dim{},
      scale::softcap{{.cap = 30.0, .place = scale::softcap_place::after_bias}},
      transform::rotary{frequency::geometric{{.base = 1e4, .rotary_dim = 4}}, {.pairs = transform::pairing::halves}},
      bias::alibi{bias::alibi_slopes::reference(4), bias::alibi_direction::causal},
      bias::t5<T>{
          table<T>{weights, 32, 4},
          coordinate::t5_bucket{
              {.num_buckets = 32, .max_distance = 128, .direction = coordinate::bucket_direction::bidirectional}}},
      visible::any_of{visible::all_of{visible::causal{}, visible::segments{}},
                      visible::all_of{visible::window::counting_own_key(3), visible::active{}}}};
  report_attention<T>(model, call::decode_step({.entries = entries, .key_rows = 8}), numbers);
}

/// A path of five nodes under a graph token, read through content, value and graph terms.
template <class T>
void run_graph(std::vector<double>& numbers) {
  using namespace posgeo;
  const std::array<coordinate::graph_edge, 3> edges{{{0, 1}, {1, 2}, {2, 3}}};
  const coordinate::graph_rows rows({coordinate::graph::undirected(5, edges)}, coordinate::graph_token::at(-1));
  const auto classes = coordinate::clipped::symmetric(2);
  const auto tables = [](index_t width) {
    return head_tables<T>::shared(table<T>(uneven<T>(static_cast<std::size_t>(5 * width), 9), 5, width));
  };
  const frequency::yarn stretched{{.base = 1e4,
                                   .rotary_dim = 4,
                                   .factor = 4.0,
                                   .original_max_position = 4096,
                                   .ramp = frequency::yarn_ramp::pair_index}};
  const attention model{heads{.query = 2, .key_value = 1, .dim = 4},
                        scale::inverse_sqrt_head_dim{},
                        transform::rotary{stretched, {.pairs = transform::pairing::adjacent}},
                        content::shaw_key<T>{tables(4), classes},
                        value::shaw_value<T>{tables(3), classes},
                        bias::spatial<T>{table<T>{uneven<T>(512 * 2, 7), 512, 2}, coordinate::distance_id::graphormer(),
                                         rows, table<T>{uneven<T>(2, 3), 1, 2}},
                        visible::active{}};
  const std::array<index_t, 1> length{6};
  report_attention<T>(model,
                      call::padded_batch({.lengths = length,
                                          .rows = 6,
                                          .side = call::padding_side::right,
                                          .positions = call::padded_positions::contiguous(-1)}),
                      numbers);
}

template <class T>
void run_axes(std::vector<double>& numbers) {
  using namespace posgeo;
  const coordinate::multi_axis_layout layout{
      coordinate::text_run{3}, coordinate::cell_grid{.frames = {0}, .rows = 2, .columns = 3}, coordinate::text_run{2}};
  const position_call step = call::decode_step(/*committed_length=*/11, /*query_position=*/11);
  const transform::multi_axis_rotary<3> turn(frequency::geometric({.base = 1e6, .rotary_dim = 8}),
                                             transform::axis_sections<3>::blocks({1, 1, 2}), transform::pairing::halves,
                                             coordinate::positions_of(step.query_space(), layout),
                                             coordinate::positions_of(step.key_space(), layout));
  report_attention<T>(
      attention{heads{.query = 2, .key_value = 1, .dim = 8}, scale::inverse_sqrt_head_dim{}, turn, visible::causal{}},
      step, numbers);
}

void run_encoders(std::vector<double>& numbers) {
  using namespace posgeo;
  const auto report_states = [&](const auto& encoder, const position_call& call, index_t width) {
    tensor<double, 3> states({call.batch(), call.queries(), width});
    encode::add_positions(encoder, call, states.view());
    numbers.insert(numbers.end(), states.values().begin(), states.values().end());
  };
  const position_call call = call::prefill_chunk(3, 2);
  report_states(
      encode::sinusoidal{
          {.width = 8, .layout = encode::sinusoid_layout::interleaved, .exponent = encode::sinusoid_exponent::paper}},
      call, 8);

  const coordinate::clock_name clock("unix utc");
  const table<double> speeds(std::vector<double>{1.0, 0.25, 0.5}, 1, 3);
  const encode::time2vec<double> of_times{
      {.time = coordinate::elapsed_time({.clock = clock,
                                         .stamp_unit = coordinate::time_unit::seconds,
                                         .origin = 1000,
                                         .unit = coordinate::time_unit::hours}),
       .function = encode::periodic::sine,
       .linear = encode::linear_term::first,
       .missing = encode::missing_time::refused},
      {.omega = speeds, .phi = speeds}};
  report_states(
      of_times.at({{row_identity::of(call.query_space()), {4600, 9000}}, coordinate::time_unit::seconds, clock}), call,
      3);

  const coordinate::grid patches({.rows = 2, .columns = 3, .order = coordinate::traversal::row_major});
  const position_call image = patches.call(1);
  report_states(encode::grid_separable<double>(table<double>(uneven<double>(4, 5), 2, 2),
                                               table<double>(uneven<double>(6, 9), 3, 2))
                    .at(patches.cells_of(image.query_space())),
                image, 2);
}

posgeo::test::unit_report run_everything() {
  using namespace posgeo;
  posgeo::test::unit_report report;
  run_sequence<float>(report.numbers);
  run_sequence<double>(report.numbers);
  run_graph<float>(report.numbers);
  run_graph<double>(report.numbers);
  run_axes<float>(report.numbers);
  run_axes<double>(report.numbers);
  run_encoders(report.numbers);

  const auto offsets = coordinate::pairwise_offsets(call::prefill_chunk(3, 2), offset_sign::query_minus_key);
  for (const index_t offset : offsets.values()) {
    report.numbers.push_back(static_cast<double>(offset));
  }
  report.numbers.push_back(round_to(precision::bfloat16, 1.0 / 3.0));

  report.addresses = {&position_limit, &angle_position_limit, reinterpret_cast<const void*>(&round_to),
                      reinterpret_cast<const void*>(&coordinate::pairwise_offsets),
                      reinterpret_cast<const void*>(static_cast<violations (*)(const call_description&)>(&check))};
  return report;
}

}  // namespace
