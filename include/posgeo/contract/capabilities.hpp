// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/attend/attend.hpp>
#include <posgeo/attend/plan_parts.hpp>
#include <posgeo/contract/capability.hpp>
#include <posgeo/core/precision.hpp>
#include <posgeo/encode/state_encoder.hpp>
#include <posgeo/scale/softcap.hpp>

#include <cmath>
#include <concepts>
#include <optional>
#include <tuple>
#include <type_traits>

namespace posgeo::contract {

namespace detail {

/// A compiled term with a rule for [CLS], if it was given one.
template <class Term>
concept has_special_rows = requires(const Term& term) {
  { term.cls() } -> std::same_as<std::optional<position>>;
};

/// What a content term may need; with a term, what this one needs: a side that is not enabled needs nothing.
template <class T, class Term>
[[nodiscard]] constexpr capability_set of_content(const Term* term) {
  using enum capability;
  capability_set needed;
  bool known = false;
  if constexpr (query_sided<Term, T>) {
    known = true;
    if (term == nullptr || term->query_side()) needed = needed | capability_set{query_relation_scores};
  }
  if constexpr (key_sided<Term, T>) {
    known = true;
    if (term == nullptr || term->key_side()) needed = needed | capability_set{key_relation_scores};
  }
  if constexpr (adds_to_query<Term, T>) {
    known = true;
    needed = needed | capability_set{global_content_bias};
  }
  if constexpr (appended_product<Term, T>) {
    known = true;
    needed = needed | capability_set{appended_dimensions};
  }
  return known ? needed : capability_set{pairwise_content_scores};
}

template <class Term>
[[nodiscard]] constexpr capability_set of_special_rows(const Term* term) {
  if constexpr (has_special_rows<Term>) {
    if (term == nullptr || term->cls()) return {capability::special_rows};
  }
  return {};
}

template <class T, class Terms>
[[nodiscard]] constexpr capability_set of_contents(std::type_identity<Terms>) {
  return []<class... Term>(std::type_identity<std::tuple<Term...>>) {
    return (capability_set{} | ... | (of_content<T, Term>(nullptr) | of_special_rows<Term>(nullptr)));
  }(std::type_identity<Terms>{});
}
template <class Terms>
[[nodiscard]] constexpr capability_set of_special_biases(std::type_identity<Terms>) {
  return []<class... Term>(std::type_identity<std::tuple<Term...>>) {
    return (capability_set{} | ... | of_special_rows<Term>(nullptr));
  }(std::type_identity<Terms>{});
}

[[nodiscard]] constexpr capability_set when(bool needed, capability what) noexcept {
  return needed ? capability_set{what} : capability_set{};
}

}  // namespace detail

/// Everything that the terms of a plan's type may need, by their families and block forms: what a plan of the type
/// needs is a part of it.
template <class Plan>
inline constexpr capability_set may_need =
    detail::when(Plan::has_transforms, capability::query_key_transform) |
    detail::when(Plan::has_biases, capability::additive_score_bias) |
    detail::when(Plan::has_values, capability::value_aggregation) |
    detail::when(Plan::has_sink, capability::softmax_sink) |
    detail::of_contents<typename Plan::scalar>(
        std::type_identity<typename posgeo::detail::plan_parts<Plan>::contents>{}) |
    detail::of_special_biases(std::type_identity<typename posgeo::detail::plan_parts<Plan>::biases>{}) |
    detail::when(posgeo::detail::plan_parts<Plan>::only_ruled, capability::ruled_visibility) |
    detail::when(!posgeo::detail::plan_parts<Plan>::only_ruled, capability::pairwise_visibility) |
    capability_set{capability::stated_scale,  capability::softcap_before_bias, capability::softcap_after_bias,
                   capability::grouped_heads, capability::extended_memory,     capability::irregular_positions} |
    detail::when(std::same_as<typename Plan::scalar, float>, capability::computes_in_float) |
    detail::when(std::same_as<typename Plan::scalar, double>, capability::computes_in_double);

/// What a call needs: memory of earlier calls, positions that are no affine range.
[[nodiscard]] inline capability_set capabilities_of(const position_call& call) {
  bool memory = false;
  for (const batch_index b : indices<batch_index>(call.batch())) memory = memory || call.past_length(b) > 0;
  const auto irregular = [](const row_space& space) { return !space.affine() || space.padded_position().has_value(); };
  return detail::when(memory, capability::extended_memory) |
         detail::when(irregular(call.query_space()) || irregular(call.key_space()), capability::irregular_positions);
}

/// What a plan needs of the executor that runs it.
/// Source: the backend admission table of the positional-call manifest numinens.position-call.v1.
template <class Plan>
requires requires { typename Plan::scalar; }
[[nodiscard]] capability_set capabilities_of(const Plan& plan) {
  using enum capability;
  using T = typename Plan::scalar;
  using parts = posgeo::detail::plan_parts<Plan>;
  capability_set needed =
      detail::when(Plan::has_transforms, query_key_transform) | detail::when(Plan::has_biases, additive_score_bias) |
      detail::when(Plan::has_values, value_aggregation) | detail::when(Plan::has_sink, softmax_sink) |
      detail::when(std::same_as<T, double>, computes_in_double) |
      detail::when(std::same_as<T, float>, computes_in_float) |
      detail::when(plan.layout().query != plan.layout().key_value, grouped_heads) |
      detail::when(plan.cap(scale::softcap_place::before_bias).has_value(), softcap_before_bias) |
      detail::when(plan.cap(scale::softcap_place::after_bias).has_value(), softcap_after_bias) |
      detail::when(plan.scale() != static_cast<T>(1.0 / std::sqrt(static_cast<double>(plan.layout().dim))),
                   stated_scale) |
      capabilities_of(plan.call());
  parts::each(plan.contents(), [&needed](const auto& term) {
    needed = needed | detail::of_content<T>(&term) | detail::of_special_rows(&term);
  });
  parts::each(plan.biases(), [&needed](const auto& term) { needed = needed | detail::of_special_rows(&term); });
  parts::each(plan.visibilities(), [&needed](const auto& term) {
    if constexpr (posgeo::ruled_visibility<std::remove_cvref_t<decltype(term)>>) {
      needed = needed | detail::when(!(term.rule() == visibility_rule{}), capability::ruled_visibility);
    } else {
      needed = needed | capability_set{pairwise_visibility};
    }
  });
  return needed;
}

/// What a state encoder needs: that the rows are made before the projections.
template <class Encoder>
requires std::same_as<typename Encoder::family, family::state_encoder>
[[nodiscard]] constexpr capability_set capabilities_of(const Encoder&) noexcept { return {capability::state_addition}; }

/// What inputs stored in a format need.
[[nodiscard]] constexpr capability_set capabilities_of(precision elements) noexcept {
  constexpr std::array all{capability::binary64_elements, capability::binary32_elements, capability::binary16_elements,
                           capability::bfloat16_elements};
  return {all[static_cast<std::size_t>(elements)]};
}
/// What outputs beside the output need.
[[nodiscard]] constexpr capability_set capabilities_of(also wanted) noexcept {
  return detail::when(includes(wanted, also::log_sum_exp), capability::returns_log_sum_exp) |
         detail::when(includes(wanted, also::scores), capability::returns_scores) |
         detail::when(includes(wanted, also::probabilities), capability::returns_probabilities);
}

}  // namespace posgeo::contract
