// SPDX-License-Identifier: MIT
#include <posgeo/coordinate/offset_bounds.hpp>

#include "support/catch.hpp"
#include "support/random_calls.hpp"

namespace offset_bounds_test {

using namespace posgeo;
using namespace posgeo::test;

TEST_CASE("the bounds of offsets are those of the tokens that can meet", "[offset_bounds]") {
  int with_pairs = 0;
  for (const position_call& call : random_calls(41)) {
    std::optional<coordinate::offset_bounds> expected;
    for (const batch_index b : indices<batch_index>(call.batch())) {
      for (const query_index i : indices<query_index>(call.queries())) {
        for (const key_index j : indices<key_index>(call.keys())) {
          if (!call.active(b, i) || !call.active(b, j) || call.sequence(b, i) != call.sequence(b, j)) continue;
          const relative_offset offset = call.offset(b, i, j);
          if (!expected) expected = {offset, offset};
          expected = {std::min(expected->lowest, offset), std::max(expected->highest, offset)};
        }
      }
    }
    const auto got = coordinate::bounds_of_offsets(call);
    REQUIRE(got.has_value() == expected.has_value());
    if (!expected) continue;
    ++with_pairs;
    REQUIRE(got->lowest == expected->lowest);
    REQUIRE(got->highest == expected->highest);
  }
  CHECK(with_pairs > 50);
}

}  // namespace offset_bounds_test
