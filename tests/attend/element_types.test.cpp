// SPDX-License-Identifier: MIT
#include <posgeo/attend/eager.hpp>
#include <posgeo/bias/alibi.hpp>
#include <posgeo/call/padded_batch.hpp>
#include <posgeo/core/precision.hpp>
#include <posgeo/model/attention.hpp>
#include <posgeo/scale/inverse_sqrt_head_dim.hpp>
#include <posgeo/scale/none.hpp>
#include <posgeo/visible/active.hpp>
#include <posgeo/visible/causal.hpp>
#include <posgeo/visible/everything.hpp>

#include <algorithm>
#include <cmath>

#include "support/attention_inputs.hpp"
#include "support/calls.hpp"
#include "support/catch.hpp"
#include "support/compare.hpp"
#include "support/refusal.hpp"
#include "support/toy_policies.hpp"

namespace element_types_test {

using namespace posgeo;
using namespace posgeo::test;
using Eigen::bfloat16;
using Eigen::half;

static_assert(stored_as<float, float> && stored_as<bfloat16, float> && stored_as<half, float>);
static_assert(stored_as<double, double>);
static_assert(!stored_as<double, float> && !stored_as<float, double>);
static_assert(!stored_as<bfloat16, double> && !stored_as<half, double> && !stored_as<half, bfloat16>);

template <class E>
constexpr precision format_of = std::is_same_v<E, half> ? precision::binary16 : precision::bfloat16;

const std::vector<index_t> lengths{2, 5, 1};
constexpr heads layout{.query = 6, .key_value = 2, .dim = 7};
constexpr index_t width = 3;

/// Two left-padded entries and a full one, with a transform, a content term, a bias and a value term.
auto the_plan() {
  const position_call call = call::padded_batch({.lengths = lengths,
                                                 .rows = 5,
                                                 .side = call::padding_side::left,
                                                 .positions = call::padded_positions::contiguous(11)});
  return attention{layout,
                   scale::inverse_sqrt_head_dim{},
                   visible::active{},
                   visible::causal{},
                   toy_transform{},
                   toy_content{},
                   bias::alibi(bias::alibi_slopes::reference(6), bias::alibi_direction::causal),
                   toy_value{}}
      .compile<float>(call);
}

template <class To, class From>
tensor<To, 4> converted(const tensor<From, 4>& from) {
  tensor<To, 4> to(from.extents());
  std::transform(from.values().begin(), from.values().end(), to.values().begin(),
                 [](From x) { return static_cast<To>(x); });
  return to;
}

TEMPLATE_TEST_CASE("numbers stored in 16 bits give what the same numbers give in float", "[element_types]", bfloat16,
                   half) {
  const auto plan = the_plan();
  const attention_inputs<TestType> in(layout, plan.call(), width, 311);
  const auto query = converted<float>(in.query);
  const auto key = converted<float>(in.key);
  const auto value = converted<float>(in.value);
  const auto expected = attend(eager{}, plan, {query.view(), key.view(), value.view()}, also::everything);
  const attention_inputs<float> unrounded(layout, plan.call(), width, 311);
  CHECK(largest_difference(query.values(), unrounded.query.values()) > 1e-4);  // storing did round

  const attention_result<float> owned = attend(eager{}, plan, in.view(), also::everything);
  CHECK(largest_difference(owned.output.values(), expected.output.values()) == 0.0);
  CHECK(largest_difference(owned.log_sum_exp.values(), expected.log_sum_exp.values()) == 0.0);
  CHECK(largest_difference(owned.scores.values(), expected.scores.values()) == 0.0);
  CHECK(largest_difference(owned.probabilities.values(), expected.probabilities.values()) == 0.0);

  tensor<float, 4> in_float(expected.output.extents());
  attend(eager{}, plan, in.view(), {in_float.view()});
  CHECK(largest_difference(in_float.values(), expected.output.values()) == 0.0);
}

TEMPLATE_TEST_CASE("an output in 16 bits is the one in float rounded once", "[element_types]", bfloat16, half) {
  const auto plan = the_plan();
  const attention_inputs<TestType> in(layout, plan.call(), width, 312);
  const auto expected = attend(eager{}, plan, in.view(), also::log_sum_exp);
  const index_t rows = plan.call().queries();
  attention_result<float, TestType> result{
      tensor<TestType, 4>({3, 6, rows, width}), tensor<float, 3>({3, 6, rows}), {}, {}};
  tensor<TestType, 4> by_rows({3, rows, 6, width});
  attend(eager{}, plan, in.view(), attention_output<float, TestType>{result.output.view(), result.log_sum_exp.view()});
  attend(eager{}, plan, in.view(),
         attention_output<float, TestType>{rows_first(by_rows.values().data(), 3, rows, 6, width)});
  CHECK(largest_difference(result.log_sum_exp.values(), expected.log_sum_exp.values()) == 0.0);
  for (index_t b = 0; b < 3; ++b) {
    for (index_t h = 0; h < 6; ++h) {
      for (index_t i = 0; i < rows; ++i) {
        for (index_t d = 0; d < width; ++d) {
          const double once = round_to(format_of<TestType>, static_cast<double>(expected.output(b, h, i, d)));
          REQUIRE(static_cast<double>(result.output(b, h, i, d)) == once);
          REQUIRE(static_cast<double>(by_rows(b, i, h, d)) == once);
        }
      }
    }
  }
}

TEST_CASE("an output too large for its type is infinite and NaN stays NaN", "[element_types]") {
  const position_call call = call_at({4, 2}, {7, 1, 3});
  const auto plan = attention{heads{}, scale::none{}, visible::everything{}, toy_value{}}.compile<float>(call);
  const tensor<half, 4> query({1, 1, 2, 1});
  tensor<half, 4> value({1, 1, 3, 1});
  const auto output_of = [&](float number) {  // the value term adds a third of 10 + 20 + 30
    for (half& v : value.values()) v = static_cast<half>(number);
    tensor<half, 4> out({1, 1, 2, 1});
    attend(eager{}, plan, qkv<half>{query.view(), value.view(), value.view()},
           attention_output<float, half>{out.view()});
    return static_cast<float>(out(0, 0, 1, 0));
  };
  CHECK(output_of(65472.0f) == 65504.0f);
  CHECK(output_of(-65504.0f) == -65472.0f);
  CHECK(output_of(65504.0f) == INFINITY);
  CHECK(std::isnan(output_of(NAN)));
}

TEMPLATE_TEST_CASE("tensors of 16 bits are held against the plan and against one another", "[element_types]", bfloat16,
                   half) {
  const position_call call = call_at({4, 2}, {7, 1, 3});
  const auto plan = attention{heads{.dim = 2}, scale::none{}, visible::everything{}}.compile<float>(call);
  std::vector<TestType> memory(40);
  const auto part = [&](index_t at, index_t rows, index_t dim) {
    return heads_first(memory.data() + at, 1, 1, rows, dim);
  };
  const auto run = [&](index_t query_rows, index_t value_at, index_t output_at, index_t output_dim) {
    attend(eager{}, plan, qkv<TestType>{part(0, query_rows, 2), part(8, 3, 2), part(value_at, 3, 2)},
           attention_output<float, TestType>{part(output_at, 2, output_dim)});
  };
  CHECK_NOTHROW(run(2, 16, 24, 2));
  CHECK(refusal([&] { run(3, 16, 24, 2); }).code() == errc::shape_mismatch);
  CHECK(refusal([&] { run(2, 16, 24, 3); }).code() == errc::shape_mismatch);
  CHECK(refusal([&] { run(2, 16, 21, 2); }).code() == errc::memory_overlap);
  CHECK(refusal([&] { run(2, 16, 3, 2); }).code() == errc::memory_overlap);
}

}  // namespace element_types_test
