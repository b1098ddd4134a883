// SPDX-License-Identifier: MIT
#include <posgeo/coordinate/t5_bucket.hpp>

#include "support/inputs.hpp"

namespace {

using namespace posgeo;

/// Random offsets within the given distance.
void t5_bucket(benchmark::State& state) {
  const coordinate::t5_bucket bucket{
      {.num_buckets = 32, .max_distance = 128, .direction = coordinate::bucket_direction::bidirectional}};
  std::vector<relative_offset> offsets;
  for (const double part : bench::random_values<double>(4096)) {
    offsets.emplace_back(static_cast<index_t>(part * static_cast<double>(state.range(0))));
  }
  for (auto _ : state) {
    index_t sum = 0;
    for (const relative_offset offset : offsets) sum += bucket(offset);
    benchmark::DoNotOptimize(sum);
  }
  bench::report_time_per(state, "offset", static_cast<index_t>(offsets.size()));
}
BENCHMARK(t5_bucket)->ArgName("within")->Arg(8)->Arg(128)->Arg(4096);

void t5_bucket_thresholds(benchmark::State& state) {
  for (auto _ : state) {
    benchmark::DoNotOptimize(coordinate::t5_bucket(
        {.num_buckets = 32, .max_distance = 128, .direction = coordinate::bucket_direction::bidirectional}));
  }
}
BENCHMARK(t5_bucket_thresholds);

}  // namespace
