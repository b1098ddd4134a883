// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/bias/score_bias.hpp>
#include <posgeo/content/content_term.hpp>
#include <posgeo/transform/qk_transform.hpp>
#include <posgeo/value/value_term.hpp>
#include <posgeo/visible/visibility.hpp>

#include <tuple>
#include <type_traits>
#include <utility>

namespace posgeo::detail {

/// Which block forms the terms of a plan have, so that an executor leaves out what no term needs.
template <class Plan>
struct plan_parts {
  using T = typename Plan::scalar;

  template <class Terms, class Is>
  static constexpr index_t count(const Is& is) {
    return [&]<class... Term>(std::type_identity<std::tuple<Term...>>) {
      return (index_t{0} + ... + (is(std::type_identity<Term>{}) ? 1 : 0));
    }(std::type_identity<Terms>{});
  }
  using biases = std::remove_cvref_t<decltype(std::declval<const Plan&>().biases())>;
  using contents = std::remove_cvref_t<decltype(std::declval<const Plan&>().contents())>;
  using values = std::remove_cvref_t<decltype(std::declval<const Plan&>().values())>;
  using transforms = std::remove_cvref_t<decltype(std::declval<const Plan&>().transforms())>;
  using visibilities = std::remove_cvref_t<decltype(std::declval<const Plan&>().visibilities())>;

  template <class Term>
  static constexpr bool by_offset = offset_bias<Term, T> || cls_offset_bias<Term, T>;
  template <class Term>
  static constexpr bool by_key = !by_offset<Term> && key_bias<Term, T>;
  template <class Term>
  static constexpr bool by_line = !by_offset<Term> && !by_key<Term> && line_bias<Term>;
  /// A content term that is the sum of its block forms.
  template <class Term>
  static constexpr bool blocked_content =
      query_sided<Term, T> || key_sided<Term, T> || adds_to_query<Term, T> || appended_product<Term, T>;

  static constexpr index_t offset_biases =
      count<biases>([]<class Term>(std::type_identity<Term>) { return by_offset<Term>; });
  static constexpr bool cls_biases =
      count<biases>([]<class Term>(std::type_identity<Term>) { return cls_offset_bias<Term, T>; }) > 0;
  static constexpr index_t key_biases =
      count<biases>([]<class Term>(std::type_identity<Term>) { return by_key<Term>; });
  static constexpr index_t pair_biases = static_cast<index_t>(std::tuple_size_v<biases>) - offset_biases - key_biases;
  static constexpr index_t line_biases =
      count<biases>([]<class Term>(std::type_identity<Term>) { return by_line<Term>; });
  static constexpr index_t query_sides =
      count<contents>([]<class Term>(std::type_identity<Term>) { return query_sided<Term, T>; });
  static constexpr index_t key_sides =
      count<contents>([]<class Term>(std::type_identity<Term>) { return key_sided<Term, T>; });
  static constexpr index_t query_additions =
      count<contents>([]<class Term>(std::type_identity<Term>) { return adds_to_query<Term, T>; });
  static constexpr index_t appended =
      count<contents>([]<class Term>(std::type_identity<Term>) { return appended_product<Term, T>; });
  static constexpr index_t pair_contents =
      static_cast<index_t>(std::tuple_size_v<contents>) -
      count<contents>([]<class Term>(std::type_identity<Term>) { return blocked_content<Term>; });
  /// Terms that are asked pair by pair.
  static constexpr index_t slow_pairs = pair_biases - line_biases + pair_contents;
  static constexpr index_t class_values_terms =
      count<values>([]<class Term>(std::type_identity<Term>) { return class_values<Term, T>; });
  static constexpr index_t pair_values = static_cast<index_t>(std::tuple_size_v<values>) - class_values_terms;
  static constexpr index_t turns =
      count<transforms>([]<class Term>(std::type_identity<Term>) { return turning_transform<Term, T>; });
  static constexpr bool only_ruled =
      static_cast<index_t>(std::tuple_size_v<visibilities>) ==
      count<visibilities>([]<class Term>(std::type_identity<Term>) { return ruled_visibility<Term>; });

  /// Calls visit(term) for each term of a tuple.
  template <class Terms, class Visit>
  static void each(const Terms& terms, const Visit& visit) {
    std::apply([&](const auto&... term) { (visit(term), ...); }, terms);
  }
};

}  // namespace posgeo::detail
