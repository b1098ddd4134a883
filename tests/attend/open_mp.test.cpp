// SPDX-License-Identifier: MIT
#include <posgeo/attend/open_mp.hpp>

#include "attend/task_counts.hpp"
#include "support/catch.hpp"

namespace open_mp_test {

using namespace posgeo;
using namespace posgeo::test;

static_assert(parallel<threads::open_mp>);

/// Sets the number of threads, and sets it back.
class with_threads {
 public:
  explicit with_threads(int count) : before_(omp_get_max_threads()) { omp_set_num_threads(count); }
  ~with_threads() { omp_set_num_threads(before_); }
  with_threads(const with_threads&) = delete;
  with_threads& operator=(const with_threads&) = delete;

 private:
  int before_;
};

TEST_CASE("OpenMP runs every task once", "[open_mp]") {
  for (const int count : {1, 3}) {
    const with_threads set(count);
    CHECK(threads::open_mp::concurrency() == count);
    check_every_task_once(threads::open_mp{});
  }
  const with_threads set(2);
  check_two_at_once(threads::open_mp{});
}

TEST_CASE("OpenMP loses no exception and waits for all tasks", "[open_mp]") {
  const with_threads set(3);
  check_exceptions(threads::open_mp{});
}

TEST_CASE("tasks of OpenMP may use OpenMP", "[open_mp]") {
  const with_threads set(3);
  check_nested(threads::open_mp{});
}

}  // namespace open_mp_test
