// SPDX-License-Identifier: MIT
#include <posgeo/visible/active.hpp>

#include "support/visibility.hpp"

namespace {

using namespace posgeo;
using namespace posgeo::test;

TEST_CASE("active shows every token and no padding", "[active]") {
  const auto token = [](const seen_pair& pair) { return pair.key_active; };
  check_visibility(visible::active{}, random_calls(101), token);
  check_visibility(visible::active{}, random_cross_calls(102), token);
  CHECK(visible::active{}.hidden() == hides::padding);
}

TEST_CASE("active wastes no key of a padded batch", "[active]") {
  dice roll(103);
  for (int round = 0; round < 20; ++round) CHECK(wasted_keys(visible::active{}, random_padded(roll)) == 0);
}

}  // namespace
