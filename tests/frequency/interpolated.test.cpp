// SPDX-License-Identifier: MIT
#include <posgeo/frequency/interpolated.hpp>

#include "support/catch.hpp"

namespace interpolated_test {

using namespace posgeo;
using namespace posgeo::test;
using frequency::interpolated;
using frequency::share_of_turns;

TEST_CASE("what is kept stays and the rest is divided", "[interpolated]") {
  CHECK(interpolated(0.7, 8.0, 1.0) == 0.7);
  CHECK(interpolated(0.7, 8.0, 0.0) == 0.7 / 8.0);
  CHECK_THAT(interpolated(0.7, 8.0, 0.25), WithinRel(0.25 * 0.7 + 0.75 * 0.7 / 8.0, 1e-15));
  for (const double kept : {0.0, 0.31, 1.0}) CHECK(interpolated(0.7, 1.0, kept) == 0.7);
}

TEST_CASE("the share follows the turns over the length", "[interpolated]") {
  const double full_turn_in_40 = 2.0 * std::numbers::pi / 40.0;
  CHECK_THAT(share_of_turns(full_turn_in_40, 120, 1.0, 5.0), WithinRel(0.5, 1e-14));  // 3 turns
  CHECK(share_of_turns(full_turn_in_40, 20, 1.0, 5.0) == 0.0);
  CHECK(share_of_turns(full_turn_in_40, 4000, 1.0, 5.0) == 1.0);
}

}  // namespace interpolated_test
