// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/posgeo.hpp>

#include <vector>

#include "odr/report.hpp"

namespace {

// Internal linkage: each unit instantiates the library for itself.
template <class T>
void run_attention(std::vector<double>& numbers) {
  using namespace posgeo;
  const std::vector<call::decode_entry> entries{
      {.committed_length = 9, .query_position = 9, .past_length = 6, .padding = 1},
      {.committed_length = 5, .query_position = 5, .past_length = 5, .sequence = 1}};
  const position_call call = call::decode_step({.entries = entries, .key_rows = 8});
  const heads layout{.query = 4, .key_value = 2, .dim = 6};
  std::vector<T> weights(32 * 4);
  for (std::size_t n = 0; n < weights.size(); ++n) weights[n] = static_cast<T>(n * n % 17) / T{8};
  const attention model{
      layout,
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
  const auto fill = [](tensor<T, 4> t, std::size_t step) {
    for (std::size_t n = 0; n < t.values().size(); ++n) t.values()[n] = static_cast<T>(n * step % 23) / T{7} - T{1};
    return t;
  };
  const tensor<T, 4> query = fill(tensor<T, 4>({2, 4, 1, 6}), 5);
  const tensor<T, 4> key = fill(tensor<T, 4>({2, 2, 8, 6}), 11);
  const tensor<T, 4> value = fill(tensor<T, 4>({2, 2, 8, 3}), 13);
  const auto result = attend(eager{}, model.template compile<T>(call), {query.view(), key.view(), value.view()},
                             also::log_sum_exp | also::scores);
  for (const auto& part : {result.output.values(), result.log_sum_exp.values(), result.scores.values()}) {
    numbers.insert(numbers.end(), part.begin(), part.end());
  }
}

posgeo::test::unit_report run_everything() {
  using namespace posgeo;
  posgeo::test::unit_report report;
  run_attention<float>(report.numbers);
  run_attention<double>(report.numbers);

  const position_call call = call::prefill_chunk(3, 2);
  tensor<double, 3> states({1, 2, 8});
  encode::add_positions(
      encode::sinusoidal{
          {.width = 8, .layout = encode::sinusoid_layout::interleaved, .exponent = encode::sinusoid_exponent::paper}},
      call, states.view());
  report.numbers.insert(report.numbers.end(), states.values().begin(), states.values().end());
  const auto offsets = coordinate::pairwise_offsets(call, offset_sign::query_minus_key);
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
