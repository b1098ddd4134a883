// SPDX-License-Identifier: MIT
// What a fused tile reads of a bias: one line of 512 consecutive offsets, made from the term or copied from a table.
#include <posgeo/bias/alibi.hpp>
#include <posgeo/bias/learned_relative.hpp>
#include <posgeo/bias/t5.hpp>
#include <posgeo/call/prefill_chunk.hpp>
#include <posgeo/coordinate/clipped.hpp>

#include "support/inputs.hpp"

namespace {

using namespace posgeo;

constexpr heads layout{.query = 4, .key_value = 4, .dim = 64};
constexpr index_t offsets = 512;

/// The line is made by at_offset, as it is once for each call and head.
template <class Bias>
void construct(benchmark::State& state, const Bias& bias) {
  const auto term = bias.template compile<float>(call::prefill_chunk(1024, offsets), layout);
  std::vector<float> line(offsets);
  for (auto _ : state) {
    for (index_t o = 0; o < offsets; ++o) {
      line[static_cast<std::size_t>(o)] = term.at_offset(head_index{1}, relative_offset{o - offsets / 2});
    }
    benchmark::DoNotOptimize(line.data());
    benchmark::ClobberMemory();
  }
  bench::report_time_per(state, "offset", offsets);
}

void alibi(benchmark::State& state) {
  construct(state, bias::alibi{bias::alibi_slopes::reference(layout.query), bias::alibi_direction::symmetric});
}
BENCHMARK(alibi)->Name("bias_line/construct/alibi");

void t5(benchmark::State& state) {
  const std::vector<float> weights = bench::random_values<float>(32 * layout.query);
  const coordinate::t5_bucket bucket{
      {.num_buckets = 32, .max_distance = 128, .direction = coordinate::bucket_direction::bidirectional}};
  construct(state, bias::t5<float>{{weights, 32, layout.query}, bucket});
}
BENCHMARK(t5)->Name("bias_line/construct/t5");

void learned_relative(benchmark::State& state) {
  const auto classes = coordinate::clipped::symmetric(128);
  const std::vector<float> weights = bench::random_values<float>(classes.classes() * layout.query);
  construct(state,
            bias::learned_relative<float, coordinate::clipped>{{weights, classes.classes(), layout.query}, classes});
}
BENCHMARK(learned_relative)->Name("bias_line/construct/learned_relative");

/// A query row reads the line from an offset of its own: an unaligned load for each vector of keys.
void lookup(benchmark::State& state) {
  const std::vector<float> line = bench::random_values<float>(2 * offsets);
  std::vector<float> scores(offsets);
  std::size_t row = 0;
  for (auto _ : state) {
    const float* const first = line.data() + row;
    for (std::size_t j = 0; j < scores.size(); ++j) scores[j] += first[j];
    benchmark::DoNotOptimize(scores.data());
    benchmark::ClobberMemory();
    row = (row + 1) % offsets;
  }
  bench::report_time_per(state, "pair", offsets);
}
BENCHMARK(lookup)->Name("bias_line/lookup");

}  // namespace
