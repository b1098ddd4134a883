// SPDX-License-Identifier: MIT
// What one decode step pays before any arithmetic: the call, and the plan.
#include <posgeo/bias/alibi.hpp>
#include <posgeo/call/decode_step.hpp>
#include <posgeo/model/attention.hpp>
#include <posgeo/scale/inverse_sqrt_head_dim.hpp>
#include <posgeo/visible/causal.hpp>

#include "support/inputs.hpp"

namespace {

using namespace posgeo;

/// The given number of sequences; more than entry_list::in_place of them allocate.
void decode_step(benchmark::State& state) {
  const std::vector<call::decode_entry> entries(
      static_cast<std::size_t>(state.range(0)),
      call::decode_entry{.committed_length = 4095, .query_position = 4095, .past_length = 4095});
  for (auto _ : state) {
    benchmark::DoNotOptimize(call::decode_step({.entries = entries, .key_rows = 4096}));
  }
}
BENCHMARK(decode_step)->ArgName("sequences")->Arg(1)->Arg(8)->Arg(32);

void decode_plan(benchmark::State& state) {
  const heads layout{.query = 32, .key_value = 8, .dim = 128};
  const attention model{layout, scale::inverse_sqrt_head_dim{}, visible::causal{},
                        bias::alibi{bias::alibi_slopes::reference(layout.query), bias::alibi_direction::causal}};
  for (auto _ : state) benchmark::DoNotOptimize(model.compile<float>(call::decode_step(4095, 4095)));
}
BENCHMARK(decode_plan);

}  // namespace
