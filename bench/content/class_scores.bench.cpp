// SPDX-License-Identifier: MIT
// The products of 32 query rows with the row of each class, by the scalar expression: what a tile has to beat.
#include <posgeo/content/shaw_key.hpp>
#include <posgeo/core/row_product.hpp>

#include "support/inputs.hpp"

namespace {

using namespace posgeo;

void class_scores(benchmark::State& state) {
  constexpr index_t rows = 32;
  constexpr index_t dim = 64;
  const auto classes = coordinate::clipped::symmetric(state.range(0));
  const table<float> vectors(bench::random_values<float>(classes.classes() * dim), classes.classes(), dim);
  const auto query = bench::random_tensor<float>({1, 1, rows, dim});
  std::vector<float> scores(static_cast<std::size_t>(rows * classes.classes()));
  for (auto _ : state) {
    auto out = scores.begin();
    for (index_t i = 0; i < rows; ++i) {
      for (index_t c = 0; c < classes.classes(); ++c) *out++ = row_product(query.view().row(0, 0, i), vectors.row(c));
    }
    benchmark::DoNotOptimize(scores.data());
    benchmark::ClobberMemory();
  }
  bench::report_time_per(state, "flop", 2 * rows * classes.classes() * dim);
}
BENCHMARK(class_scores)->ArgName("reach")->Arg(16)->Arg(64)->Arg(128);

}  // namespace
