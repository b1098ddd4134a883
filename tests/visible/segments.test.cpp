// SPDX-License-Identifier: MIT
#include <posgeo/visible/segments.hpp>

#include "support/visibility.hpp"

namespace {

using namespace posgeo;
using namespace posgeo::test;

TEST_CASE("segments show the tokens of the query's own sequence", "[segments]") {
  const auto own = [](const seen_pair& pair) { return pair.key_active && pair.key_sequence == pair.query_sequence; };
  check_visibility(visible::segments{}, random_calls(121), own);
  check_visibility(visible::segments{}, random_cross_calls(122), own);
  CHECK(visible::segments{}.hidden() == (hides::other_segments | hides::padding));
}

TEST_CASE("packed sequences are blocks around an empty one", "[segments]") {
  const std::vector<index_t> lengths{2, 0, 3};
  const position_call call = call::packed_batch({.lengths = lengths, .positions = call::packed_positions::restart});
  const auto term = visible::segments{}.compile<float>(call, heads{});
  for_each_pair(call, [&](batch_index b, query_index i, key_index j, const seen_pair&) {
    CHECK(term(b, i, j) == ((i.value() < 2) == (j.value() < 2)));
  });
  CHECK(term.keys(batch_index{0}, query_index{1}) == key_range{key_index{0}, key_index{2}});
  CHECK(term.keys(batch_index{0}, query_index{2}) == key_range{key_index{2}, key_index{5}});
}

}  // namespace
