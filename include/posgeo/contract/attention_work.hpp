// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/contract/visible_offsets.hpp>

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace posgeo::contract {

/// What one run of a plan has to do. Units: floating-point operations, a multiplication and an addition each count,
/// over all heads and entries. Softmax, rotations and additions of biases are not counted: they grow with no width.
struct attention_work {
  double visible_pairs = 0;    ///< of all heads
  double products = 0;         ///< 2 * head_dim for each visible pair: query . key
  double weighted_values = 0;  ///< 2 * value width for each
  double class_scores = 0;     ///< 2 * head_dim for each row and each class that its keys have, on each side
  double appended = 0;         ///< 2 * appended dimensions for each visible pair
  double class_values = 0;     ///< 2 * value width for each row and class of the value terms
  double pairwise = 0;         ///< scalar expressions that are asked pair by pair; not flops

  [[nodiscard]] double attention() const noexcept { return products + weighted_values; }
  [[nodiscard]] double terms() const noexcept { return class_scores + appended + class_values; }
  [[nodiscard]] double flops() const noexcept { return attention() + terms(); }
};

/// The work of a plan whose terms run by their block forms.
/// Cost:   that of each_row_view. A row's classes are those between the ones of its two farthest keys, and no more than
///         its keys.
template <class Plan>
[[nodiscard]] attention_work work_of(const Plan& plan, index_t value_dim) {
  using T = typename Plan::scalar;
  using parts = posgeo::detail::plan_parts<Plan>;
  const auto heads = static_cast<double>(plan.layout().query);
  const auto dim = static_cast<double>(plan.layout().dim);
  const auto width = static_cast<double>(value_dim);
  double pairs = 0;
  double score_classes = 0;
  double value_classes = 0;
  each_row_view(plan, query_rows::all, [&](const row_view& view) {
    pairs += static_cast<double>(view.keys);
    if (!view.reach) return;
    const auto classes = [&view](const auto& side) {
      if (!side) return 0.0;
      const index_t between = std::abs(side->of(view.reach->highest) - side->of(view.reach->lowest));
      return static_cast<double>(std::min(view.keys, between + 1));
    };
    parts::each(plan.contents(), [&](const auto& term) {
      using Term = std::remove_cvref_t<decltype(term)>;
      if constexpr (query_sided<Term, T>) score_classes += classes(term.query_side());
      if constexpr (key_sided<Term, T>) score_classes += classes(term.key_side());
    });
    parts::each(plan.values(), [&](const auto& term) {
      if constexpr (class_values<std::remove_cvref_t<decltype(term)>, T>) {
        value_classes += classes(term.classes_of_value());
      }
    });
  });
  double appended_dim = 0;
  parts::each(plan.contents(), [&](const auto& term) {
    if constexpr (appended_product<std::remove_cvref_t<decltype(term)>, T>) {
      appended_dim += static_cast<double>(term.appended_dim());
    }
  });
  constexpr auto slow = static_cast<double>(parts::slow_pairs + parts::pair_values);
  attention_work work;
  work.visible_pairs = pairs * heads;
  work.products = 2 * dim * work.visible_pairs;
  work.weighted_values = 2 * width * work.visible_pairs;
  work.class_scores = 2 * dim * score_classes * heads;
  work.appended = 2 * appended_dim * work.visible_pairs;
  work.class_values = 2 * width * value_classes * heads;
  work.pairwise = slow * work.visible_pairs;
  return work;
}

}  // namespace posgeo::contract
