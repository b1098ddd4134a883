// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/attend/attend.hpp>
#include <posgeo/core/label.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

namespace posgeo {

/// Whether a part's log-sum-exp counts the softmax sink. Of all parts of a row one may: the sink is one logit.
enum class sink_share { left_out, counted };

/// Attention of one query row over a part of its keys. Before anything is seen: output 0, log-sum-exp -infinity.
/// Shapes: output [value dim].
template <class T>
struct partial_row {
  std::vector<T> output;
  T log_sum_exp;  ///< natural logarithm
  label frame;    ///< in which coordinates the scores' biases were formed
  sink_share sink = sink_share::left_out;
};

/// Attention of every query row over a part of the keys.
/// Shapes: output [batch, query heads, queries, value dim]; log_sum_exp [batch, query heads, queries].
template <class T>
struct partial_attention {
  tensor<T, 4> output;
  tensor<T, 3> log_sum_exp;  ///< natural logarithm
  label frame;               ///< in which coordinates the scores' biases were formed
  sink_share sink = sink_share::left_out;
};

/// A result that holds its log-sum-exp as a part. The frame is that of the plan's keys; the sink is counted if the plan
/// has one.
/// Throws: errc::shape_mismatch for a result of another call or layout, or without its log-sum-exp.
template <class Plan>
[[nodiscard]] partial_attention<typename Plan::scalar> part_of(const Plan& plan,
                                                               attention_result<typename Plan::scalar> result) {
  using T = typename Plan::scalar;
  const std::array<index_t, 3> rows{plan.call().batch(), plan.layout().query, plan.call().queries()};
  violations found;
  detail::expect_extents<const T, 4>(std::as_const(result.output).view(), "output of a part",
                                     {rows[0], rows[1], rows[2], result.output.extent(3)},
                                     {"batch", "heads", "queries", "value dim"}, found);
  detail::expect_extents<const T, 3>(std::as_const(result.log_sum_exp).view(), "log_sum_exp of a part", rows,
                                     {"batch", "heads", "queries"}, found);
  found.throw_if_any();
  return {std::move(result.output), std::move(result.log_sum_exp), label(plan.call().key_space().frame().name()),
          Plan::has_sink ? sink_share::counted : sink_share::left_out};
}

namespace detail {

/// Puts a row over other keys into `into`. A row that saw nothing is never read.
template <class T>
void merge_row(std::span<T> into, T& log_sum_exp, std::span<const T> other, T other_log_sum_exp) noexcept {
  constexpr T nothing_seen = -std::numeric_limits<T>::infinity();
  if (other_log_sum_exp == nothing_seen) return;
  if (log_sum_exp == nothing_seen) {
    std::copy(other.begin(), other.end(), into.begin());
    log_sum_exp = other_log_sum_exp;
    return;
  }
  const auto [low, high] = std::minmax({static_cast<double>(log_sum_exp), static_cast<double>(other_log_sum_exp)});
  const double ratio = std::exp(low - high);  // from the difference alone, so that the shares sum to 1 at any size
  const T larger = static_cast<T>(1.0 / (1.0 + ratio));
  const T smaller = static_cast<T>(ratio / (1.0 + ratio));
  const auto [share, other_share] =
      log_sum_exp < other_log_sum_exp ? std::pair{smaller, larger} : std::pair{larger, smaller};
  for (std::size_t d = 0; d < into.size(); ++d) into[d] = share * into[d] + other_share * other[d];
  log_sum_exp = static_cast<T>(high + std::log1p(ratio));
}

template <class Part>
void expect_one_frame(const Part& a, const Part& b, violations& found) {
  found.expect(a.frame == b.frame, errc::merge_frames, "merge", "coordinate frame of the biases", a.frame.text(),
               b.frame.text());
  found.expect(a.sink == sink_share::left_out || b.sink == sink_share::left_out, errc::merge_frames, "merge",
               "softmax sink", "counted in one part at most", "counted in both");
}
/// Of two parts that do not both count the sink.
[[nodiscard]] constexpr sink_share merged(sink_share a, sink_share b) noexcept {
  return a == sink_share::left_out ? b : a;
}

template <class T>
void expect_log_sum_exp(std::span<const T> values, violations& found) {
  for (const T value : values) {
    found.expect(value < std::numeric_limits<T>::infinity(), errc::non_finite, "merge", "log_sum_exp",
                 "a finite number, or -infinity where nothing was seen", value);
  }
}

}  // namespace detail

/// One row over the keys of both parts, which must have none in common: a weighted mean of the outputs.
/// Throws: errc::merge_frames for biases formed in two frames, or a sink that both count; errc::shape_mismatch for
///         outputs of two widths; errc::non_finite for a log-sum-exp of NaN or +infinity.
/// Source: Dao et al. 2022 (FlashAttention), section 3.1; Milakov and Gimelshein 2018, equation 4.
template <class T>
[[nodiscard]] partial_row<T> merge(partial_row<T> a, const partial_row<T>& b) {
  violations found;
  detail::expect_one_frame(a, b, found);
  found.expect(a.output.size() == b.output.size(), errc::shape_mismatch, "merge", "value dim", a.output.size(),
               b.output.size());
  detail::expect_log_sum_exp<T>({&a.log_sum_exp, 1}, found);
  detail::expect_log_sum_exp<T>({&b.log_sum_exp, 1}, found);
  found.throw_if_any();
  detail::merge_row<T>(a.output, a.log_sum_exp, b.output, b.log_sum_exp);
  a.sink = detail::merged(a.sink, b.sink);
  return a;
}

/// Every row over the keys of both parts. As for one row.
/// Throws: errc::shape_mismatch for outputs of two shapes, or for a log-sum-exp that was not asked for.
template <class T>
[[nodiscard]] partial_attention<T> merge(partial_attention<T> a, const partial_attention<T>& b) {
  violations found;
  detail::expect_one_frame(a, b, found);
  const auto& shape = a.output.extents();
  const std::array<index_t, 3> rows{shape[0], shape[1], shape[2]};
  detail::expect_extents<const T, 4>(b.output.view(), "merged output", shape,
                                     {"batch", "heads", "queries", "value dim"}, found);
  for (const partial_attention<T>* const part : {&std::as_const(a), &b}) {
    detail::expect_extents<const T, 3>(part->log_sum_exp.view(), "merged log_sum_exp", rows,
                                       {"batch", "heads", "queries"}, found);
    detail::expect_log_sum_exp<T>(part->log_sum_exp.values(), found);
  }
  found.throw_if_any();
  const auto width = static_cast<std::size_t>(shape[3]);
  for (std::size_t row = 0; row < a.log_sum_exp.values().size(); ++row) {
    detail::merge_row<T>(a.output.values().subspan(row * width, width), a.log_sum_exp.values()[row],
                         b.output.values().subspan(row * width, width), b.log_sum_exp.values()[row]);
  }
  a.sink = detail::merged(a.sink, b.sink);
  return a;
}

}  // namespace posgeo
