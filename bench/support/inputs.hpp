// SPDX-License-Identifier: MIT
#pragma once

#include <benchmark/benchmark.h>

#include <string>

#include "support/random.hpp"

namespace posgeo::bench {

/// Shows the mean time of one item, of `items` in every iteration, as a column of the table.
inline void report_time_per(benchmark::State& state, const std::string& item, index_t items) {
  state.counters["s/" + item] = benchmark::Counter(
      static_cast<double>(items), benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

}  // namespace posgeo::bench
