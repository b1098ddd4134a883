// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/attend/attend.hpp>
#include <posgeo/attend/plan_gradients.hpp>
#include <posgeo/call/memory_gradient.hpp>

#include <cmath>
#include <limits>
#include <type_traits>

namespace posgeo {

/// What the forward pass gave. Shapes: those of attention_output; both are needed.
template <class T, class O = T>
struct forward_result {
  heads_view<const O> output;
  tensor_view<const T, 3> log_sum_exp;
};

/// Where the gradients of the inputs go: d loss / d query and so on, in the plan's type. Overwritten, every number.
/// Shapes: those of qkv.
template <class T>
struct qkv_gradient {
  heads_view<T> query;
  heads_view<T> key;
  heads_view<T> value;
};

namespace detail {

/// Whether a key row is of an earlier call: it stands before everything that this call adds.
inline bool is_memory(const position_call& call, batch_index b, key_index j) noexcept {
  return call.has_cache() && call.active(b, j) && call.at(b, j).value() < call.committed_length(b);
}
inline bool has_memory(const position_call& call) noexcept {
  for (const batch_index b : indices<batch_index>(call.batch())) {
    if (call.past_length(b) > 0) return true;
  }
  return false;
}

/// exp(score - log-sum-exp); a weight that the forward pass gives as 0 is 0.
template <class T>
[[nodiscard]] T weight_of(T score, T log_sum) noexcept {
  const T below = score - log_sum;
  return below < std::log(std::numeric_limits<T>::min()) ? T{0} : std::exp(below);
}

template <class Plan, class E, class O>
void expect_backward_shapes(const Plan& plan, const qkv<E>& in, const forward_result<typename Plan::scalar, O>& forward,
                            const heads_view<const O>& d_output, const qkv_gradient<typename Plan::scalar>& to,
                            violations& found) {
  const heads& h = plan.layout();
  const index_t batch = plan.call().batch();
  const index_t queries = plan.call().queries();
  const index_t keys = plan.call().keys();
  const index_t width = in.value.extent(3);
  const std::array<const char*, 4> axes{"batch", "heads", "rows", "head_dim"};
  expect_extents(forward.output, "output", {batch, h.query, queries, width}, axes, found);
  expect_extents(forward.log_sum_exp, "log_sum_exp", {batch, h.query, queries}, {"batch", "heads", "queries"}, found);
  expect_extents(d_output, "gradient of the output", {batch, h.query, queries, width}, axes, found);
  expect_extents(to.query, "gradient of the query", {batch, h.query, queries, h.dim}, axes, found);
  expect_extents(to.key, "gradient of the key", {batch, h.key_value, keys, h.dim}, axes, found);
  expect_extents(to.value, "gradient of the value", {batch, h.key_value, keys, width}, axes, found);
}

template <class Plan, class E, class O>
void expect_backward_apart(const Plan& plan, const qkv<E>& in, const forward_result<typename Plan::scalar, O>& forward,
                           const heads_view<const O>& d_output, const qkv_gradient<typename Plan::scalar>& to,
                           violations& found) {
  const auto expect = [&](std::string_view object, const auto& written, const auto&... others) {
    const bool shared = overlap(written, in.query) || overlap(written, in.key) || overlap(written, in.value) ||
                        overlap(written, forward.output) || overlap(written, forward.log_sum_exp) ||
                        overlap(written, d_output) || plan.reads(written) || (... || overlap(written, others));
    found.expect(!shared, errc::memory_overlap, object, "memory", "apart from the inputs and the other gradients",
                 "shared");
    found.expect(written.rows_apart(), errc::memory_overlap, object, "rows", "apart from one another", "shared");
  };
  expect("gradient of the query", to.query);
  expect("gradient of the key", to.key, to.query);
  expect("gradient of the value", to.value, to.query, to.key);
}

template <class Executor, class Plan, class E, class O>
void attend_backward(const Executor& executor, const Plan& plan, const qkv<E>& in,
                     const forward_result<typename Plan::scalar, O>& forward, const heads_view<const O>& d_output,
                     const qkv_gradient<typename Plan::scalar>& to, plan_gradients_of<Plan>& gradients,
                     call::memory_gradient memory) {
  using T = typename Plan::scalar;
  static_assert(stored_as<E, T>,
                "attend_backward: the plan reads numbers in its own type; one in float also the two 16-bit ones");
  static_assert(std::same_as<O, T> || std::same_as<O, E>,
                "attend_backward: the output is in the type of the plan or in that of the inputs");
  plan_gradients_of<Plan> of_call = plan_gradients(plan);
  violations found;
  expect_inputs(plan, in, found);
  expect_backward_shapes(plan, in, forward, d_output, to, found);
  found.expect(gradients.same_shape(of_call), errc::shape_mismatch, "gradients", "tables", "those of the plan",
               "others");
  found.throw_if_any();
  expect_backward_apart(plan, in, forward, d_output, to, found);
  found.throw_if_any();
  if constexpr (has_backward<Plan>) run_backward(executor, plan, in, forward, d_output, to, of_call, memory);
  of_call.finish(plan);
  gradients.add(of_call);
}

}  // namespace detail

/// The gradients of a loss, given that of its output: attend_backward(eager{}, plan, {query, key, value}, {output,
/// log_sum_exp}, d_output, {d_query, d_key, d_value}, gradients). d_query, d_key and d_value are overwritten; what the
/// policies learn is added to `gradients`. Hidden pairs, rows that see nothing and queries of padding give exactly 0,
/// whatever they hold. For key rows of earlier calls a memory_gradient must be named, after `gradients`: detached sets
/// their d_key and d_value to 0. Units:  numbers are widened to the plan's type T as they are read; sums are in T and
/// in one order. Throws: errc::executor_refusal for a policy without gradient expressions, by name; errc::missing_value
/// for a call
///         with key rows of earlier calls and no memory_gradient; errc::shape_mismatch for a tensor that does not fit
///         the plan, or gradients of other tables; errc::memory_overlap where a gradient shares memory with what is
///         read, with another gradient, or with itself. Nothing is written then.
template <class Executor, class Plan, class E = typename Plan::scalar, class O = typename Plan::scalar>
void attend_backward(const Executor& executor, const Plan& plan, const qkv<E>& in,
                     const forward_result<typename Plan::scalar, O>& forward,
                     const std::type_identity_t<heads_view<const O>>& d_output,
                     const qkv_gradient<typename Plan::scalar>& to, plan_gradients_of<Plan>& gradients) {
  require(!detail::has_memory(plan.call()), errc::missing_value, "backward pass", "memory_gradient",
          "detached or attached, for a call with key rows of earlier calls", "none");
  detail::attend_backward(executor, plan, in, forward, d_output, to, gradients, call::memory_gradient::attached);
}
template <class Executor, class Plan, class E = typename Plan::scalar, class O = typename Plan::scalar>
void attend_backward(const Executor& executor, const Plan& plan, const qkv<E>& in,
                     const forward_result<typename Plan::scalar, O>& forward,
                     const std::type_identity_t<heads_view<const O>>& d_output,
                     const qkv_gradient<typename Plan::scalar>& to, plan_gradients_of<Plan>& gradients,
                     call::memory_gradient memory) {
  detail::attend_backward(executor, plan, in, forward, d_output, to, gradients, memory);
}

}  // namespace posgeo
