// SPDX-License-Identifier: MIT
#include <posgeo/call/cross_attention.hpp>
#include <posgeo/visible/active.hpp>
#include <posgeo/visible/all_of.hpp>
#include <posgeo/visible/any_of.hpp>
#include <posgeo/visible/causal.hpp>
#include <posgeo/visible/custom.hpp>
#include <posgeo/visible/everything.hpp>

#include "agreement/families.hpp"

namespace agreement_visibility_test {

using namespace posgeo;
using namespace posgeo::test;

/// An attention that has nothing but the given visibilities.
template <class... See>
auto seeing(const scene& where, See... see) {
  return family_member{attention{where.layout, scale::inverse_sqrt_terms{}, std::move(see)...}};
}

TEST_CASE("agreement of everything visible", "[agreement]") {
  const auto family = [](const scene& where) { return seeing(where, visible::everything{}); };
  expect_agreement<float>(small_scenes(), family, 14);
}

TEST_CASE("agreement of active keys", "[agreement]") {
  const auto family = [](const scene& where) { return seeing(where, visible::active{}); };
  expect_agreement<float>(small_scenes(), family, 20);
}

TEST_CASE("agreement of causal visibility in segments", "[agreement]") {
  const auto family = [](const scene& where) { return seeing(where, visible::causal{}, visible::segments{}); };
  expect_agreement<float>(small_scenes(), family, 22);
  expect_agreement<float>(long_scenes(), family, 5);
}

TEST_CASE("agreement of parts that must all show a key", "[agreement]") {
  const auto family = [](const scene& where) {
    return seeing(where, visible::all_of(where.see, visible::segments{}, visible::active{}));
  };
  expect_agreement<float>(small_scenes(), family, 22);
}

TEST_CASE("agreement of parts of which one must show a key", "[agreement]") {
  const auto family = [](const scene& where) {
    return seeing(where,
                  visible::any_of(visible::window{.behind = 4, .ahead = 2}, visible::window{.behind = 40, .ahead = 0}),
                  visible::segments{});
  };
  expect_agreement<float>(small_scenes(), family, 22);
  expect_agreement<float>(long_scenes(), family, 5);
}

TEST_CASE("agreement of a rule of the caller's", "[agreement]") {
  const auto family = [](const scene& where) {
    const auto see = [](const position_call& call, batch_index b, query_index i, key_index j) {
      const index_t mixed = 31 * call.at(b, i).value() + 17 * call.at(b, j).value() + 5 * b.value();
      return mixed % 3 == 0 && call.active(b, j) && call.sequence(b, i) == call.sequence(b, j);
    };
    return seeing(where, visible::custom(see, hides::padding | hides::other_segments));
  };
  expect_agreement<float>(small_scenes(), family, 22);
  expect_agreement<float>(long_scenes(), family, 5);
}

TEST_CASE("agreement across two frames", "[agreement]") {
  const std::vector<index_t> targets{9, 0, 4};
  const std::vector<index_t> sources{31, 12, 0};
  const std::vector<scene> scenes{
      {"cross-attention, 4 heads on 2",
       {4, 2, 20},
       24,
       call::cross_attention(
           {.target_lengths = targets, .source_lengths = sources, .target_rows = 9, .source_rows = 33}),
       {.behind = 0, .ahead = 0},
       0}};
  expect_agreement<float>(
      scenes, [](const scene& where) { return seeing(where, visible::active{}); }, 1);
}

}  // namespace agreement_visibility_test
