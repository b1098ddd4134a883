// SPDX-License-Identifier: MIT
#include <posgeo/core/required.hpp>

#include <concepts>
#include <string>
#include <type_traits>

#include "support/catch.hpp"

namespace {

using posgeo::required;

enum class choice { one, other };

struct counted {
  operator int() const { return 3; }
};
struct measured : required<double> {
  using required::required;
};

TEST_CASE("a required field has no default and otherwise reads like its type", "[required]") {
  STATIC_REQUIRE(!std::is_default_constructible_v<required<choice>>);
  STATIC_REQUIRE(std::convertible_to<choice, required<choice>>);
  STATIC_REQUIRE(std::convertible_to<required<choice>, choice>);
  STATIC_REQUIRE(required<choice>{choice::other} == choice::other);
  STATIC_REQUIRE(required<int>{7} + 1 == 8);
  STATIC_REQUIRE(!std::convertible_to<double, required<long>>);
  STATIC_REQUIRE(std::convertible_to<int, required<double>>);
  STATIC_REQUIRE(std::convertible_to<unsigned long, required<long>>);
  STATIC_REQUIRE(std::convertible_to<required<long>, required<long>>);
  STATIC_REQUIRE(std::convertible_to<required<int>, required<long>>);
  STATIC_REQUIRE(std::convertible_to<required<long>, required<double>>);
  STATIC_REQUIRE(std::convertible_to<counted, required<long>>);
}

TEST_CASE("a count takes no fraction out of another required field either", "[required]") {
  STATIC_REQUIRE(!std::convertible_to<required<double>, required<long>>);
  STATIC_REQUIRE(!std::convertible_to<const required<float>&, required<long>>);
  STATIC_REQUIRE(!std::convertible_to<measured, required<long>>);
  STATIC_REQUIRE(!std::constructible_from<required<long>, required<double>>);
}

TEST_CASE("a required text or list is read in place", "[required]") {
  STATIC_REQUIRE(!std::is_default_constructible_v<required<std::string>>);
  STATIC_REQUIRE(std::same_as<required<std::string>::read, const std::string&>);
  STATIC_REQUIRE(std::same_as<required<choice>::read, choice>);
  const required<std::string> field = "a text beyond what is kept in place";
  const std::string& whole = field;
  CHECK(whole == "a text beyond what is kept in place");
  CHECK(&whole == &field.value());
}

}  // namespace
