// SPDX-License-Identifier: MIT
#include <posgeo/frequency/geometric.hpp>

#include <limits>

#include "support/catch.hpp"
#include "support/refusal.hpp"

namespace {

using namespace posgeo;
using namespace posgeo::test;

static_assert(frequency_rule<frequency::geometric>);

TEST_CASE("geometric speeds fall by one ratio from one", "[geometric]") {
  for (const index_t rotary_dim : {2, 6, 64, 96}) {
    const frequency::geometric rule({.base = 777.0, .rotary_dim = rotary_dim});
    REQUIRE(rule.pairs() == rotary_dim / 2);
    CHECK(rule.at(0) == 1.0);
    const double ratio = std::pow(777.0, -2.0 / static_cast<double>(rotary_dim));
    for (index_t pair = 1; pair < rule.pairs(); ++pair) {
      CHECK_THAT(rule.at(pair) / rule.at(pair - 1), WithinRel(ratio, 1e-14));
    }
  }
  CHECK_THAT(frequency::geometric({.base = 10000.0, .rotary_dim = 4}).at(1), WithinRel(0.01, 1e-15));
  CHECK(frequency::geometric({.base = 0.25, .rotary_dim = 4}).at(1) == 2.0);  // a base below 1 is a base
}

TEST_CASE("geometric refuses what gives no pairs or no numbers", "[geometric]") {
  const auto refused = [](double base, index_t rotary_dim) {
    return refusal([&] { return frequency::geometric({.base = base, .rotary_dim = rotary_dim}); }).code();
  };
  for (const index_t rotary_dim : {0, -2, 1, 7}) CHECK(refused(100.0, rotary_dim) == errc::odd_width);
  constexpr double infinite = std::numeric_limits<double>::infinity();
  for (const double base : {0.0, -10.0, infinite, std::numeric_limits<double>::quiet_NaN()}) {
    CHECK(refused(base, 8) == errc::frequency_settings);
  }
}

}  // namespace
