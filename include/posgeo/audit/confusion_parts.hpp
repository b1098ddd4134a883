// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/attend/attend.hpp>
#include <posgeo/scale/softcap.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace posgeo::audit {

/// The rows that go into an attention, in double. Shapes: those of qkv, dense, and the key head of each query head.
struct attention_rows {
  index_t batch = 0;
  index_t queries = 0;
  index_t keys = 0;
  index_t value_dim = 0;
  posgeo::heads layout;
  std::vector<index_t> key_heads;
  std::vector<index_t> asked_as = {};  ///< the head that a term is asked as, for each query head; empty: itself
  std::vector<double> query;
  std::vector<double> key;
  std::vector<double> value;

  [[nodiscard]] std::span<double> query_row(index_t b, index_t h, index_t i) noexcept {
    return {query.data() + ((b * layout.query + h) * queries + i) * layout.dim, static_cast<std::size_t>(layout.dim)};
  }
  [[nodiscard]] std::span<double> key_row(index_t b, index_t shared, index_t j) noexcept {
    return {key.data() + ((b * layout.key_value + shared) * keys + j) * layout.dim,
            static_cast<std::size_t>(layout.dim)};
  }
  [[nodiscard]] std::span<const double> query_row(index_t b, index_t h, index_t i) const noexcept {
    return const_cast<attention_rows*>(this)->query_row(b, h, i);
  }
  [[nodiscard]] std::span<const double> key_row(index_t b, index_t shared, index_t j) const noexcept {
    return const_cast<attention_rows*>(this)->key_row(b, shared, j);
  }
  [[nodiscard]] head_index asked(head_index h) const noexcept {
    return asked_as.empty() ? h : head_index{asked_as[static_cast<std::size_t>(h.value())]};
  }
  /// [batch, query heads, queries, keys]
  [[nodiscard]] std::size_t pair(index_t b, index_t h, index_t i, index_t j) const noexcept {
    return static_cast<std::size_t>(((b * layout.query + h) * queries + i) * keys + j);
  }
  [[nodiscard]] std::size_t pairs() const noexcept {
    return static_cast<std::size_t>(batch * layout.query * queries * keys);
  }
};

/// What one policy gives a call, written out. Which of it is there depends on its family.
struct policy_numbers {
  std::vector<double> pairs;  ///< of a bias or a content term: [batch, query heads, queries, keys]
  std::vector<double> rows;   ///< of a value term: [batch, query heads, queries, keys, value dim] for a weight of 1
  std::vector<std::uint8_t> seen;  ///< of a visibility: [batch, queries, keys]
  std::vector<double> query;       ///< of a transform: all query rows and all key rows
  std::vector<double> key;
  std::vector<double> heads;  ///< of a sink: [query heads]
};

/// One term of a score, times a factor.
struct added_numbers {
  std::shared_ptr<const policy_numbers> numbers;
  double factor = 1.0;
};

/// Whether a term is added to the raw score, before the scale, or to the scaled one.
enum class scale_order { before_scale, after_scale };

/// A number that stands for "hidden": added to the score or in its place.
struct mask_number {
  enum class use { added, in_place };
  double number;
  use how;
};

/// An attention over one call, written out, so that each of its parts may be another.
struct score_parts {
  attention_rows rows;  ///< transformed
  std::vector<added_numbers> contents;
  std::vector<added_numbers> biases;
  std::vector<added_numbers> values;
  std::vector<std::shared_ptr<const policy_numbers>> masks;
  scale_order content_order = scale_order::before_scale;
  scale_order bias_order = scale_order::after_scale;
  double scale = 1.0;
  std::optional<scale::softcap> cap;
  std::vector<double> sink;
  std::optional<mask_number> mask;

  [[nodiscard]] bool visible(index_t b, index_t i, index_t j) const noexcept {
    const auto at = static_cast<std::size_t>((b * rows.queries + i) * rows.keys + j);
    return std::all_of(masks.begin(), masks.end(), [at](const auto& m) { return m->seen[at] != 0; });
  }
};

/// What an attention gives: output [batch, query heads, queries, value dim], log_sum_exp [batch, query heads, queries]
/// and weights [batch, query heads, queries, keys]. What is not given is empty.
struct attention_numbers {
  std::vector<double> output;
  std::vector<double> log_sum_exp;
  std::vector<double> weights;
};

namespace detail {

[[nodiscard]] inline double sum_of_terms(const std::vector<added_numbers>& terms, const attention_rows& rows, index_t b,
                                         index_t h, index_t i, index_t j) noexcept {
  double sum = 0.0;
  for (const added_numbers& term : terms) sum += term.factor * term.numbers->pairs[rows.pair(b, h, i, j)];
  return sum;
}

/// The final score of a pair, -infinity if the key is hidden.
[[nodiscard]] inline double score_of(const score_parts& parts, index_t b, index_t h, index_t i, index_t j) noexcept {
  constexpr double hidden = -std::numeric_limits<double>::infinity();
  const attention_rows& rows = parts.rows;
  const bool seen = parts.visible(b, i, j);
  if (!seen && !parts.mask) return hidden;
  const auto q = rows.query_row(b, h, i);
  const auto k = rows.key_row(b, rows.key_heads[static_cast<std::size_t>(h)], j);
  double raw = 0.0;
  for (std::size_t d = 0; d < q.size(); ++d) raw += q[d] * k[d];
  const double content = sum_of_terms(parts.contents, rows, b, h, i, j);
  const double bias = sum_of_terms(parts.biases, rows, b, h, i, j);
  if (bias == hidden) return hidden;
  if (parts.content_order == scale_order::before_scale) raw += content;
  if (parts.bias_order == scale_order::before_scale) raw += bias;
  double score = raw * parts.scale;
  if (parts.content_order == scale_order::after_scale) score += content;
  const auto capped = [&](scale::softcap_place place) {
    if (parts.cap && parts.cap->place() == place) score = parts.cap->cap() * std::tanh(score / parts.cap->cap());
  };
  capped(scale::softcap_place::before_bias);
  if (parts.bias_order == scale_order::after_scale) score += bias;
  capped(scale::softcap_place::after_bias);
  if (seen) return score;
  return parts.mask->how == mask_number::use::added ? score + parts.mask->number : parts.mask->number;
}

}  // namespace detail

/// The parts put together in the order of model/attention.hpp.
[[nodiscard]] inline attention_numbers evaluate(const score_parts& parts) {
  constexpr double nothing = -std::numeric_limits<double>::infinity();
  const attention_rows& rows = parts.rows;
  const auto width = static_cast<std::size_t>(rows.value_dim);
  attention_numbers out;
  std::vector<double> scores(static_cast<std::size_t>(rows.keys));
  for (index_t b = 0; b < rows.batch; ++b) {
    for (index_t h = 0; h < rows.layout.query; ++h) {
      double sink = nothing;
      if (!parts.sink.empty()) sink = parts.sink[static_cast<std::size_t>(h)];
      const index_t shared = rows.key_heads[static_cast<std::size_t>(h)];
      for (index_t i = 0; i < rows.queries; ++i) {
        double largest = sink;
        for (index_t j = 0; j < rows.keys; ++j) {
          scores[static_cast<std::size_t>(j)] = detail::score_of(parts, b, h, i, j);
          largest = std::max(largest, scores[static_cast<std::size_t>(j)]);
        }
        const bool any = largest != nothing;
        double sum = any ? std::exp(sink - largest) : 0.0;
        for (double& score : scores) {
          score = any ? std::exp(score - largest) : 0.0;
          sum += score;
        }
        out.log_sum_exp.push_back(any ? largest + std::log(sum) : nothing);
        std::vector<double> row(width);
        for (index_t j = 0; j < rows.keys; ++j) {
          const double weight = any ? scores[static_cast<std::size_t>(j)] / sum : 0.0;
          out.weights.push_back(weight);
          if (weight == 0.0) continue;
          const double* const value =
              rows.value.data() + ((b * rows.layout.key_value + shared) * rows.keys + j) * rows.value_dim;
          for (std::size_t d = 0; d < width; ++d) row[d] += weight * value[d];
          for (const added_numbers& term : parts.values) {
            const double* const more = term.numbers->rows.data() + rows.pair(b, h, i, j) * width;
            for (std::size_t d = 0; d < width; ++d) row[d] += weight * term.factor * more[d];
          }
        }
        out.output.insert(out.output.end(), row.begin(), row.end());
      }
    }
  }
  return out;
}

}  // namespace posgeo::audit
