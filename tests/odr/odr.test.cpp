// SPDX-License-Identifier: MIT
#include <cmath>

#include "odr/report.hpp"
#include "support/catch.hpp"

namespace {

TEST_CASE("two translation units of one program agree on everything", "[odr]") {
  const auto first = posgeo::test::first_unit();
  const auto second = posgeo::test::second_unit();
  REQUIRE(first.numbers.size() > 100);
  CHECK(first.numbers == second.numbers);
  for (const double number : first.numbers) CHECK_FALSE(std::isnan(number));
  CHECK(first.addresses == second.addresses);
}

}  // namespace
