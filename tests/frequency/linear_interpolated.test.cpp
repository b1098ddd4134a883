// SPDX-License-Identifier: MIT
#include <posgeo/frequency/linear_interpolated.hpp>

#include <limits>

#include "support/catch.hpp"
#include "support/compare.hpp"
#include "support/frequencies.hpp"
#include "support/refusal.hpp"

namespace linear_interpolated_test {

using namespace posgeo;
using namespace posgeo::test;
using frequency::geometric;
using frequency::linear_interpolated;

static_assert(frequency_rule<linear_interpolated>);

TEST_CASE("linear interpolation divides every speed by the factor", "[linear_interpolated]") {
  const auto unscaled = speeds_of(geometric({.base = 900.0, .rotary_dim = 10}));
  const auto scaled = speeds_of(linear_interpolated({.base = 900.0, .rotary_dim = 10, .factor = 2.5}));
  REQUIRE(scaled.size() == 5);
  for (std::size_t pair = 0; pair < 5; ++pair) CHECK_THAT(2.5 * scaled[pair], WithinRel(unscaled[pair], 1e-15));
}

TEST_CASE("linear interpolation by one is geometric", "[linear_interpolated]") {
  CHECK(speeds_of(linear_interpolated({.base = 900.0, .rotary_dim = 14, .factor = 1.0})) ==
        speeds_of(geometric({.base = 900.0, .rotary_dim = 14})));
}

TEST_CASE("linear interpolation refuses a factor that is a reciprocal or no number", "[linear_interpolated]") {
  const auto refused = [](double base, index_t rotary_dim, double factor) {
    return refusal([&] { return linear_interpolated({.base = base, .rotary_dim = rotary_dim, .factor = factor}); })
        .code();
  };
  constexpr double infinite = std::numeric_limits<double>::infinity();
  for (const double factor : {0.25, 0.0, -4.0, infinite, std::numeric_limits<double>::quiet_NaN()}) {
    CHECK(refused(900.0, 8, factor) == errc::frequency_settings);
  }
  CHECK(refused(0.0, 8, 4.0) == errc::frequency_settings);
  CHECK(refused(900.0, 7, 4.0) == errc::odd_width);
}

}  // namespace linear_interpolated_test
