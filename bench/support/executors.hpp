// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/attend/eager.hpp>
#include <posgeo/attend/eigen_threads.hpp>
#include <posgeo/attend/fused.hpp>

namespace posgeo::bench {

/// Which executor a case runs. The library's names for them stand in this file and nowhere else in the benchmarks.
enum class executor { measured, reproducible, two_threads, eager };

/// The executor under measurement.
using measured_executor = fused<>;

/// Calls use(executor) with the one that was named.
template <class Use>
void with_executor(executor which, const Use& use) {
  switch (which) {
    case executor::measured:
      return use(measured_executor{});
    case executor::reproducible:
      return use(fused<threads::serial, order::reproducible>{});
    case executor::two_threads: {
      static Eigen::ThreadPool pool(2);
      return use(fused<threads::eigen_pool>{threads::eigen_pool(pool)});
    }
    case executor::eager:
      return use(eager{});
  }
}

/// The executor with memory made once, as by whoever calls it more than once.
template <class Executor, class Plan>
[[nodiscard]] Executor ready(const Executor& executor, const Plan& plan, index_t value_dim,
                             std::vector<std::byte>& workspace) {
  if constexpr (std::same_as<Executor, eager>) {
    return executor;
  } else {
    workspace.resize(executor.workspace_bytes(plan, value_dim));
    return executor.with_workspace(workspace);
  }
}

/// Bytes that one run needs beside its inputs and outputs.
template <class Executor, class Plan>
[[nodiscard]] double workspace_bytes(const Executor& executor, const Plan& plan, index_t value_dim) {
  if constexpr (std::same_as<Executor, eager>) {  // four tiles [queries, keys]
    return 4.0 * sizeof(typename Plan::scalar) * static_cast<double>(plan.call().queries() * plan.call().keys());
  } else {
    return static_cast<double>(executor.workspace_bytes(plan, value_dim));
  }
}

}  // namespace posgeo::bench
