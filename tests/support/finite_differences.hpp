// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/attend/eager_backward.hpp>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "support/attention_inputs.hpp"
#include "support/catch.hpp"
#include "support/compare.hpp"
#include "support/random.hpp"

namespace posgeo::test {

/// The gradients of sum(d_output * output) that a backward pass gives.
template <class Plan>
struct backward_result {
  tensor<double, 4> query;
  tensor<double, 4> key;
  tensor<double, 4> value;
  plan_gradients_of<Plan> learned;
};

/// Forward and backward in double; memory is not detached.
template <class Plan>
[[nodiscard]] backward_result<Plan> run_backward_of(const Plan& plan, const qkv<double>& in,
                                                    const tensor<double, 4>& d_output,
                                                    call::memory_gradient memory = call::memory_gradient::attached) {
  const auto forward = attend(eager{}, plan, in, also::log_sum_exp);
  backward_result<Plan> out{tensor<double, 4>(in.query.extents()), tensor<double, 4>(in.key.extents()),
                            tensor<double, 4>(in.value.extents()), plan_gradients(plan)};
  for (tensor<double, 4>* one : {&out.query, &out.key, &out.value}) {
    std::fill(one->values().begin(), one->values().end(), 1e300);  // must be overwritten
  }
  attend_backward(eager{}, plan, in, {forward.output.view(), forward.log_sum_exp.view()}, d_output.view(),
                  {out.query.view(), out.key.view(), out.value.view()}, out.learned, memory);
  return out;
}

/// (f(x + step) - f(x - step)) / (2 step), with an error of step^2 taken out by a second, wider pair.
template <class Loss>
[[nodiscard]] double central_difference(double& x, const Loss& loss) {
  const double at = x;
  const auto slope = [&](double step) {
    x = at + step;
    const double above = loss();
    x = at - step;
    const double below = loss();
    x = at;
    return (above - below) / (2.0 * step);
  };
  const double step = 1e-3 * std::max(1.0, std::abs(at));
  return (4.0 * slope(step) - slope(2.0 * step)) / 3.0;
}

inline constexpr double difference_tolerance = 1e-6;  ///< relative to the number or to 1

inline void check_close(double computed, double by_difference, const std::string& what, std::size_t n) {
  CAPTURE(what, n, computed, by_difference);
  CHECK(std::abs(computed - by_difference) <= difference_tolerance * std::max(1.0, std::abs(by_difference)));
}

/// Compares every gradient of an attention with differences. make(numbers) builds it from its learned numbers, table by
/// table in the order of plan_gradients_of::each_table. Of query, key and value
/// every `step`-th number is looked at.
template <class Make>
void check_against_differences(const Make& make, std::vector<std::vector<double>> numbers, const position_call& call,
                               index_t value_dim, unsigned seed, std::size_t step = 1) {
  const auto model = make(std::as_const(numbers));
  const heads layout = model.layout();
  attention_inputs<double> in(layout, call, value_dim, seed);
  const auto d_output = random_tensor<double, 4>({call.batch(), layout.query, call.queries(), value_dim}, seed + 9);
  const auto computed = run_backward_of(model.template compile<double>(call), in.view(), d_output);
  auto of_tokens = d_output;  // rows of padding are no part of a loss, whatever their gradients hold
  for (const batch_index b : indices<batch_index>(call.batch())) {
    for (const query_index i : indices<query_index>(call.queries())) {
      for (index_t h = 0; h < layout.query && !call.active(b, i); ++h) {
        const auto row = of_tokens.view().row(b.value(), h, i.value());
        std::fill(row.begin(), row.end(), 0.0);
      }
    }
  }
  const auto loss = [&] {
    const auto plan = make(std::as_const(numbers)).template compile<double>(call);
    const auto result = attend(eager{}, plan, in.view());
    return dot(result.output.values(), std::as_const(of_tokens).values());
  };
  const auto check_all = [&](std::span<double> inputs, std::span<const double> gradient, const std::string& what,
                             std::size_t every) {
    REQUIRE(inputs.size() == gradient.size());
    for (std::size_t n = seed % every; n < inputs.size(); n += every) {
      check_close(gradient[n], central_difference(inputs[n], loss), what, n);
    }
  };
  check_all(in.query.values(), std::as_const(computed.query).values(), "query", step);
  check_all(in.key.values(), std::as_const(computed.key).values(), "key", step);
  check_all(in.value.values(), std::as_const(computed.value).values(), "value", step);
  std::size_t table = 0;
  computed.learned.each_table([&](const table_gradient<double>& gradient) {
    if (gradient.rows() == 0) return;
    REQUIRE(table < numbers.size());
    double largest = 0.0;
    for (const double d : gradient.values()) largest = std::max(largest, std::abs(d));
    CHECK(largest > 1e-3);  // a test in which nothing is learned tests nothing
    check_all(numbers[table++], gradient.values(), gradient.name(), 1);
  });
  CHECK(table == numbers.size());
}

}  // namespace posgeo::test
