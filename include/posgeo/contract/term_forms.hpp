// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/attend/plan_parts.hpp>

#include <algorithm>
#include <string_view>
#include <vector>

namespace posgeo::contract {

/// How an executor runs a term.
enum class term_form {
  turned_rows,          ///< pairs of dimensions turned by a table of angles
  offset_line,          ///< a line of numbers by offset
  key_line,             ///< a line of numbers by key
  caller_line,          ///< numbers read where the caller has them
  query_class_scores,   ///< products of a query with the rows of all classes
  key_class_scores,     ///< products of a key with the rows of all classes
  added_to_query,       ///< a vector joined to the query
  appended_dimensions,  ///< dimensions joined to the dot product
  class_mass,           ///< the weight of each class, one product at the end of a row
  rule,                 ///< a visibility as a range
  pair_by_pair,         ///< the scalar expression of each pair or row
};

[[nodiscard]] constexpr std::string_view name_of(term_form form) noexcept {
  constexpr std::string_view names[] = {
      "turned_rows",    "offset_line",         "key_line",   "caller_line", "query_class_scores", "key_class_scores",
      "added_to_query", "appended_dimensions", "class_mass", "rule",        "pair_by_pair"};
  return names[static_cast<std::size_t>(form)];
}

/// One term of a plan and how it is run. Terms count from 0 in each family, in the order of the policies.
struct term_run {
  std::string_view family;
  index_t number;
  std::vector<term_form> forms;
};

/// How the terms of a plan are run by an executor that asks for block forms, as the fused one does. A form that a term
/// could have and has not enabled is left out.
/// Source: the block forms of score_bias, content_term, value_term, qk_transform and visibility.
template <class Plan>
[[nodiscard]] std::vector<term_run> block_forms_of(const Plan& plan) {
  using T = typename Plan::scalar;
  using parts = posgeo::detail::plan_parts<Plan>;
  std::vector<term_run> all;
  const auto each = [&all](std::string_view family, const auto& terms, const auto& forms_of) {
    index_t number = 0;
    parts::each(terms, [&](const auto& term) { all.push_back({family, number++, forms_of(term)}); });
  };
  using forms = std::vector<term_form>;
  each("qk_transform", plan.transforms(), []<class Term>(const Term&) {
    return forms{turning_transform<Term, T> ? term_form::turned_rows : term_form::pair_by_pair};
  });
  each("content_term", plan.contents(), []<class Term>(const Term& term) {
    forms found;
    if constexpr (query_sided<Term, T>) {
      if (term.query_side()) found.push_back(term_form::query_class_scores);
    }
    if constexpr (key_sided<Term, T>) {
      if (term.key_side()) found.push_back(term_form::key_class_scores);
    }
    if constexpr (adds_to_query<Term, T>) found.push_back(term_form::added_to_query);
    if constexpr (appended_product<Term, T>) found.push_back(term_form::appended_dimensions);
    if constexpr (!parts::template blocked_content<Term>) found.push_back(term_form::pair_by_pair);
    return found;
  });
  each("score_bias", plan.biases(), []<class Term>(const Term&) {
    return forms{parts::template by_offset<Term> ? term_form::offset_line
                 : parts::template by_key<Term>  ? term_form::key_line
                 : parts::template by_line<Term> ? term_form::caller_line
                                                 : term_form::pair_by_pair};
  });
  each("value_term", plan.values(), []<class Term>(const Term&) {
    return forms{class_values<Term, T> ? term_form::class_mass : term_form::pair_by_pair};
  });
  each("visibility", plan.visibilities(), []<class Term>(const Term&) {
    return forms{posgeo::ruled_visibility<Term> ? term_form::rule : term_form::pair_by_pair};
  });
  return all;
}

/// The same for an executor that asks for every pair.
template <class Plan>
[[nodiscard]] std::vector<term_run> pairwise_forms_of(const Plan& plan) {
  std::vector<term_run> all = block_forms_of(plan);
  for (term_run& term : all) term.forms = {term_form::pair_by_pair};
  return all;
}

}  // namespace posgeo::contract
