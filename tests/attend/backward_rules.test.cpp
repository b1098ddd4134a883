// SPDX-License-Identifier: MIT
#include <posgeo/bias/alibi.hpp>
#include <posgeo/bias/learned_relative.hpp>
#include <posgeo/bias/pair.hpp>
#include <posgeo/bias/t5.hpp>
#include <posgeo/call/explicit_positions.hpp>
#include <posgeo/call/padded_batch.hpp>
#include <posgeo/call/prefill_chunk.hpp>
#include <posgeo/content/shaw_key.hpp>
#include <posgeo/model/attention.hpp>
#include <posgeo/scale/inverse_sqrt_head_dim.hpp>
#include <posgeo/scale/none.hpp>
#include <posgeo/scale/sink.hpp>
#include <posgeo/value/shaw_value.hpp>
#include <posgeo/visible/active.hpp>
#include <posgeo/visible/causal.hpp>
#include <posgeo/visible/everything.hpp>

#include <cmath>
#include <limits>

#include "support/calls.hpp"
#include "support/finite_differences.hpp"
#include "support/refusal.hpp"
#include "support/toy_policies.hpp"
#include "support/uneven_call.hpp"

// What must hold of gradients whatever the numbers, counted by hand.
namespace backward_rules_test {

using namespace posgeo;
using namespace posgeo::test;

constexpr heads pair_of_heads{.query = 2, .key_value = 1, .dim = 3};
constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr index_t far = 3;

double total(std::span<const double> row) {
  double sum = 0.0;
  for (const double x : row) sum += x;
  return sum;
}

/// The gradient of every pair's score, by a bias of one number for each pair: [batch, heads, queries, keys].
template <class... Policies>
table_gradient<double> gradient_of_pairs(const heads& layout, const position_call& call, const qkv<double>& in,
                                         const tensor<double, 4>& d_output, const Policies&... policies) {
  const tensor<double, 4> zero({call.batch(), layout.query, call.queries(), call.keys()});
  const attention model(layout, scale::none{}, bias::pair(zero.view()), policies...);
  auto result = run_backward_of(model.template compile<double>(call), in, d_output);
  return result.learned.bias()[0];
}

TEST_CASE("a clipped end row gets all offsets beyond it and an inner row its own", "[backward]") {
  const auto call = call_at({4, 9}, {0, 1, 3, 5, 8, 13});
  const auto classes = coordinate::clipped::symmetric(far);
  const attention_inputs<double> in(pair_of_heads, call, 2, 401);
  const auto d_output = random_tensor<double, 4>({1, 2, 2, 2}, 402);
  const bias::learned_relative<double, coordinate::clipped> policy(random_table(7, 2, 403), classes);
  const attention model(pair_of_heads, scale::none{}, policy, visible::everything{});
  auto result = run_backward_of(model.compile<double>(call), in.view(), d_output);
  const auto of_pairs = gradient_of_pairs(pair_of_heads, call, in.view(), d_output, policy, visible::everything{});
  const auto& table = result.learned.bias().at("table");
  const index_t at_query[] = {4, 9};
  const index_t at_key[] = {0, 1, 3, 5, 8, 13};
  for (index_t h = 0; h < 2; ++h) {
    std::array<double, 7> by_hand{};
    for (index_t i = 0; i < 2; ++i) {
      for (index_t j = 0; j < 6; ++j) {
        const index_t offset = at_key[j] - at_query[i];
        const index_t row = offset <= -3 ? 0 : offset >= 3 ? 6 : offset + 3;
        by_hand[static_cast<std::size_t>(row)] += of_pairs(h * 2 + i, j);
      }
    }
    for (index_t row = 0; row < 7; ++row) {
      CHECK(std::abs(table(row, h) - by_hand[static_cast<std::size_t>(row)]) < 1e-14);
    }
    CHECK(std::abs(by_hand[0]) > 1e-3);
    CHECK(std::abs(by_hand[6]) > 1e-3);
  }
  CHECK(table.touched_rows() == std::vector<index_t>{0, 2, 4, 6});  // offsets -4 -3 -1 1 4 9 and -9 -8 -6 -4 -1 4
}

TEST_CASE("the scores of a row without a sink lose as much as they gain", "[backward]") {
  const auto call = uneven_call();
  const attention_inputs<double> in(pair_of_heads, call, 4, 404);
  const auto d_output = random_tensor<double, 4>({2, 2, 3, 4}, 405);
  const auto of_pairs =
      gradient_of_pairs(pair_of_heads, call, in.view(), d_output, visible::active{}, visible::causal{});
  for (index_t row = 0; row < of_pairs.rows(); ++row) CHECK(std::abs(total(of_pairs.row(row))) < 1e-13);
  const auto with_sink = gradient_of_pairs(pair_of_heads, call, in.view(), d_output, visible::active{},
                                           visible::causal{}, scale::sink({0.4, -0.1}));
  CHECK(std::abs(total(with_sink.row(0))) > 1e-3);
}

TEST_CASE("hidden pairs and rows that see nothing give exactly nothing", "[backward]") {
  // Entry 0 has two tokens and two rows of padding on the left; its padded queries see no key.
  const std::array<index_t, 2> lengths{2, 4};
  const auto call = call::padded_batch({.lengths = lengths,
                                        .rows = 4,
                                        .side = call::padding_side::left,
                                        .positions = call::padded_positions::contiguous()});
  const auto classes = coordinate::clipped::symmetric(1);
  const auto model = [&](const auto&... more) {
    return attention(pair_of_heads, scale::inverse_sqrt_head_dim{},
                     content::shaw_key<double>(head_tables<double>::shared(random_table(3, 3, 406)), classes),
                     value::shaw_value<double>(head_tables<double>::shared(random_table(3, 2, 407)), classes),
                     bias::alibi(bias::alibi_slopes::reference(2), bias::alibi_direction::causal), visible::active{},
                     visible::causal{}, more...);
  };
  attention_inputs<double> in(pair_of_heads, call, 2, 408);
  auto d_output = random_tensor<double, 4>({2, 2, 4, 2}, 409);
  for (index_t h = 0; h < 2; ++h) {
    for (index_t row = 0; row < 2; ++row) {  // padding: whatever it holds
      in.query(0, h, row, 1) = nan;
      in.key(0, 0, row, 0) = nan;
      in.value(0, 0, row, 1) = nan;
      d_output(0, h, row, 0) = nan;
    }
  }
  const auto check = [&](const auto& plan) {
    auto result = run_backward_of(plan, in.view(), d_output);
    for (index_t row = 0; row < 2; ++row) {
      CHECK(all_equal(result.query.view().row(0, 0, row), 0.0));
      CHECK(all_equal(result.query.view().row(0, 1, row), 0.0));
      CHECK(all_equal(result.key.view().row(0, 0, row), 0.0));
      CHECK(all_equal(result.value.view().row(0, 0, row), 0.0));
    }
    const auto all_finite = [](std::span<const double> values) {
      return std::all_of(values.begin(), values.end(), [](double x) { return std::isfinite(x); });
    };
    CHECK(all_finite(result.query.values()));
    CHECK(all_finite(result.key.values()));
    CHECK(all_finite(result.value.values()));
    result.learned.each_table([&](const auto& table) { CHECK(all_finite(table.values())); });
    CHECK(result.learned.content().at("table").touched_rows() == std::vector<index_t>{0, 1});  // never one ahead
  };
  check(model().template compile<double>(call));
  check(model(scale::sink({0.2, -3.0})).template compile<double>(call));
}

TEST_CASE("a bias of minus infinity removes its key from the gradients", "[backward]") {
  const auto call = call_at({2}, {0, 1, 2});
  tensor<double, 4> penalty({1, 1, 1, 3});
  penalty(0, 0, 0, 1) = -std::numeric_limits<double>::infinity();
  const attention model(pair_of_heads, scale::none{}, bias::pair(std::as_const(penalty).view()), visible::everything{});
  attention_inputs<double> in(pair_of_heads, call, 2, 410);
  in.value(0, 0, 1, 0) = nan;
  const auto result =
      run_backward_of(model.compile<double>(call), in.view(), random_tensor<double, 4>({1, 2, 1, 2}, 411));
  CHECK(all_equal(result.key.view().row(0, 0, 1), 0.0));
  CHECK(all_equal(result.value.view().row(0, 0, 1), 0.0));
  CHECK(std::isfinite(total(result.query.values())));
}

TEST_CASE("detached memory gets exactly nothing and leaves the rest alone", "[backward]") {
  const auto call = uneven_call();  // 5 and 2 key rows of earlier calls
  const auto classes = coordinate::clipped::symmetric(2);
  const attention model(pair_of_heads, scale::none{},
                        content::shaw_key<double>(head_tables<double>::shared(random_table(5, 3, 412)), classes),
                        visible::active{}, visible::causal{});
  const auto plan = model.compile<double>(call);
  const attention_inputs<double> in(pair_of_heads, call, 2, 413);
  const auto d_output = random_tensor<double, 4>({2, 2, 3, 2}, 414);
  auto attached = run_backward_of(plan, in.view(), d_output);
  auto detached = run_backward_of(plan, in.view(), d_output, call::memory_gradient::detached);
  CHECK(largest_difference(attached.query.values(), detached.query.values()) == 0.0);
  CHECK(largest_difference(attached.learned.content()[0].values(), detached.learned.content()[0].values()) == 0.0);
  const index_t past[] = {5, 2};
  for (index_t b = 0; b < 2; ++b) {
    for (index_t row = 0; row < 9; ++row) {
      const auto key = std::as_const(detached.key).view().row(b, 0, row);
      const auto value = std::as_const(detached.value).view().row(b, 0, row);
      if (row < past[b]) {
        CHECK(all_equal(key, 0.0));
        CHECK(all_equal(value, 0.0));
        CHECK_FALSE(all_equal(std::as_const(attached.key).view().row(b, 0, row), 0.0));
      } else {
        CHECK(largest_difference(key, attached.key.view().row(b, 0, row)) == 0.0);
        CHECK(largest_difference(value, attached.value.view().row(b, 0, row)) == 0.0);
      }
    }
  }
}

TEST_CASE("gradients of batches add up to those of both and start again", "[backward]") {
  const coordinate::t5_bucket bucket(
      {.num_buckets = 6, .max_distance = 9, .direction = coordinate::bucket_direction::causal});
  const attention model(pair_of_heads, scale::none{}, bias::t5<double>(random_table(6, 2, 415), bucket),
                        visible::active{}, visible::causal{});
  const auto first = uneven_call();
  const auto second = uneven_call(11);
  const auto run = [&](const position_call& call, unsigned seed) {
    const attention_inputs<double> in(pair_of_heads, call, 2, seed);
    return run_backward_of(model.compile<double>(call), in.view(), random_tensor<double, 4>({2, 2, 3, 2}, seed + 5));
  };
  const auto a = run(first, 416);
  const auto b = run(second, 426);
  auto merged = plan_gradients(model.compile<double>(second));
  merged.add(a.learned);
  merged.add(b.learned);
  auto once = a.learned;
  const attention_inputs<double> in(pair_of_heads, second, 2, 426);
  const auto d_output = random_tensor<double, 4>({2, 2, 3, 2}, 431);
  const auto plan = model.compile<double>(second);
  const auto forward = attend(eager{}, plan, in.view(), also::log_sum_exp);
  tensor<double, 4> dq(in.query.extents());
  tensor<double, 4> dk(in.key.extents());
  tensor<double, 4> dv(in.value.extents());
  attend_backward(eager{}, plan, in.view(), {forward.output.view(), forward.log_sum_exp.view()}, d_output.view(),
                  {dq.view(), dk.view(), dv.view()}, once, call::memory_gradient::attached);
  CHECK(largest_difference(once.bias()[0].values(), merged.bias()[0].values()) == 0.0);
  CHECK_FALSE(all_equal(merged.bias()[0].values(), 0.0));
  merged.reset();
  CHECK(all_equal(merged.bias()[0].values(), 0.0));
  CHECK(merged.bias()[0].touched_rows().empty());
}

TEST_CASE("the gradient of a pair bias goes to a tensor of its own extents", "[backward]") {
  const auto call = call_at({3, 1}, {0, 4, 2});
  const tensor<double, 4> biases({1, 2, 1, 3});
  const attention model(pair_of_heads, scale::none{}, bias::pair(biases.view()), visible::everything{});
  const attention_inputs<double> in(pair_of_heads, call, 2, 440);
  auto result = run_backward_of(model.compile<double>(call), in.view(), random_tensor<double, 4>({1, 2, 2, 2}, 441));
  tensor<double, 4> mine({1, 2, 1, 3});
  mine(0, 1, 0, 2) = 5.0;
  result.learned.bias().add_to(mine.view());
  CHECK(mine(0, 1, 0, 2) == 5.0 + result.learned.bias()[0](1, 2));
  CHECK(mine(0, 0, 0, 1) == result.learned.bias()[0](0, 1));
  tensor<double, 4> other({1, 2, 2, 3});
  CHECK(refusal([&] { result.learned.bias().add_to(other.view()); }).code() == errc::shape_mismatch);
}

TEST_CASE("inputs stored in sixteen bits are widened and their gradients are in the type of the plan", "[backward]") {
  using Eigen::bfloat16;
  const auto call = call_at({4, 2}, {0, 1, 2, 3, 4});
  const attention model(pair_of_heads, scale::none{},
                        bias::alibi(bias::alibi_slopes::reference(2), bias::alibi_direction::causal),
                        visible::causal{});
  attention_inputs<bfloat16> in(pair_of_heads, call, 2, 480);
  attention_inputs<double> wide(pair_of_heads, call, 2, 480);
  const auto widen = [](const tensor<bfloat16, 4>& from, tensor<double, 4>& to) {
    for (std::size_t n = 0; n < to.values().size(); ++n) to.values()[n] = static_cast<double>(from.values()[n]);
  };
  widen(in.query, wide.query);
  widen(in.key, wide.key);
  widen(in.value, wide.value);
  const auto d_output = random_tensor<float, 4>({1, 2, 2, 2}, 481);
  tensor<double, 4> d_wide({1, 2, 2, 2});
  std::copy(d_output.values().begin(), d_output.values().end(), d_wide.values().begin());
  auto expected = run_backward_of(model.compile<double>(call), wide.view(), d_wide);

  const auto plan = model.compile<float>(call);
  const auto forward = attend(eager{}, plan, in.view(), also::log_sum_exp);
  tensor<float, 4> dq(in.query.extents());
  tensor<float, 4> dk(in.key.extents());
  tensor<float, 4> dv(in.value.extents());
  auto learned = plan_gradients(plan);
  attend_backward(eager{}, plan, in.view(), {forward.output.view(), forward.log_sum_exp.view()}, d_output.view(),
                  {dq.view(), dk.view(), dv.view()}, learned);
  constexpr double rounding = 1e-5;  // a few float roundings of numbers around 1
  CHECK(largest_difference(dq.values(), expected.query.values()) < rounding);
  CHECK(largest_difference(dk.values(), expected.key.values()) < rounding);
  CHECK(largest_difference(dv.values(), expected.value.values()) < rounding);
  CHECK(largest_difference(learned.bias()[0].values(), expected.learned.bias()[0].values()) < rounding);
}

template <class Model>
errc refused(const Model& model) {
  return refusal([&] { (void)plan_gradients(model.template compile<double>(call_at({0, 1}))); }).code();
}

/// A bias that says it has nothing to learn.
struct fixed_bias {
  using family = posgeo::family::score_bias;
  template <class T>
  struct term {
    T operator()(batch_index, head_index, query_index i, key_index j) const noexcept {
      return static_cast<T>(i.value() - j.value());
    }
    [[nodiscard]] static nothing_learned gradient() noexcept { return {}; }
  };
  template <class T>
  [[nodiscard]] term<T> compile(const position_call&, const heads&) const {
    return {};
  }
};

TEST_CASE("a policy without gradient expressions is refused by name", "[backward]") {
  const auto model = [](const auto& policy) {
    return attention(pair_of_heads, scale::none{}, policy, visible::everything{});
  };
  CHECK(refused(model(toy_transform{})) == errc::executor_refusal);
  CHECK(refused(model(toy_content{})) == errc::executor_refusal);
  CHECK(refused(model(toy_value{})) == errc::executor_refusal);
  const auto plan = model(toy_content{}).compile<double>(call_at({0, 1}));
  CHECK(refusal([&] { (void)plan_gradients(plan); }).what() ==
        std::string("backward pass, content_term 0, a policy without a name: expected gradient expressions of its "
                    "compiled term, got none"));
  CHECK_NOTHROW(plan_gradients(model(fixed_bias{}).compile<double>(call_at({0, 1}))));
}

/// Everything that attend_backward is given, to be spoiled part by part.
struct run_parts {
  position_call call = call_at({2, 5}, {0, 2, 4});
  attention_inputs<double> in{pair_of_heads, call, 2, 450};
  tensor<double, 4> output{{1, 2, 2, 2}};
  tensor<double, 3> log_sum_exp{{1, 2, 2}};
  tensor<double, 4> d_output{{1, 2, 2, 2}};
  tensor<double, 4> dq{{1, 2, 2, 3}};
  tensor<double, 4> dk{{1, 1, 3, 3}};
  tensor<double, 4> dv{{1, 1, 3, 2}};

  template <class Spoil>
  [[nodiscard]] errc refused_after(const Spoil& spoil) {
    const attention model(pair_of_heads, scale::none{}, visible::everything{});
    const auto plan = model.template compile<double>(call);
    auto gradients = plan_gradients(plan);
    std::fill(dq.values().begin(), dq.values().end(), 7.0);
    heads_view<const double> out = std::as_const(output).view();
    tensor_view<const double, 3> lse = std::as_const(log_sum_exp).view();
    heads_view<const double> d_out = std::as_const(d_output).view();
    qkv_gradient<double> to{dq.view(), dk.view(), dv.view()};
    spoil(out, lse, d_out, to);
    const error thrown = refusal([&] { attend_backward(eager{}, plan, in.view(), {out, lse}, d_out, to, gradients); });
    CHECK(all_equal(dq.values(), 7.0));
    return thrown.code();
  }
};

TEST_CASE("attend backward refuses tensors of other shapes before it writes", "[backward]") {
  run_parts parts;
  const tensor<double, 4> wide({1, 2, 2, 3});
  const tensor<double, 3> long_rows({1, 2, 3});
  tensor<double, 4> longer({1, 1, 4, 3});
  CHECK(parts.refused_after([&](auto& out, auto&, auto&, auto&) { out = wide.view(); }) == errc::shape_mismatch);
  CHECK(parts.refused_after([&](auto&, auto& lse, auto&, auto&) { lse = long_rows.view(); }) == errc::shape_mismatch);
  CHECK(parts.refused_after([&](auto&, auto&, auto& d_out, auto&) { d_out = wide.view(); }) == errc::shape_mismatch);
  CHECK(parts.refused_after([&](auto&, auto&, auto&, auto& to) { to.key = longer.view(); }) == errc::shape_mismatch);
  CHECK(parts.refused_after([&](auto&, auto&, auto&, auto& to) { to.value = longer.view(); }) == errc::shape_mismatch);
  CHECK(parts.refused_after([&](auto&, auto&, auto&, auto& to) { to.query = longer.view(); }) == errc::shape_mismatch);
}

TEST_CASE("attend backward refuses gradients that share memory", "[backward]") {
  run_parts parts;
  CHECK(parts.refused_after([&](auto&, auto&, auto&, auto& to) { to.query = parts.in.query.view(); }) ==
        errc::memory_overlap);
  CHECK(parts.refused_after([&](auto&, auto&, auto&, auto& to) { to.value = parts.in.value.view(); }) ==
        errc::memory_overlap);
  tensor<double, 4> both({1, 1, 6, 3});
  CHECK(parts.refused_after([&](auto&, auto&, auto&, auto& to) {
    to.query = heads_first(both.values().data(), 1, 2, 2, 3);
    to.key = heads_first(both.values().data() + 9, 1, 1, 3, 3);
  }) == errc::memory_overlap);
  CHECK(parts.refused_after([&](auto&, auto&, auto&, auto& to) {
    to.key = heads_view<double>(both.values().data(), {1, 1, 3, 3}, {9, 9, 2});
  }) == errc::memory_overlap);
}

TEST_CASE("a call with earlier keys names what becomes of their gradient", "[backward]") {
  const auto call = uneven_call();
  const attention model(pair_of_heads, scale::none{}, visible::active{}, visible::causal{});
  const auto plan = model.compile<double>(call);
  const attention_inputs<double> in(pair_of_heads, call, 2, 460);
  const auto forward = attend(eager{}, plan, in.view(), also::log_sum_exp);
  tensor<double, 4> dq(in.query.extents());
  tensor<double, 4> dk(in.key.extents());
  tensor<double, 4> dv(in.value.extents());
  auto gradients = plan_gradients(plan);
  CHECK(refusal([&] {
          attend_backward(eager{}, plan, in.view(), {forward.output.view(), forward.log_sum_exp.view()},
                          forward.output.view(), {dq.view(), dk.view(), dv.view()}, gradients);
        }).code() == errc::missing_value);
}

TEST_CASE("gradients of another table are refused", "[backward]") {
  const auto model = [](index_t buckets) {
    const coordinate::t5_bucket bucket(
        {.num_buckets = buckets, .max_distance = 20, .direction = coordinate::bucket_direction::causal});
    return attention(pair_of_heads, scale::none{}, bias::t5<double>(random_table(buckets, 2, 470), bucket),
                     visible::causal{});
  };
  auto six = plan_gradients(model(6).compile<double>(call_at({0, 1})));
  const auto eight = plan_gradients(model(8).compile<double>(call_at({0, 1})));
  CHECK(refusal([&] { six.add(eight); }).code() == errc::shape_mismatch);
  CHECK(refusal([&] { (void)six.bias().at("rows"); }).code() == errc::description);
}

}  // namespace backward_rules_test
