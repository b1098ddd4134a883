// SPDX-License-Identifier: MIT
#include <posgeo/visible/visibility.hpp>

#include "support/catch.hpp"

namespace {

using namespace posgeo;

constexpr hides each[] = {hides::padding, hides::other_segments, hides::future, hides::distant};

TEST_CASE("promises join and meet as sets", "[visibility]") {
  for (const hides a : each) {
    CHECK(includes(a, hides::nothing));
    CHECK_FALSE(includes(hides::nothing, a));
    for (const hides b : each) {
      CHECK(includes(a | b, a));
      CHECK(includes(a | b, b));
      CHECK(includes(a, b) == (a == b));
      CHECK((a & b) == (a == b ? a : hides::nothing));
    }
  }
}

/// A visibility whose predicate may throw, or names no range, is none.
template <bool Throws, bool NamesRange>
struct almost {
  using family = posgeo::family::visibility;
  struct term {
    bool operator()(batch_index, query_index, key_index) const noexcept(!Throws) { return true; }
    key_range keys(batch_index, query_index) const noexcept requires NamesRange { return {}; }
  };
  hides hidden() const noexcept { return hides::nothing; }
  template <class T>
  term compile(const position_call&, const heads&) const {
    return {};
  }
};

TEST_CASE("a visibility answers without throwing and names a range of keys", "[visibility]") {
  STATIC_REQUIRE(visibility<almost<false, true>>);
  STATIC_REQUIRE(visibility<almost<false, true>, double>);
  STATIC_REQUIRE(!visibility<almost<true, true>>);
  STATIC_REQUIRE(!visibility<almost<false, false>>);
}

TEST_CASE("a range of storage rows keeps its ends as keys", "[visibility]") {
  CHECK(to_keys({3, 7}) == key_range{key_index{3}, key_index{7}});
}

}  // namespace
