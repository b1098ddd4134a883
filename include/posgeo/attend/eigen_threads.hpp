// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/attend/threads.hpp>

#if __has_include(<Eigen/ThreadPool>)
#include <Eigen/ThreadPool>
#else
#include <unsupported/Eigen/CXX11/ThreadPool>
#endif

#include <algorithm>
#include <condition_variable>
#include <memory>
#include <mutex>

namespace posgeo::threads {

/// A thread pool of Eigen's, which must outlive this handle. The caller takes part in the place of one thread of the
/// pool, so that a busy pool delays nobody and a thread of the pool may call parallel_for itself.
/// Throws: what a task throws, after all have ended.
class eigen_pool {
 public:
  explicit eigen_pool(Eigen::ThreadPoolInterface& pool) noexcept : pool_(&pool) {}

  [[nodiscard]] index_t concurrency() const noexcept { return std::max(index_t{1}, index_t{pool_->NumThreads()}); }

  template <class F>
  void parallel_for(index_t tasks, const F& f) const {
    const index_t helpers = std::min(tasks, concurrency()) - 1;
    if (helpers < 1) return serial{}.parallel_for(tasks, f);
    const auto shared = std::make_shared<tally>();
    // A helper that comes too late finds no task left and does not touch f.
    const auto work = [shared, tasks, &f] {
      index_t ended = 0;
      for (index_t task = shared->next++; task < tasks; task = shared->next++) {
        shared->kept.run([&] { f(task); });
        ++ended;
      }
      if (ended > 0) shared->report(ended);
    };
    shared->kept.run([&] {
      for (index_t n = 0; n < helpers; ++n) pool_->Schedule(work);
    });
    work();
    shared->wait_for(tasks);
    shared->kept.rethrow_if_any();
  }

 private:
  /// Which task is next, and how many have ended.
  struct tally {
    std::atomic<index_t> next{0};
    detail::kept_exception kept;

    void report(index_t count) {
      const std::lock_guard hold(lock);
      ended += count;
      all_ended.notify_one();
    }
    void wait_for(index_t tasks) {
      std::unique_lock hold(lock);
      all_ended.wait(hold, [&] { return ended == tasks; });
    }

   private:
    std::mutex lock;
    std::condition_variable all_ended;
    index_t ended = 0;
  };

  Eigen::ThreadPoolInterface* pool_;
};

}  // namespace posgeo::threads
