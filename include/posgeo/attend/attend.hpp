// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/call/position_call.hpp>
#include <posgeo/core/heads.hpp>
#include <posgeo/core/tensor.hpp>

#include <Eigen/Core>

#include <concepts>
#include <optional>

namespace posgeo {

/// Whether numbers stored in E may be read and written by a plan that computes in T: T itself, and beside float the two
/// 16-bit formats. Each of their numbers is a float, so that reading one is exact.
template <class E, class T>
concept stored_as = std::same_as<E, T> ||
    (std::same_as<T, float> && (std::same_as<E, Eigen::bfloat16> || std::same_as<E, Eigen::half>));

/// What goes in, stored in E. Shapes: query [batch, query heads, queries, head_dim]; key [batch, key heads, keys,
/// head_dim]; value [batch, key heads, keys, value dim].
template <class E>
struct qkv {
  heads_view<const E> query;
  heads_view<const E> key;
  heads_view<const E> value;
};

/// What comes out, the output stored in O, and what else is wanted. Shapes: output [batch, query heads, queries, value
/// dim]; log_sum_exp [batch, query heads, queries], natural logarithm; scores (the softmax's input, -infinity where
/// hidden) and probabilities [batch, query heads, queries, keys].
template <class T, class O = T>
struct attention_output {
  heads_view<O> output;
  std::optional<tensor_view<T, 3>> log_sum_exp = std::nullopt;
  std::optional<heads_view<T>> scores = std::nullopt;
  std::optional<heads_view<T>> probabilities = std::nullopt;
};

/// What to return beside the output.
enum class also : unsigned { nothing = 0, log_sum_exp = 1, scores = 2, probabilities = 4, everything = 7 };
[[nodiscard]] constexpr also operator|(also a, also b) noexcept {
  return static_cast<also>(static_cast<unsigned>(a) | static_cast<unsigned>(b));
}
[[nodiscard]] constexpr bool includes(also all, also part) noexcept {
  return (static_cast<unsigned>(all) & static_cast<unsigned>(part)) == static_cast<unsigned>(part);
}

/// attention_output that owns its memory; what was not asked for is empty.
template <class T, class O = T>
struct attention_result {
  tensor<O, 4> output;
  tensor<T, 3> log_sum_exp;
  tensor<T, 4> scores;
  tensor<T, 4> probabilities;
};

namespace detail {

template <class T, std::size_t Rank>
void expect_extents(const tensor_view<T, Rank>& view, std::string_view object,
                    const std::array<index_t, Rank>& expected, const std::array<const char*, Rank>& axes,
                    violations& found) {
  for (std::size_t axis = 0; axis < Rank; ++axis) {
    found.expect(view.extent(axis) == expected[axis], errc::shape_mismatch, object, axes[axis], expected[axis],
                 view.extent(axis));
  }
}

template <class Plan, class E>
void expect_inputs(const Plan& plan, const qkv<E>& in, violations& found) {
  const heads& h = plan.layout();
  const std::array<const char*, 4> axes{"batch", "heads", "rows", "head_dim"};
  const index_t batch = plan.call().batch();
  const index_t keys = plan.call().keys();
  expect_extents(in.query, "query", {batch, h.query, plan.call().queries(), h.dim}, axes, found);
  expect_extents(in.key, "key", {batch, h.key_value, keys, h.dim}, axes, found);
  expect_extents(in.value, "value", {batch, h.key_value, keys, in.value.extent(3)}, axes, found);
  plan.each_value_width([&](index_t width) {
    found.expect(in.value.extent(3) == width, errc::shape_mismatch, "value", "head_dim",
                 text("{}, the width of the value term", width), in.value.extent(3));
  });
}

template <class Plan, class E, class O>
void expect_outputs(const Plan& plan, const qkv<E>& in, const attention_output<typename Plan::scalar, O>& out,
                    violations& found) {
  const index_t batch = plan.call().batch();
  const index_t heads = plan.layout().query;
  const index_t queries = plan.call().queries();
  const index_t keys = plan.call().keys();
  const std::array<const char*, 4> pair_axes{"batch", "heads", "queries", "keys"};
  expect_extents(out.output, "output", {batch, heads, queries, in.value.extent(3)},
                 {"batch", "heads", "rows", "head_dim"}, found);
  if (out.log_sum_exp) {
    expect_extents(*out.log_sum_exp, "log_sum_exp", {batch, heads, queries}, {"batch", "heads", "queries"}, found);
  }
  if (out.scores) expect_extents(*out.scores, "scores", {batch, heads, queries, keys}, pair_axes, found);
  if (out.probabilities) {
    expect_extents(*out.probabilities, "probabilities", {batch, heads, queries, keys}, pair_axes, found);
  }
}

/// What is written must be apart from what is read, from the other outputs, and row by row from itself.
template <class Plan, class E, class O>
void expect_apart(const Plan& plan, const qkv<E>& in, const attention_output<typename Plan::scalar, O>& out,
                  violations& found) {
  const auto expect = [&](std::string_view object, const auto& written, const auto&... others) {
    const bool shared = overlap(written, in.query) || overlap(written, in.key) || overlap(written, in.value) ||
                        plan.reads(written) || (... || (others && overlap(written, *others)));
    found.expect(!shared, errc::memory_overlap, object, "memory", "apart from the inputs and the other outputs",
                 "shared");
    found.expect(written.rows_apart(), errc::memory_overlap, object, "rows", "apart from one another", "shared");
  };
  const std::optional output = out.output;
  expect("output", out.output);
  if (out.log_sum_exp) expect("log_sum_exp", *out.log_sum_exp, output);
  if (out.scores) expect("scores", *out.scores, output, out.log_sum_exp);
  if (out.probabilities) expect("probabilities", *out.probabilities, output, out.log_sum_exp, out.scores);
}

}  // namespace detail

/// Runs a plan: attend(eager{}, plan, {query, key, value}, {output}). Braces hold numbers of the plan's type T; others
/// name theirs: attend(eager{}, plan, qkv<Eigen::bfloat16>{...}, attention_output<float, Eigen::bfloat16>{...}).
/// Units:  every number is widened to T as it is read; the output is rounded once, to O, as it is written.
/// Throws: errc::shape_mismatch for a tensor that does not fit the plan; errc::memory_overlap where an output shares
///         memory with an input, with a bias that the plan reads, with another output, or with itself. Nothing is
///         written then.
template <class Executor, class Plan, class E = typename Plan::scalar, class O = typename Plan::scalar>
void attend(const Executor& executor, const Plan& plan, const qkv<E>& in,
            const attention_output<typename Plan::scalar, O>& out) {
  using T = typename Plan::scalar;
  static_assert(stored_as<E, T>,
                "attend: the plan reads numbers in its own type; one in float also Eigen::bfloat16 and Eigen::half");
  static_assert(std::same_as<O, T> || std::same_as<O, E>,
                "attend: the output is in the type of the plan or in that of the inputs");
  if constexpr (stored_as<E, T> && (std::same_as<O, T> || std::same_as<O, E>)) {
    violations found;
    detail::expect_inputs(plan, in, found);
    detail::expect_outputs(plan, in, out, found);
    found.throw_if_any();
    detail::expect_apart(plan, in, out, found);
    found.throw_if_any();
    executor.run(plan, in, out);
  }
}

/// Runs a plan into memory of its own, in the plan's type: attend(eager{}, plan, {query, key, value},
/// also::log_sum_exp).
template <class Executor, class Plan, class E = typename Plan::scalar>
[[nodiscard]] attention_result<typename Plan::scalar> attend(const Executor& executor, const Plan& plan,
                                                             const qkv<E>& in, also wanted = also::nothing) {
  using T = typename Plan::scalar;
  violations found;
  detail::expect_inputs(plan, in, found);
  found.throw_if_any();
  const index_t batch = plan.call().batch();
  const index_t heads = plan.layout().query;
  const index_t queries = plan.call().queries();
  const index_t keys = plan.call().keys();
  attention_result<T> result;
  result.output = tensor<T, 4>({batch, heads, queries, in.value.extent(3)});
  attention_output<T> out{result.output.view()};
  if (includes(wanted, also::log_sum_exp)) {
    result.log_sum_exp = tensor<T, 3>({batch, heads, queries});
    out.log_sum_exp = result.log_sum_exp.view();
  }
  if (includes(wanted, also::scores)) {
    result.scores = tensor<T, 4>({batch, heads, queries, keys});
    out.scores = result.scores.view();
  }
  if (includes(wanted, also::probabilities)) {
    result.probabilities = tensor<T, 4>({batch, heads, queries, keys});
    out.probabilities = result.probabilities.view();
  }
  attend(executor, plan, in, out);
  return result;
}

}  // namespace posgeo
