// SPDX-License-Identifier: MIT
#include <posgeo/visible/active.hpp>
#include <posgeo/visible/all_of.hpp>
#include <posgeo/visible/any_of.hpp>
#include <posgeo/visible/causal.hpp>
#include <posgeo/visible/segments.hpp>
#include <posgeo/visible/window.hpp>

#include "support/refusal.hpp"
#include "support/visibility.hpp"

namespace {

using namespace posgeo;
using namespace posgeo::test;
using visible::active;
using visible::all_of;
using visible::any_of;
using visible::causal;
using visible::segments;
using visible::window;

TEST_CASE("all of several parts show what each of them shows", "[all_of]") {
  check_visibility(all_of{causal{}, active{}}, random_calls(161),
                   [](const seen_pair& pair) { return pair.key_position <= pair.query_position && pair.key_active; });
  check_visibility(all_of{segments{}}, random_cross_calls(162),
                   [](const seen_pair& pair) { return pair.key_active && pair.key_sequence == pair.query_sequence; });
}

TEST_CASE("conjunctions hold disjunctions", "[all_of]") {
  const all_of nested{any_of{window{.behind = 1, .ahead = 2}, segments{}}, active{}, all_of{causal{}}};
  check_visibility(nested, random_calls(163), [](const seen_pair& pair) {
    return (pair.offset_within(-1.0, 2.0) || (pair.key_active && pair.key_sequence == pair.query_sequence)) &&
           pair.key_active && pair.key_position <= pair.query_position;
  });
}

TEST_CASE("all of several parts hide what any of them hides", "[all_of]") {
  CHECK(all_of{causal{}, active{}}.hidden() == (hides::future | hides::padding));
  CHECK(all_of{window{.behind = 1, .ahead = 1}, segments{}}.hidden() ==
        (hides::distant | hides::other_segments | hides::padding));
}

TEST_CASE("all of several parts refuse what any of them refuses", "[all_of]") {
  const all_of nested{active{}, any_of{segments{}, all_of{causal{}}}};
  for (const position_call& call : random_cross_calls(164)) {
    violations found;
    nested.check(call, heads{}, found);
    CHECK(codes(found) == std::vector{errc::frame_mismatch});
    CHECK(refusal([&] { (void)nested.compile<float>(call, heads{}); }).code() == errc::frame_mismatch);
  }
}

}  // namespace
