// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/bias/alibi.hpp>
#include <posgeo/bias/alibi_key_position.hpp>
#include <posgeo/bias/learned_relative.hpp>
#include <posgeo/bias/pair.hpp>
#include <posgeo/bias/t5.hpp>
#include <posgeo/bias/tupe_relative.hpp>
#include <posgeo/content/bert_relative.hpp>
#include <posgeo/content/deberta.hpp>
#include <posgeo/content/distance_rows.hpp>
#include <posgeo/content/shaw_key.hpp>
#include <posgeo/content/transformer_xl.hpp>
#include <posgeo/content/tupe.hpp>
#include <posgeo/coordinate/offset_bounds.hpp>
#include <posgeo/frequency/geometric.hpp>
#include <posgeo/scale/sink.hpp>
#include <posgeo/scale/softcap.hpp>
#include <posgeo/transform/rotary.hpp>
#include <posgeo/value/shaw_value.hpp>

#include "agreement/agree.hpp"

// Every policy made to fit a scene. Tables hold floats, so that plans in float and in double read the same numbers.
namespace posgeo::test {

[[nodiscard]] inline table<float> numbers(index_t rows, index_t columns, unsigned seed) {
  return {random_values<float>(static_cast<std::size_t>(rows * columns), seed), rows, columns};
}

/// The length of the longest row of `width` numbers.
[[nodiscard]] inline double longest(std::span<const float> values, index_t width) {
  double most = 0;
  for (std::size_t at = 0; at < values.size(); at += static_cast<std::size_t>(width)) {
    double squares = 0;
    for (const float x : values.subspan(at, static_cast<std::size_t>(width)))
      squares += static_cast<double>(x) * static_cast<double>(x);
    most = std::max(most, squares);
  }
  return std::sqrt(most);
}

/// `rows` rows of head_dim numbers for each query head, or, where that would be large, shared by all of them.
[[nodiscard]] inline head_tables<float> rows_for_heads(const scene& where, index_t rows, index_t width, unsigned seed) {
  if (rows * width > 10000) return head_tables<float>::shared(numbers(rows, width, seed));
  return head_tables<float>::stacked(numbers(where.layout.query * rows, width, seed), where.layout.query);
}

/// The farthest that a query and a key of a scene are apart, no more than 2200.
[[nodiscard]] inline index_t farthest(const scene& where) {
  const auto bounds = coordinate::bounds_of_offsets(where.call);
  if (!bounds) return 1;
  const index_t most = std::max(-bounds->lowest.value(), bounds->highest.value());
  return std::clamp(most, index_t{1}, index_t{2200});
}

[[nodiscard]] inline bias::alibi alibi_of(const scene& where) {
  return {bias::alibi_slopes::reference(where.layout.query), bias::alibi_direction::symmetric};
}
[[nodiscard]] inline bias::alibi_key_position alibi_key_position_of(const scene& where) {
  return bias::alibi_key_position(bias::alibi_slopes::reference(where.layout.query), where.number % 2 == 0 ? 0 : -30);
}
[[nodiscard]] inline coordinate::t5_bucket t5_buckets() {
  return coordinate::t5_bucket(
      {.num_buckets = 16, .max_distance = 50, .direction = coordinate::bucket_direction::bidirectional});
}
[[nodiscard]] inline bias::t5<float> t5_of(const scene& where) {
  return {numbers(16, where.layout.query, 11), t5_buckets()};
}
[[nodiscard]] inline bias::tupe_relative<float> tupe_relative_of(const scene& where) {
  return {numbers(17, where.layout.query, 12), t5_buckets(), {.cls = position{0}}};
}
[[nodiscard]] inline bias::learned_relative<float, coordinate::clipped> learned_relative_of(const scene& where) {
  const coordinate::clipped classes(
      {.behind = 29,
       .ahead = 6,
       .sign = where.number % 2 == 0 ? offset_sign::key_minus_query : offset_sign::query_minus_key,
       .beyond = coordinate::beyond_ends::clipped});
  return {numbers(classes.classes(), where.layout.query, 13), classes};
}
/// A bias in memory of the test's, with axes that are broadcast; every ninth number or so removes its key.
struct pair_memory {
  std::shared_ptr<tensor<float, 4>> values;

  explicit pair_memory(const scene& where) {
    const unsigned n = where.number;
    values = std::make_shared<tensor<float, 4>>(
        random_tensor<float, 4>({n % 2 == 0 ? where.call.batch() : 1, n % 3 == 0 ? 1 : where.layout.query,
                                 n % 5 == 1 ? 1 : where.call.queries(), n % 7 == 3 ? 1 : where.call.keys()},
                                14));
    for (float& value : values->values()) value = value < -1.2F ? -std::numeric_limits<float>::infinity() : value;
  }
  [[nodiscard]] bias::pair<float> policy() const { return bias::pair<float>(std::as_const(*values).view()); }
};

[[nodiscard]] inline content::shaw_key<float> shaw_key_of(const scene& where) {
  const auto classes = coordinate::clipped::symmetric(where.number % 2 == 0 ? 7 : 23);
  return {rows_for_heads(where, classes.classes(), where.layout.dim, 21), classes};
}
[[nodiscard]] inline value::shaw_value<float> shaw_value_of(const scene& where) {
  const auto classes = coordinate::clipped::symmetric(where.number % 2 == 0 ? 9 : 4);
  return {rows_for_heads(where, classes.classes(), where.value_dim, 22), classes};
}
[[nodiscard]] inline double largest_of(const value::shaw_value<float>& term) {
  return longest(term.rows().values(), 1);
}
[[nodiscard]] inline double longest_of(const content::shaw_key<float>& term) {
  return longest(term.rows().values(), term.rows().dim());
}

struct transformer_xl_parts {
  content::transformer_xl<float, content::distance_rows<float>> policy;
  parameter_sizes sizes;
};
[[nodiscard]] inline transformer_xl_parts transformer_xl_of(const scene& where) {
  const index_t dim = where.layout.dim;
  const index_t far = std::max(farthest(where) + 10, index_t{160});  // of sequences that stand beside it, too
  const auto u = numbers(where.layout.query, dim, 31);
  const auto v = numbers(where.layout.query, dim, 32);
  const auto rows = rows_for_heads(where, 2 * far + 1, dim, 33);
  const double of_rows = longest(rows.values(), dim);
  const auto order = where.number % 2 == 0 ? content::distance_order::ascending : content::distance_order::descending;
  return {{{.content = u, .position = v}, {rows, {.lowest = -far, .order = order}}},
          {.of_query = of_rows, .of_key = longest(u.values(), dim), .of_neither = of_rows * longest(v.values(), dim)}};
}

struct deberta_parts {
  content::deberta<float> policy;
  parameter_sizes sizes;
};
[[nodiscard]] inline deberta_parts deberta_of(const scene& where) {
  const unsigned n = where.number;
  const auto index = n % 2 == 0 ? content::p2c_index::released_code : content::p2c_index::paper;
  const auto terms = n % 4 == 1   ? content::deberta_terms::c2p()
                     : n % 4 == 2 ? content::deberta_terms::p2c(index)
                                  : content::deberta_terms::both(index);
  const auto span =
      n % 3 == 0 ? coordinate::deberta_span::exact(12)
                 : coordinate::deberta_span::bucketed(coordinate::log_bucket(
                       {.num_buckets = 16, .max_position = 64, .beyond = coordinate::beyond_max_position::runs_on}));
  content::deberta_tables<float> tables;
  parameter_sizes sizes;
  if (terms.has_c2p()) {
    tables.position_keys = rows_for_heads(where, span.rows(), where.layout.dim, 41);
    sizes.of_query = longest(tables.position_keys->values(), where.layout.dim);
  }
  if (terms.has_p2c()) {
    tables.position_queries = rows_for_heads(where, span.rows(), where.layout.dim, 42);
    sizes.of_key = longest(tables.position_queries->values(), where.layout.dim);
  }
  return {{terms, span, tables}, sizes};
}

struct tupe_parts {
  content::tupe<float> policy;
  parameter_sizes sizes;
};
[[nodiscard]] inline tupe_parts tupe_of(const scene& where, content::tupe_cls cls) {
  const index_t rows = where.call.keys() + where.call.queries() < 200 ? 200 : 2200;
  const auto queries = rows_for_heads(where, rows, where.layout.dim, 51);
  const auto keys = rows_for_heads(where, rows, where.layout.dim, 52);
  return {{{.queries = queries, .keys = keys}, cls},
          {.of_neither = longest(queries.values(), where.layout.dim) * longest(keys.values(), where.layout.dim)}};
}

[[nodiscard]] inline transform::rotary<frequency::geometric> rotary_of(const scene& where) {
  const index_t all = where.layout.dim;
  return {frequency::geometric({.base = 10000.0, .rotary_dim = where.number % 3 == 0 ? all / 4 * 2 : all}),
          {.pairs = where.number % 2 == 0 ? transform::pairing::halves : transform::pairing::adjacent,
           .offset = where.number % 5 == 0 ? 3 : 0}};
}

[[nodiscard]] inline scale::softcap softcap_of(const scene& where) {
  return scale::softcap(
      {.cap = 2.5,
       .place = where.number % 2 == 0 ? scale::softcap_place::before_bias : scale::softcap_place::after_bias});
}

/// A logit for each query head that floats hold exactly.
[[nodiscard]] inline scale::sink sink_of(const scene& where) {
  const auto logits = random_values<float>(static_cast<std::size_t>(where.layout.query), 71);
  return scale::sink({logits.begin(), logits.end()});
}

/// The sum of two sets of parameters that meet the same rows.
[[nodiscard]] constexpr parameter_sizes operator+(const parameter_sizes& a, const parameter_sizes& b) {
  return {a.of_query + b.of_query, a.of_key + b.of_key, a.of_neither + b.of_neither, a.of_value + b.of_value};
}

// Models that more than one file asks for.

[[nodiscard]] inline auto nope_member(const scene& where) { return family_member{model_of(where)}; }

[[nodiscard]] inline auto t5_shaw_rotary_member(const scene& where) {
  const auto shaw = shaw_key_of(where);
  return family_member{model_of(where, rotary_of(where), shaw, t5_of(where)), {.of_query = longest_of(shaw)}};
}

/// A policy of each family that goes with all the others.
[[nodiscard]] inline auto everything_member(const scene& where) {
  const auto shaw = shaw_key_of(where);
  const auto xl = transformer_xl_of(where);
  const auto deberta = deberta_of(where);
  const auto tupe = tupe_of(where, content::tupe_cls::released(position{0}));
  const auto values = shaw_value_of(where);
  const pair_memory memory(where);
  const auto model = model_of(where, rotary_of(where), shaw, xl.policy, deberta.policy, tupe.policy, alibi_of(where),
                              t5_of(where), learned_relative_of(where), memory.policy(), tupe_relative_of(where),
                              values, softcap_of(where), sink_of(where));
  const parameter_sizes of_shaw{.of_query = longest_of(shaw), .of_value = largest_of(values)};
  return family_member{model, of_shaw + xl.sizes + deberta.sizes + tupe.sizes, memory.values};
}

}  // namespace posgeo::test
