// SPDX-License-Identifier: MIT
#include <posgeo/attend/progress.hpp>

#include <utility>
#include <vector>

#include "support/catch.hpp"

namespace progress_test {

using namespace posgeo;

TEST_CASE("an empty progress hook always goes on", "[progress]") {
  const progress_hook empty;
  CHECK_FALSE(static_cast<bool>(empty));
  CHECK(empty(3, 7) == progress::go_on);
}

TEST_CASE("a progress hook calls the callable itself", "[progress]") {
  std::vector<std::pair<index_t, index_t>> told;
  int calls_left = 2;  // in the callable: a copy would count for itself
  auto watch = [&told, calls_left](index_t done, index_t total) mutable {
    told.emplace_back(done, total);
    return --calls_left > 0 ? progress::go_on : progress::cancel;
  };
  const progress_hook hook(watch);
  const progress_hook copy = hook;  // refers to the same callable, not to the hook
  CHECK(static_cast<bool>(hook));
  CHECK(hook(1, 9) == progress::go_on);
  CHECK(copy(2, 9) == progress::cancel);
  CHECK(watch(4, 9) == progress::cancel);
  CHECK(told == std::vector<std::pair<index_t, index_t>>{{1, 9}, {2, 9}, {4, 9}});
}

TEST_CASE("a progress hook may refer to a constant callable", "[progress]") {
  const auto half = [](index_t done, index_t total) { return 2 * done < total ? progress::go_on : progress::cancel; };
  const progress_hook hook = half;
  CHECK(hook(3, 7) == progress::go_on);
  CHECK(hook(4, 7) == progress::cancel);
}

/// What a hook must not be made of: a temporary, which it would outlive, or a callable that answers something else.
struct answers_nothing {
  void operator()(index_t, index_t) const {}
};
struct never_cancels {
  progress operator()(index_t, index_t) const { return progress::go_on; }
};
static_assert(std::is_constructible_v<progress_hook, never_cancels&>);
static_assert(std::is_constructible_v<progress_hook, const never_cancels&>);
static_assert(!std::is_constructible_v<progress_hook, never_cancels>);
static_assert(!std::is_constructible_v<progress_hook, answers_nothing&>);

}  // namespace progress_test
