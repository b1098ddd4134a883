// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/attend/threads.hpp>

#ifdef _OPENMP

#include <algorithm>
#include <omp.h>

namespace posgeo::threads {

/// The threads of OpenMP, as many as omp_get_max_threads() says where it is called. Exists only in code that is
/// compiled with OpenMP. Inside a parallel region OpenMP itself decides whether more threads start. Throws: what a task
/// throws, after all have ended.
struct open_mp {
  [[nodiscard]] static index_t concurrency() noexcept { return std::max(1, omp_get_max_threads()); }

  template <class F>
  void parallel_for(index_t tasks, const F& f) const {
    detail::kept_exception kept;
    const int team = static_cast<int>(std::clamp(tasks, index_t{1}, concurrency()));
#pragma omp parallel for num_threads(team) schedule(dynamic, 1)
    for (index_t task = 0; task < tasks; ++task) kept.run([&] { f(task); });
    kept.rethrow_if_any();
  }
};

}  // namespace posgeo::threads

#endif
