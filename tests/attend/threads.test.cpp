// SPDX-License-Identifier: MIT
#include <posgeo/attend/threads.hpp>

#include <stdexcept>
#include <string>

#include "attend/task_counts.hpp"
#include "support/catch.hpp"

namespace threads_test {

using namespace posgeo;
using namespace posgeo::test;

/// Somebody's own threads: here, the tasks backwards.
struct backwards {
  [[nodiscard]] index_t concurrency() const { return 4; }
  template <class F>
  void parallel_for(index_t tasks, const F& f) const {
    for (index_t task = tasks; task-- > 0;) f(task);
  }
};
struct counts_in_int {
  [[nodiscard]] int concurrency() const { return 4; }
  template <class F>
  void parallel_for(index_t tasks, const F& f) const {
    f(tasks - 1);
  }
};
struct only_counts {
  [[nodiscard]] index_t concurrency() const { return 4; }
};
struct not_a_handle {
  [[nodiscard]] index_t concurrency() const { return 4; }
  template <class F>
  void parallel_for(index_t tasks, const F& f) {
    f(tasks - 1);
  }
};

static_assert(parallel<threads::serial>);
static_assert(parallel<backwards>);
static_assert(!parallel<counts_in_int>);
static_assert(!parallel<only_counts>);
static_assert(!parallel<not_a_handle>);
static_assert(!parallel<int>);

TEST_CASE("serial runs every task once and in order in the calling thread", "[threads]") {
  const threads::serial serial;
  CHECK(serial.concurrency() == 1);
  check_every_task_once(serial);
  const auto here = std::this_thread::get_id();
  std::vector<index_t> order;
  serial.parallel_for(5, [&](index_t task) {
    CHECK(std::this_thread::get_id() == here);
    order.push_back(task);
  });
  CHECK(order == std::vector<index_t>{0, 1, 2, 3, 4});
}

TEST_CASE("serial runs the tasks after one that throws and throws the first exception", "[threads]") {
  check_exceptions(threads::serial{});
  try {
    threads::serial{}.parallel_for(4, [](index_t task) {
      if (task % 2 == 1) throw std::runtime_error(std::to_string(task));
    });
    FAIL("nothing was thrown");
  } catch (const std::runtime_error& thrown) {
    CHECK(std::string(thrown.what()) == "1");
  }
}

TEST_CASE("serial tasks may call serial", "[threads]") { check_nested(threads::serial{}); }

TEST_CASE("a type of ones own runs tasks", "[threads]") {
  check_every_task_once(backwards{});
  check_nested(backwards{});
}

}  // namespace threads_test
