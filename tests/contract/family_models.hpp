// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/bias/alibi.hpp>
#include <posgeo/bias/alibi_key_position.hpp>
#include <posgeo/bias/learned_relative.hpp>
#include <posgeo/bias/t5.hpp>
#include <posgeo/bias/tupe_relative.hpp>
#include <posgeo/content/bert_relative.hpp>
#include <posgeo/content/deberta.hpp>
#include <posgeo/content/distance_rows.hpp>
#include <posgeo/content/shaw_key.hpp>
#include <posgeo/content/transformer_xl.hpp>
#include <posgeo/content/tupe.hpp>
#include <posgeo/frequency/geometric.hpp>
#include <posgeo/model/attention.hpp>
#include <posgeo/scale/constant.hpp>
#include <posgeo/scale/inverse_sqrt_terms.hpp>
#include <posgeo/scale/none.hpp>
#include <posgeo/scale/sink.hpp>
#include <posgeo/transform/rotary.hpp>
#include <posgeo/value/shaw_value.hpp>
#include <posgeo/visible/active.hpp>
#include <posgeo/visible/all_of.hpp>
#include <posgeo/visible/any_of.hpp>
#include <posgeo/visible/causal.hpp>
#include <posgeo/visible/custom.hpp>
#include <posgeo/visible/everything.hpp>
#include <posgeo/visible/segments.hpp>
#include <posgeo/visible/window.hpp>

#include "support/random.hpp"

// A policy of each family, small, for a layout of two query heads of four numbers.
namespace posgeo::test {

inline const heads two_heads{.query = 2, .key_value = 2, .dim = 4};

[[nodiscard]] inline table<float> floats(index_t rows, index_t columns, unsigned seed) {
  return {random_values<float>(static_cast<std::size_t>(rows * columns), seed), rows, columns};
}
[[nodiscard]] inline head_tables<float> shared_rows(index_t rows, unsigned seed) {
  return head_tables<float>::shared(floats(rows, two_heads.dim, seed));
}

[[nodiscard]] inline coordinate::t5_bucket few_buckets(coordinate::bucket_direction direction) {
  return coordinate::t5_bucket({.num_buckets = 8, .max_distance = 12, .direction = direction});
}
[[nodiscard]] inline bias::t5<float> small_t5() {
  return {floats(8, two_heads.query, 1), few_buckets(coordinate::bucket_direction::bidirectional)};
}
[[nodiscard]] inline bias::alibi small_alibi() {
  return {bias::alibi_slopes::reference(two_heads.query), bias::alibi_direction::symmetric};
}
[[nodiscard]] inline bias::learned_relative<float, coordinate::clipped> small_learned() {
  const coordinate::clipped classes(
      {.behind = 5, .ahead = 3, .sign = offset_sign::query_minus_key, .beyond = coordinate::beyond_ends::clipped});
  return {floats(classes.classes(), two_heads.query, 2), classes};
}
[[nodiscard]] inline bias::tupe_relative<float> small_tupe_relative() {
  return {
      floats(9, two_heads.query, 3), few_buckets(coordinate::bucket_direction::bidirectional), {.cls = position{0}}};
}
[[nodiscard]] inline content::shaw_key<float> small_shaw_key() {
  return {shared_rows(7, 4), coordinate::clipped::symmetric(3)};
}
[[nodiscard]] inline value::shaw_value<float> small_shaw_value() {
  return {shared_rows(5, 5), coordinate::clipped::symmetric(2)};
}
[[nodiscard]] inline content::transformer_xl<float, content::distance_rows<float>> small_transformer_xl() {
  constexpr index_t far = 40;
  return {{.content = floats(2, 4, 6), .position = floats(2, 4, 7)},
          {shared_rows(2 * far + 1, 8), {.lowest = -far, .order = content::distance_order::ascending}}};
}
[[nodiscard]] inline content::deberta<float> small_deberta(content::deberta_terms terms) {
  const auto span = coordinate::deberta_span::exact(4);
  content::deberta_tables<float> tables;
  if (terms.has_c2p()) tables.position_keys = shared_rows(span.rows(), 9);
  if (terms.has_p2c()) tables.position_queries = shared_rows(span.rows(), 10);
  return {terms, span, tables};
}
[[nodiscard]] inline content::tupe<float> small_tupe(content::tupe_cls cls) {
  return {{.queries = shared_rows(50, 11), .keys = shared_rows(50, 12)}, cls};
}
[[nodiscard]] inline transform::rotary<frequency::geometric> small_rotary() {
  return {frequency::geometric({.base = 100.0, .rotary_dim = 4}), {.pairs = transform::pairing::halves, .offset = 0}};
}

template <class... Policies>
[[nodiscard]] auto seen_by_all(Policies... policies) {
  return attention{two_heads, scale::inverse_sqrt_terms{}, visible::everything{}, std::move(policies)...};
}

}  // namespace posgeo::test
