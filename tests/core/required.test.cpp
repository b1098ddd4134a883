// SPDX-License-Identifier: MIT
#include <posgeo/core/required.hpp>

#include <concepts>
#include <type_traits>

#include "support/catch.hpp"

namespace {

using posgeo::required;

enum class choice { one, other };

TEST_CASE("a required field has no default and otherwise reads like its type", "[required]") {
  STATIC_REQUIRE(!std::is_default_constructible_v<required<choice>>);
  STATIC_REQUIRE(std::convertible_to<choice, required<choice>>);
  STATIC_REQUIRE(std::convertible_to<required<choice>, choice>);
  STATIC_REQUIRE(required<choice>{choice::other} == choice::other);
  STATIC_REQUIRE(required<int>{7} + 1 == 8);
  STATIC_REQUIRE(!std::convertible_to<double, required<long>>);
  STATIC_REQUIRE(std::convertible_to<int, required<double>>);
}

}  // namespace
