// SPDX-License-Identifier: MIT
#include "agreement/families.hpp"

namespace agreement_combinations_test {

using namespace posgeo;
using namespace posgeo::test;
using Eigen::bfloat16;
using Eigen::half;

TEST_CASE("agreement of rotary", "[agreement]") {
  const auto family = [](const scene& where) { return family_member{model_of(where, rotary_of(where))}; };
  expect_agreement<float, double, bfloat16>(small_scenes(), family, 22);
  expect_agreement<float>(long_scenes(), family, 5);
}

TEST_CASE("agreement of t5 under a softcap before or after it", "[agreement]") {
  const auto family = [](const scene& where) {
    return family_member{model_of(where, t5_of(where), softcap_of(where))};
  };
  expect_agreement<float, double>(small_scenes(), family, 22);
  expect_agreement<float>(long_scenes(), family, 5);
}

TEST_CASE("agreement of a sink", "[agreement]") {
  const auto family = [](const scene& where) { return family_member{model_of(where, sink_of(where))}; };
  expect_agreement<float, bfloat16>(small_scenes(), family, 22);
  expect_agreement<float>(long_scenes(), family, 5);
}

TEST_CASE("agreement of t5 with shaw and rotary", "[agreement]") {
  expect_agreement<float, double, bfloat16, half>(small_scenes(), t5_shaw_rotary_member, 22);
  expect_agreement<float>(long_scenes(), t5_shaw_rotary_member, 5);
}

TEST_CASE("agreement of deberta with a pair bias", "[agreement]") {
  const auto family = [](const scene& where) {
    const auto parts = deberta_of(where);
    const pair_memory memory(where);
    return family_member{model_of(where, parts.policy, memory.policy()), parts.sizes, memory.values};
  };
  expect_agreement<float, bfloat16>(small_scenes(), family, 22);
  expect_agreement<float>(long_scenes(), family, 5);
}

TEST_CASE("agreement of tupe with its relative bias", "[agreement]") {
  const auto family = [](const scene& where) {
    const auto parts = tupe_of(where, content::tupe_cls::released(position{0}));
    return family_member{model_of(where, parts.policy, tupe_relative_of(where)), parts.sizes};
  };
  expect_agreement<float>(small_scenes(), family, 21);
  expect_agreement<float>(long_scenes(), family, 5);
}

TEST_CASE("agreement of everything at once", "[agreement]") {
  expect_agreement<float, double, bfloat16, half>(small_scenes(), everything_member, 21);
  expect_agreement<float>(long_scenes(), everything_member, 5);
}

/// Makes one key NaN, key and value, of which not every query knows: the queries that see it become NaN, as they must,
/// and no other changes.
template <class E, class Family>
void expect_nan_where_seen(const scene& where, const Family& family) {
  using T = computed_in<E>;
  const auto member = family(where);
  const stored_inputs<E> in(where, 7);
  const auto exact_plan = member.model.template compile<double>(where.call);
  const auto expected = expected_of(exact_plan, in, member.sizes, roundings_of<E, T>());
  const auto plan = member.model.template compile<T>(where.call);
  for (const index_t chosen : {where.call.keys() / 3, where.call.keys() - 1}) {
    CAPTURE(where.name, chosen, sizeof(E));
    measured got = run_guarded<E, T>(
        executor_under_test{}, plan, where, in, [&](index_t, index_t j) { return j == chosen; }, where.number);
    for (index_t b = 0; b < where.call.batch(); ++b) {
      for (index_t h = 0; h < where.layout.query; ++h) {
        for (index_t i = 0; i < where.call.queries(); ++i) {
          if (!where.call.active(batch_index{b}, query_index{i})) continue;
          if (expected.exact.scores(b, h, i, chosen) == -std::numeric_limits<double>::infinity()) continue;
          CAPTURE(b, h, i);
          for (double& value : got.output.view().row(b, h, i)) {
            REQUIRE(std::isnan(value));
            value = 0.0;
          }
          REQUIRE(std::isnan(got.log_sum_exp(b, h, i)));
          std::ranges::copy(expected.exact.output.view().row(b, h, i), got.output.view().row(b, h, i).begin());
          got.log_sum_exp(b, h, i) = expected.exact.log_sum_exp(b, h, i);
        }
      }
    }
    CHECK(largest_output_error(where, expected, got.output, got.log_sum_exp, roundings_of<E, T>()) <= 1.0);
  }
}

TEST_CASE("a NaN that some queries see reaches these and no other", "[agreement]") {
  for (const std::size_t n : {std::size_t{1}, std::size_t{8}, std::size_t{12}, std::size_t{15}, std::size_t{17}}) {
    expect_nan_where_seen<float>(small_scenes()[n], nope_member);
    expect_nan_where_seen<float>(small_scenes()[n], t5_shaw_rotary_member);
    expect_nan_where_seen<bfloat16>(small_scenes()[n], t5_shaw_rotary_member);
    expect_nan_where_seen<float>(small_scenes()[n], everything_member);
  }
  expect_nan_where_seen<float>(long_scenes()[0], nope_member);
  expect_nan_where_seen<float>(long_scenes()[4], t5_shaw_rotary_member);
}

/// The output stored in the type of the inputs is rounded once more, and nothing else changes.
template <class E>
void expect_rounded_output(const scene& where) {
  const auto member = nope_member(where);
  const auto plan = member.model.compile(where.call);
  const stored_inputs<E> in(where, 17);
  const auto nothing = [](index_t, index_t) { return false; };
  const measured wide = run_guarded<E, float>(executor_under_test{}, plan, where, in, nothing, where.number);
  const measured narrow = run_guarded<E, E>(executor_under_test{}, plan, where, in, nothing, where.number);
  CAPTURE(where.name);
  CHECK(std::ranges::equal(wide.log_sum_exp.values(), narrow.log_sum_exp.values()));
  const auto twice = [](double value) {
    return static_cast<double>(static_cast<float>(static_cast<E>(static_cast<float>(value))));
  };
  CHECK(std::ranges::equal(wide.output.values(), narrow.output.values(), {}, twice));
}

TEST_CASE("an output in a 16-bit format is the float output rounded once", "[agreement]") {
  for (const std::size_t n : {std::size_t{0}, std::size_t{6}, std::size_t{14}}) {
    expect_rounded_output<bfloat16>(small_scenes()[n]);
    expect_rounded_output<half>(small_scenes()[n]);
  }
}

}  // namespace agreement_combinations_test
