// SPDX-License-Identifier: MIT
#include <posgeo/frequency/proportional.hpp>

#include "support/catch.hpp"
#include "support/refusal.hpp"

namespace {

using namespace posgeo;
using namespace posgeo::test;

static_assert(frequency_rule<frequency::proportional>);

TEST_CASE("proportional speeds are those of the whole head and stop", "[proportional]") {
  const frequency::geometric whole({.base = 5000.0, .rotary_dim = 14});
  const frequency::geometric partial({.base = 5000.0, .rotary_dim = 6});
  const frequency::proportional rule({.base = 5000.0, .rotary_dim = 6, .head_dim = 14});
  REQUIRE(rule.pairs() == 7);
  for (index_t pair = 0; pair < 7; ++pair) CHECK(rule.at(pair) == (pair < 3 ? whole.at(pair) : 0.0));
  for (index_t pair = 1; pair < 3; ++pair) CHECK(rule.at(pair) > 1.5 * partial.at(pair));
}

TEST_CASE("proportional equals geometric when the whole head turns", "[proportional]") {
  const frequency::geometric whole({.base = 5000.0, .rotary_dim = 10});
  const frequency::proportional rule({.base = 5000.0, .rotary_dim = 10, .head_dim = 10});
  REQUIRE(rule.pairs() == whole.pairs());
  for (index_t pair = 0; pair < 5; ++pair) CHECK(rule.at(pair) == whole.at(pair));
}

TEST_CASE("proportional refuses widths that do not fit and a bad base", "[proportional]") {
  const auto refused = [](double base, index_t rotary_dim, index_t head_dim) {
    return refusal(
               [&] { return frequency::proportional({.base = base, .rotary_dim = rotary_dim, .head_dim = head_dim}); })
        .code();
  };
  CHECK(refused(10.0, 4, 7) == errc::odd_width);
  CHECK(refused(10.0, 3, 8) == errc::odd_width);
  CHECK(refused(10.0, 10, 8) == errc::odd_width);
  CHECK(refused(10.0, 0, 8) == errc::odd_width);
  CHECK(refused(0.0, 4, 8) == errc::frequency_settings);
}

}  // namespace
