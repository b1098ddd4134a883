// SPDX-License-Identifier: MIT
#include <posgeo/visible/active.hpp>
#include <posgeo/visible/all_of.hpp>
#include <posgeo/visible/any_of.hpp>
#include <posgeo/visible/causal.hpp>
#include <posgeo/visible/custom.hpp>
#include <posgeo/visible/everything.hpp>
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
using visible::everything;
using visible::segments;
using visible::window;

TEST_CASE("any of several parts show what one of them shows", "[any_of]") {
  const auto first_four = visible::custom{
      [](const position_call& call, batch_index b, query_index, key_index j) { return call.at(b, j).value() < 4; }};
  check_visibility(any_of{window{.behind = 2, .ahead = 0}, first_four}, random_calls(171),
                   [](const seen_pair& pair) { return pair.offset_within(-2.0, 0.0) || pair.key_position < 4; });
  check_visibility(any_of{segments{}, active{}}, random_cross_calls(172),
                   [](const seen_pair& pair) { return pair.key_active; });
}

TEST_CASE("disjunctions hold conjunctions and empty parts", "[any_of]") {
  // The two windows lie apart: the range that holds both has keys in it that neither shows.
  const any_of nested{all_of{window{.behind = 1, .ahead = 0}, active{}},
                      all_of{window{.behind = 0, .ahead = 8}, segments{}}};
  check_visibility(nested, random_calls(173), [](const seen_pair& pair) {
    return (pair.offset_within(-1.0, 0.0) && pair.key_active) ||
           (pair.offset_within(0.0, 8.0) && pair.key_active && pair.key_sequence == pair.query_sequence);
  });
}

TEST_CASE("any of several parts hide only what all of them hide", "[any_of]") {
  CHECK(any_of{causal{}, window{.behind = 3, .ahead = 0}}.hidden() == hides::future);
  CHECK(any_of{segments{}, active{}}.hidden() == hides::padding);
  CHECK(any_of{causal{}, everything{}}.hidden() == hides::nothing);
}

TEST_CASE("any of several parts refuse what any of them refuses", "[any_of]") {
  for (const position_call& call : random_cross_calls(174)) {
    violations found;
    any_of{everything{}, causal{}}.check(call, heads{}, found);
    CHECK(codes(found) == std::vector{errc::frame_mismatch});
  }
}

}  // namespace
