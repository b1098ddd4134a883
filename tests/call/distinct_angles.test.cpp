// SPDX-License-Identifier: MIT
#include <posgeo/call/distinct_angles.hpp>

#include "support/call_rows.hpp"
#include "support/calls.hpp"
#include "support/catch.hpp"
#include "support/refusal.hpp"

namespace {

using namespace posgeo;
using posgeo::test::codes;
using posgeo::test::numbers;

TEST_CASE("angles are refused for a space with one position beyond what a double tells apart", "[distinct_angles]") {
  const auto refused = [](const numbers& at, index_t offset) {
    violations found;
    expect_distinct_angles(posgeo::test::call_at(at).key_space(), offset, "rotary", found);
    return codes(found);
  };
  constexpr index_t last = angle_position_limit;
  CHECK(refused({3, last, -last, 0}, 0).empty());
  CHECK(refused({3, last - 2, -last}, 2).empty());
  CHECK(refused({3, last, 0}, 1) == std::vector{errc::position_precision});
  CHECK(refused({3, -last, 0}, -1) == std::vector{errc::position_precision});
  CHECK(refused({-last - 1, 0, last + 1}, 0) == std::vector{errc::position_precision, errc::position_precision});
}

}  // namespace
