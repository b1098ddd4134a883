// SPDX-License-Identifier: MIT
#include <benchmark/benchmark.h>
#include <fmt/core.h>

int main(int argc, char** argv) {
#if !defined(NDEBUG) || !defined(__OPTIMIZE__)
  fmt::print(stderr,
             "posgeo_bench: built without optimisation or with assertions, so its figures would mean nothing\n");
  return 2;
#endif
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
