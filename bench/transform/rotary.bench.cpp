// SPDX-License-Identifier: MIT
#include <posgeo/frequency/geometric.hpp>
#include <posgeo/transform/rotary.hpp>

#include "support/inputs.hpp"

namespace {

using namespace posgeo;

/// Turns 128 rows of the given width, each at a position of its own; sines and cosines included.
template <transform::pairing Pairs>
void rotary(benchmark::State& state) {
  const index_t dim = state.range(0);
  const transform::rotary turn{frequency::geometric{{.base = 10000.0, .rotary_dim = dim}}, {.pairs = Pairs}};
  auto rows = bench::random_tensor<float>({1, 1, 128, dim});
  for (auto _ : state) {
    for (index_t row = 0; row < 128; ++row) turn.rotate(position{1000 + row}, rows.view().row(0, 0, row));
    benchmark::DoNotOptimize(rows.values().data());
    benchmark::ClobberMemory();
  }
  bench::report_time_per(state, "pair", 128 * dim / 2);
}
BENCHMARK(rotary<transform::pairing::halves>)->Name("rotary/halves")->ArgName("dim")->Arg(64)->Arg(128);
BENCHMARK(rotary<transform::pairing::adjacent>)->Name("rotary/adjacent")->ArgName("dim")->Arg(64)->Arg(128);

}  // namespace
