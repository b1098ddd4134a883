// SPDX-License-Identifier: MIT
#include "agreement/families.hpp"

namespace agreement_biases_test {

using namespace posgeo;
using namespace posgeo::test;
using Eigen::bfloat16;
using Eigen::half;

TEST_CASE("agreement of scores without a bias", "[agreement]") {
  expect_agreement<float, double, bfloat16, half>(small_scenes(), nope_member, 22);
  expect_agreement<float, double, bfloat16, half>(long_scenes(), nope_member, 5);
}

TEST_CASE("agreement of alibi", "[agreement]") {
  const auto family = [](const scene& where) { return family_member{model_of(where, alibi_of(where))}; };
  expect_agreement<float, double>(small_scenes(), family, 22);
  expect_agreement<float>(long_scenes(), family, 5);
}

TEST_CASE("agreement of alibi by key position", "[agreement]") {
  const auto family = [](const scene& where) { return family_member{model_of(where, alibi_key_position_of(where))}; };
  expect_agreement<float, double>(small_scenes(), family, 12);
  expect_agreement<float>(long_scenes(), family, 3);
}

TEST_CASE("agreement of t5", "[agreement]") {
  const auto family = [](const scene& where) { return family_member{model_of(where, t5_of(where))}; };
  expect_agreement<float, double, bfloat16, half>(small_scenes(), family, 22);
  expect_agreement<float>(long_scenes(), family, 5);
}

TEST_CASE("agreement of learned relative biases", "[agreement]") {
  const auto family = [](const scene& where) { return family_member{model_of(where, learned_relative_of(where))}; };
  expect_agreement<float, double>(small_scenes(), family, 22);
  expect_agreement<float>(long_scenes(), family, 5);
}

TEST_CASE("agreement of pair biases that remove keys", "[agreement]") {
  const auto family = [](const scene& where) {
    const pair_memory memory(where);
    return family_member{model_of(where, memory.policy()), {}, memory.values};
  };
  expect_agreement<float, double>(small_scenes(), family, 22);
  expect_agreement<float>(long_scenes(), family, 5);
}

TEST_CASE("agreement of the relative bias of tupe", "[agreement]") {
  const auto family = [](const scene& where) { return family_member{model_of(where, tupe_relative_of(where))}; };
  expect_agreement<float, double>(small_scenes(), family, 22);
  expect_agreement<float>(long_scenes(), family, 5);
}

}  // namespace agreement_biases_test
