// SPDX-License-Identifier: MIT
#include <posgeo/visible/everything.hpp>

#include "support/visibility.hpp"

namespace {

using namespace posgeo;
using namespace posgeo::test;

TEST_CASE("everything shows every key and promises nothing", "[everything]") {
  const auto always = [](const seen_pair&) { return true; };
  check_visibility(visible::everything{}, random_calls(111), always);
  check_visibility(visible::everything{}, random_cross_calls(112), always);
  CHECK(visible::everything{}.hidden() == hides::nothing);
}

}  // namespace
