// SPDX-License-Identifier: MIT
// One score bias for one pair, over a tile of 256 x 256.
#include <posgeo/bias/alibi.hpp>
#include <posgeo/bias/pair.hpp>
#include <posgeo/bias/t5.hpp>
#include <posgeo/call/prefill_chunk.hpp>

#include "support/inputs.hpp"

namespace {

using namespace posgeo;

constexpr heads layout{.query = 4, .key_value = 4, .dim = 64};
constexpr index_t rows = 256;

template <class Bias>
void run(benchmark::State& state, const Bias& bias) {
  const auto term = bias.template compile<float>(call::prefill_chunk(1024, rows), layout);
  for (auto _ : state) {
    float sum = 0.0F;
    for (const query_index i : indices<query_index>(rows)) {
      for (const key_index j : indices<key_index>(rows)) sum += term(batch_index{0}, head_index{1}, i, j);
    }
    benchmark::DoNotOptimize(sum);
  }
  bench::report_time_per(state, "pair", rows * rows);
}

void alibi(benchmark::State& state) {
  run(state, bias::alibi{bias::alibi_slopes::reference(layout.query), bias::alibi_direction::symmetric});
}
BENCHMARK(alibi)->Name("score_bias/alibi");

void t5(benchmark::State& state) {
  const std::vector<float> weights = bench::random_values<float>(32 * layout.query);
  const coordinate::t5_bucket bucket{
      {.num_buckets = 32, .max_distance = 128, .direction = coordinate::bucket_direction::bidirectional}};
  run(state, bias::t5<float>{{weights, 32, layout.query}, bucket});
}
BENCHMARK(t5)->Name("score_bias/t5");

void pair(benchmark::State& state) {
  const auto values = bench::random_tensor<float>({1, layout.query, rows, 1024 + rows});
  run(state, bias::pair<float>{values.view()});
}
BENCHMARK(pair)->Name("score_bias/pair");

}  // namespace
