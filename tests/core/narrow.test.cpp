// SPDX-License-Identifier: MIT
#include <posgeo/core/narrow.hpp>

#include <cmath>
#include <vector>

#include "support/catch.hpp"
#include "support/refusal.hpp"

namespace {

using namespace posgeo;
using posgeo::test::refusal;

TEST_CASE("a finite number stays finite in a narrower type", "[narrow]") {
  CHECK(finite_cast<float>(1e300) == std::numeric_limits<float>::max());
  CHECK(finite_cast<float>(-1e300) == std::numeric_limits<float>::lowest());
  CHECK(finite_cast<float>(-0.1) == -0.1F);
  CHECK(finite_cast<double>(-1e300) == -1e300);
  CHECK(fits<float>(3.4e38));
  CHECK_FALSE(fits<float>(3.5e38));
  CHECK_FALSE(fits<float>(-1e39));
  CHECK_FALSE(fits<float>(std::nan("")));
}

TEST_CASE("a table with a number too large for the plan is refused", "[narrow]") {
  const std::vector<double> values{0.0, -1e39};
  CHECK(refusal([&] { require_fits<float>(std::span<const double>(values), "table"); }).code() == errc::non_finite);
  CHECK_NOTHROW(require_fits<double>(std::span<const double>(values), "table"));
}

}  // namespace
