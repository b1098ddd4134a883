// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/core/index.hpp>

#include <atomic>
#include <concepts>
#include <exception>

namespace posgeo {

namespace detail {

/// What a task looks like to a type that runs tasks.
struct any_task {
  void operator()(index_t) const {}
};

/// Keeps one of the exceptions that several tasks throw, maybe at once.
class kept_exception {
 public:
  template <class Action>
  void run(const Action& action) noexcept {
    try {
      action();
    } catch (...) {
      if (!taken_.test_and_set()) thrown_ = std::current_exception();
    }
  }
  /// After all tasks have ended.
  void rethrow_if_any() const {
    if (thrown_) std::rethrow_exception(thrown_);
  }

 private:
  std::atomic_flag taken_;
  std::exception_ptr thrown_;
};

}  // namespace detail

/// What runs the tasks of a call. concurrency() says how many may run at once, at least 1. parallel_for(tasks, f) calls
/// f(task) once for each task in [0, tasks), in any order and maybe at once, and returns when all have ended; if some
/// threw, it then throws one of their exceptions. A task may itself call parallel_for.
/// A type of your own is a handle to your threads: both members are const.
template <class P>
concept parallel = requires(const P& p, index_t tasks, const detail::any_task& f) {
  { p.concurrency() } -> std::same_as<index_t>;
  p.parallel_for(tasks, f);
};

namespace threads {

/// The calling thread alone, task after task. Allocates nothing.
struct serial {
  [[nodiscard]] static constexpr index_t concurrency() noexcept { return 1; }

  template <class F>
  void parallel_for(index_t tasks, const F& f) const {
    detail::kept_exception kept;
    for (index_t task = 0; task < tasks; ++task) kept.run([&] { f(task); });
    kept.rethrow_if_any();
  }
};

}  // namespace threads

}  // namespace posgeo
