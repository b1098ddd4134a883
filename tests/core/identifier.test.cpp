// SPDX-License-Identifier: MIT
#include <posgeo/core/identifier.hpp>

#include <concepts>
#include <type_traits>

#include "support/catch.hpp"
#include "support/refusal.hpp"

namespace identifier_test {

using namespace posgeo;

TEST_CASE("an identifier is compared with its own kind alone", "[identifier]") {
  CHECK(release_id("7") == release_id("7"));
  CHECK_FALSE(release_id("7") == release_id("07"));
  CHECK(adapter_id("none").name() == "none");
  STATIC_REQUIRE(!std::equality_comparable_with<release_id, checkpoint_id>);
  STATIC_REQUIRE(!std::constructible_from<adapter_id, cache_salt>);
  STATIC_REQUIRE(!std::convertible_to<std::string, request_id>);
  STATIC_REQUIRE(!std::is_default_constructible_v<backend_id>);
}

TEST_CASE("an identifier without a character is refused", "[identifier]") {
  const error refused = test::refusal([] { return checkpoint_id(""); });
  CHECK(refused.code() == errc::missing_value);
  CHECK(std::string(refused.what()) == "identifier, characters: expected at least 1, got 0");
}

}  // namespace identifier_test
