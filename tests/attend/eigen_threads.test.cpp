// SPDX-License-Identifier: MIT
#include <posgeo/attend/eigen_threads.hpp>

#include <mutex>
#include <set>
#include <stdexcept>

#include "attend/task_counts.hpp"
#include "support/catch.hpp"

namespace eigen_threads_test {

using namespace posgeo;
using namespace posgeo::test;

static_assert(parallel<threads::eigen_pool>);

TEST_CASE("an Eigen pool runs every task once", "[eigen_threads]") {
  Eigen::ThreadPool pool(3);
  const threads::eigen_pool threads(pool);
  CHECK(threads.concurrency() == 3);
  for (int repeat = 0; repeat < 20; ++repeat) check_every_task_once(threads);
  check_two_at_once(threads);
}

TEST_CASE("an Eigen pool of one thread leaves all tasks to the caller", "[eigen_threads]") {
  Eigen::ThreadPool pool(1);
  const threads::eigen_pool threads(pool);
  CHECK(threads.concurrency() == 1);
  const auto here = std::this_thread::get_id();
  int elsewhere = 0;
  threads.parallel_for(6, [&](index_t) { elsewhere += std::this_thread::get_id() != here ? 1 : 0; });
  CHECK(elsewhere == 0);
}

TEST_CASE("no more tasks of an Eigen pool run at once than it says", "[eigen_threads]") {
  Eigen::ThreadPool pool(3);
  const threads::eigen_pool threads(pool);
  std::mutex lock;
  std::set<std::thread::id> seen;
  threads.parallel_for(200, [&](index_t) {
    std::this_thread::sleep_for(std::chrono::microseconds(20));
    const std::lock_guard hold(lock);
    seen.insert(std::this_thread::get_id());
  });
  CHECK(seen.size() <= 3);
  CHECK(seen.size() >= 1);
}

TEST_CASE("an Eigen pool loses no exception and waits for all tasks", "[eigen_threads]") {
  Eigen::ThreadPool pool(3);
  check_exceptions(threads::eigen_pool(pool));
}

TEST_CASE("tasks of an Eigen pool may use the pool", "[eigen_threads]") {
  Eigen::ThreadPool pool(3);
  const threads::eigen_pool threads(pool);
  for (int repeat = 0; repeat < 20; ++repeat) check_nested(threads);
}

/// Takes closures and runs none of them before it is told to.
struct idle_pool : Eigen::ThreadPoolInterface {
  std::vector<std::function<void()>> waiting;
  void Schedule(std::function<void()> work) override { waiting.push_back(std::move(work)); }
  [[nodiscard]] int NumThreads() const override { return 4; }
  [[nodiscard]] int CurrentThreadId() const override { return -1; }
};

TEST_CASE("a pool whose threads are busy delays nobody and comes too late unharmed", "[eigen_threads]") {
  idle_pool pool;
  check_every_task_once(threads::eigen_pool(pool));
  check_exceptions(threads::eigen_pool(pool));
  CHECK(pool.waiting.size() == 1 + 2 + 3 * 3 + 21 * 3);  // never more than 3 helpers
  for (const auto& work : pool.waiting) work();          // their tasks are long gone
}

/// Refuses its second closure.
struct full_pool : idle_pool {
  void Schedule(std::function<void()> work) override {
    if (!waiting.empty()) throw std::length_error("full");
    idle_pool::Schedule(std::move(work));
  }
};

TEST_CASE("a pool that cannot take a closure says so after all tasks have ended", "[eigen_threads]") {
  full_pool pool;
  std::vector<int> runs(9);
  const auto run = [&] {
    threads::eigen_pool(pool).parallel_for(9, [&](index_t task) { ++runs[static_cast<std::size_t>(task)]; });
  };
  CHECK_THROWS_AS(run(), std::length_error);
  CHECK(runs == std::vector<int>(9, 1));
}

}  // namespace eigen_threads_test
