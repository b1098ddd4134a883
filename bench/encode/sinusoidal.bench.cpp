// SPDX-License-Identifier: MIT
#include <posgeo/call/prefill_chunk.hpp>
#include <posgeo/encode/sinusoidal.hpp>

#include "support/inputs.hpp"

namespace {

using namespace posgeo;

/// Adds positions to 128 states of the given width.
void sinusoidal(benchmark::State& state) {
  const index_t width = state.range(0);
  const encode::sinusoidal encoder{
      {.width = width, .layout = encode::sinusoid_layout::interleaved, .exponent = encode::sinusoid_exponent::paper}};
  const position_call call = call::prefill_chunk(1000, 128);
  tensor<float, 3> states({1, 128, width});
  for (auto _ : state) {
    encode::add_positions(encoder, call, states.view());
    benchmark::DoNotOptimize(states.values().data());
    benchmark::ClobberMemory();
  }
  bench::report_time_per(state, "column", 128 * width);
}
BENCHMARK(sinusoidal)->ArgName("width")->Arg(512)->Arg(1024);

}  // namespace
