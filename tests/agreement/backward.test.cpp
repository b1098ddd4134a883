// SPDX-License-Identifier: MIT
#include <posgeo/attend/eager_backward.hpp>
#include <posgeo/attend/eigen_threads.hpp>
#include <posgeo/attend/fused_backward.hpp>

#include "agreement/families.hpp"

// Gradients of the fused executor against those of the eager one in double, on every shape of call; with NaN in keys
// and values that nobody sees, in queries that see nothing or are padding, and in the gradients of their outputs.
namespace agreement_backward_test {

using namespace posgeo;
using namespace posgeo::test;

template <class T>
struct inputs {
  guarded_heads<T> query;
  guarded_heads<T> key;
  guarded_heads<T> value;
  guarded_heads<T> d_output;
  tensor<T, 4> output;
  tensor<T, 3> log_sum_exp;
};

template <class Plan>
[[nodiscard]] bool is_no_token_or_sees_nothing(const Plan& plan, index_t b, index_t i) {
  if (!plan.call().active(batch_index{b}, query_index{i})) return true;
  for (const key_index j : indices<key_index>(plan.call().keys())) {
    if (plan.visible(batch_index{b}, query_index{i}, j)) return false;
  }
  return true;
}

/// Numbers that floats hold, and what the forward pass makes of them in double.
template <class T, class Plan>
[[nodiscard]] inputs<T> inputs_of(const Plan& exact, const scene& where) {
  const auto lies = [&](unsigned tensor) { return every_memory[(where.number + tensor) % every_memory.size()]; };
  const stored_inputs<float> in(where, 2000 + 10 * where.number);
  auto d_output = random_tensor<double, 4>(
      {where.call.batch(), where.layout.query, where.call.queries(), where.value_dim}, 77 + where.number);
  for (double& d : d_output.values()) d = static_cast<double>(static_cast<float>(d));
  inputs<T> out{{in.query.extents(), lies(0)},
                {in.key.extents(), lies(1)},
                {in.value.extents(), lies(2)},
                {d_output.extents(), lies(1)},
                {},
                {}};
  out.query.fill(in.query);
  out.key.fill(in.key);
  out.value.fill(in.value);
  out.d_output.fill(d_output);
  const auto forward = attend(eager{}, exact, {in.query.view(), in.key.view(), in.value.view()}, also::log_sum_exp);
  out.output = tensor<T, 4>(forward.output.extents());
  out.log_sum_exp = tensor<T, 3>(forward.log_sum_exp.extents());
  const auto narrow = [](double x) { return static_cast<T>(x); };
  std::ranges::transform(forward.output.values(), out.output.values().begin(), narrow);
  std::ranges::transform(forward.log_sum_exp.values(), out.log_sum_exp.values().begin(), narrow);
  for (index_t b = 0; b < where.call.batch(); ++b) {
    for (index_t i = 0; i < where.call.queries(); ++i) {
      if (!is_no_token_or_sees_nothing(exact, b, i)) continue;
      out.query.poison(b, i);
      out.d_output.poison(b, i);
    }
    for (index_t j = 0; j < where.call.keys(); ++j) {
      if (!hidden_from_all(exact, b, j)) continue;
      out.key.poison(b, j);
      out.value.poison(b, j);
    }
  }
  return out;
}

struct gradients {
  std::vector<std::vector<double>> all;  ///< query, key, value, and then each table

  template <class Learned, class T>
  gradients(const tensor<T, 4>& query, const tensor<T, 4>& key, const tensor<T, 4>& value, const Learned& learned) {
    const auto widened = [](std::span<const T> values) { return std::vector<double>(values.begin(), values.end()); };
    for (const tensor<T, 4>* one : {&query, &key, &value}) all.push_back(widened(one->values()));
    learned.each([&](const auto& gradient) {
      for (const auto& table : gradient.tables()) all.emplace_back(table.values().begin(), table.values().end());
    });
  }
};

template <class T, class Executor, class Plan>
[[nodiscard]] gradients run(const Executor& executor, const Plan& plan, inputs<T>& in) {
  tensor<T, 4> query(in.query.view().extents());
  tensor<T, 4> key(in.key.view().extents());
  tensor<T, 4> value(in.value.view().extents());
  for (tensor<T, 4>* one : {&query, &key, &value}) std::ranges::fill(one->values(), std::numeric_limits<T>::max());
  auto learned = plan_gradients(plan);
  attend_backward(executor, plan, qkv<T>{in.query.view(), in.key.view(), in.value.view()},
                  forward_result<T>{in.output.view(), in.log_sum_exp.view()}, in.d_output.view(),
                  qkv_gradient<T>{query.view(), key.view(), value.view()}, learned, call::memory_gradient::attached);
  return {query, key, value, learned};
}

/// The largest difference of two gradients, relative to the largest number of the right one, or to 1: that is what they
/// are sums of.
void check_close(const gradients& got, const gradients& right, double tolerance) {
  REQUIRE(got.all.size() == right.all.size());
  for (std::size_t n = 0; n < right.all.size(); ++n) {
    REQUIRE(got.all[n].size() == right.all[n].size());
    double largest = 0.0;
    double apart = 0.0;
    for (std::size_t at = 0; at < right.all[n].size(); ++at) {
      largest = std::max(largest, std::abs(right.all[n][at]));
      const double difference = std::abs(got.all[n][at] - right.all[n][at]);
      apart = difference <= apart ? apart : difference;  // a NaN stays
    }
    CAPTURE(n, largest, apart);
    CHECK(apart <= tolerance * std::max(largest, 1.0));
  }
}

/// Sums of so many products differ by a few units of the last place for each halving, and by those of the scores.
template <class T>
inline constexpr double tolerance = 2000.0 * static_cast<double>(std::numeric_limits<T>::epsilon());

template <class T, class Family>
void expect_gradients(const std::vector<scene>& scenes, const Family& family, int fewest) {
  int taken = 0;
  for (const scene& where : scenes) {
    const auto member = family(where);
    if (!member.model.check(where.call).empty()) continue;
    ++taken;
    CAPTURE(where.name, sizeof(T));
    const auto exact = member.model.template compile<double>(where.call);
    inputs<double> wide = inputs_of<double>(exact, where);
    inputs<T> in = inputs_of<T>(exact, where);
    const gradients right = run(eager{}, exact, wide);
    check_close(run(fused{}, member.model.template compile<T>(where.call), in), right, tolerance<T>);
  }
  CHECK(taken >= fewest);
}

TEST_CASE("backward agreement of scores without a bias", "[agreement]") {
  expect_gradients<float>(small_scenes(), nope_member, 22);
  expect_gradients<float>(long_scenes(), nope_member, 5);
}

TEST_CASE("backward agreement of t5 with shaw key and value", "[agreement]") {
  const auto family = [](const scene& where) {
    return family_member{model_of(where, shaw_key_of(where), t5_of(where), shaw_value_of(where))};
  };
  expect_gradients<float>(small_scenes(), family, 22);
  expect_gradients<float>(long_scenes(), family, 5);
}

TEST_CASE("backward agreement of learned slopes and tables under a softcap and beside a sink", "[agreement]") {
  const auto family = [](const scene& where) {
    return family_member{model_of(where, rotary_of(where), alibi_of(where), learned_relative_of(where),
                                  softcap_of(where), sink_of(where))};
  };
  expect_gradients<double>(small_scenes(), family, 22);
  expect_gradients<double>(long_scenes(), family, 5);
}

TEST_CASE("backward agreement of everything at once", "[agreement]") {
  expect_gradients<double>(small_scenes(), everything_member, 21);
}

TEST_CASE("gradients do not depend on threads", "[agreement]") {
  Eigen::ThreadPool pool(3);
  for (const scene& where : small_scenes()) {
    const auto member = family_member{model_of(where, shaw_key_of(where), t5_of(where), shaw_value_of(where))};
    if (!member.model.check(where.call).empty()) continue;
    inputs<float> in = inputs_of<float>(member.model.template compile<double>(where.call), where);
    const auto plan = member.model.template compile<float>(where.call);
    const gradients alone = run(fused{}, plan, in);
    const gradients shared = run(fused{threads::eigen_pool(pool)}, plan, in);
    CAPTURE(where.name);
    CHECK(alone.all == shared.all);
  }
}

}  // namespace agreement_backward_test
