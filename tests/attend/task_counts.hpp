// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/attend/threads.hpp>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>
#include <vector>

#include "support/catch.hpp"

// What every type that runs tasks must do. Assertions are made in the calling thread alone.
namespace posgeo::test {

template <class Threads>
std::vector<int> runs_of(const Threads& threads, index_t tasks) {
  std::vector<std::atomic<int>> runs(static_cast<std::size_t>(tasks));
  threads.parallel_for(tasks, [&](index_t task) { ++runs.at(static_cast<std::size_t>(task)); });
  return {runs.begin(), runs.end()};
}

/// For no tasks, fewer than may run at once, as many, and more.
template <class Threads>
void check_every_task_once(const Threads& threads) {
  for (const index_t tasks : {0, 1, 2, 3, 4, 7, 1000}) {
    CAPTURE(tasks);
    CHECK(runs_of(threads, tasks) == std::vector<int>(static_cast<std::size_t>(tasks), 1));
  }
}

/// Every third task throws at once, the others end later: all must have ended when the exception arrives.
template <class Threads>
void check_exceptions(const Threads& threads) {
  for (int repeat = 0; repeat < 20; ++repeat) {
    std::atomic<int> ended{0};
    const auto run = [&] {
      threads.parallel_for(20, [&](index_t task) {
        if (task % 3 == 0) throw std::out_of_range("thrown by a task");
        std::this_thread::sleep_for(std::chrono::microseconds(50));
        ++ended;
      });
    };
    CHECK_THROWS_AS(run(), std::out_of_range);
    CHECK(ended == 13);
  }
  CHECK(runs_of(threads, 9) == std::vector<int>(9, 1));  // and it still works
}

/// Tasks that run tasks that run tasks, more of each than may run at once.
template <class Threads>
void check_nested(const Threads& threads) {
  std::vector<std::atomic<int>> runs(7 * 5 * 6);
  threads.parallel_for(7, [&](index_t a) {
    threads.parallel_for(5, [&](index_t b) {
      threads.parallel_for(6, [&](index_t c) { ++runs.at(static_cast<std::size_t>((a * 5 + b) * 6 + c)); });
    });
  });
  CHECK(std::vector<int>(runs.begin(), runs.end()) == std::vector<int>(7 * 5 * 6, 1));
}

/// Two tasks that wait for each other end only if both run at once.
template <class Threads>
void check_two_at_once(const Threads& threads) {
  std::atomic<int> started{0};
  std::atomic<int> met{0};
  const auto patience = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  threads.parallel_for(2, [&](index_t) {
    ++started;
    while (started < 2 && std::chrono::steady_clock::now() < patience) std::this_thread::yield();
    met += started == 2 ? 1 : 0;
  });
  CHECK(met == 2);
}

}  // namespace posgeo::test
