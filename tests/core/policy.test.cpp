// SPDX-License-Identifier: MIT
#include <posgeo/call/decode_step.hpp>
#include <posgeo/core/policy.hpp>

#include "support/catch.hpp"
#include "support/refusal.hpp"

namespace {

using namespace posgeo;
using posgeo::test::refusal;

struct tagged {
  using family = posgeo::family::score_bias;
};
struct untagged {};
struct tagged_but_unique {
  using family = posgeo::family::score_bias;
  tagged_but_unique() = default;
  tagged_but_unique(tagged_but_unique&&) = default;
};
struct wants_four_heads {
  using family = posgeo::family::score_bias;
  void check(const position_call&, const heads& layout, violations& found) const {
    found.expect(layout.query == 4, errc::head_count, "policy", "heads", 4, layout.query);
  }
};

TEST_CASE("a policy is copyable and carries the tag of its family", "[policy]") {
  STATIC_REQUIRE(member_of<tagged, family::score_bias>);
  STATIC_REQUIRE(!member_of<tagged, family::visibility>);
  STATIC_REQUIRE(!member_of<untagged, family::score_bias>);
  STATIC_REQUIRE(!member_of<tagged_but_unique, family::score_bias>);
}

TEST_CASE("a policy with a check is held against it and one without always fits", "[policy]") {
  const position_call call = call::decode_step(3, 3);
  const auto fit = [&](const auto& policy, index_t query_heads) {
    require_fit(policy, call, {.query = query_heads, .key_value = 1, .dim = 8});
  };
  CHECK_NOTHROW(fit(wants_four_heads{}, 4));
  CHECK(refusal([&] { fit(wants_four_heads{}, 5); }).code() == errc::head_count);
  CHECK_NOTHROW(fit(tagged{}, 5));
}

}  // namespace
