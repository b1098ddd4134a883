// SPDX-License-Identifier: MIT
#include <posgeo/visible/custom.hpp>

#include "support/visibility.hpp"

namespace {

using namespace posgeo;
using namespace posgeo::test;

TEST_CASE("a custom rule is asked about the call it is bound to", "[custom]") {
  const visible::custom every_third{[](const position_call& call, batch_index b, query_index i, key_index j) {
    return call.active(b, j) && (call.at(b, j).value() - call.at(b, i).value()) % 3 == 0;
  }};
  check_visibility(every_third, random_calls(151), [](const seen_pair& pair) {
    return pair.key_active && (pair.key_position - pair.query_position) % 3 == 0;
  });
}

TEST_CASE("a custom rule promises what its owner says and nothing by itself", "[custom]") {
  const auto see = [](const position_call& call, batch_index b, query_index, key_index j) { return call.active(b, j); };
  CHECK(visible::custom{see}.hidden() == hides::nothing);
  const visible::custom honest{see, hides::padding};
  CHECK(honest.hidden() == hides::padding);
  check_visibility(honest, random_cross_calls(152), [](const seen_pair& pair) { return pair.key_active; });
}

}  // namespace
