// SPDX-License-Identifier: MIT
#include <posgeo/content/bert_relative.hpp>
#include <posgeo/content/deberta.hpp>
#include <posgeo/content/shaw_key.hpp>
#include <posgeo/content/transformer_xl.hpp>
#include <posgeo/content/tupe.hpp>

#include "support/described.hpp"
#include "support/random.hpp"

namespace content_describe_test {

using namespace posgeo;
using namespace posgeo::test;
using coordinate::clipped;
using coordinate::deberta_span;
using tables = head_tables<double>;

/// Rows that say nothing about themselves.
struct undescribed_rows : content::distance_rows<double> {
  void describe() const = delete;
};
static_assert(described_policy<content::transformer_xl<float>> &&
              described_policy<content::transformer_xl<double, content::distance_rows<double>>> &&
              !described_policy<content::transformer_xl<double, undescribed_rows>>);

table<double> changed_in(const table<double>& from, std::size_t at) {
  std::vector<double> values(from.values().begin(), from.values().end());
  values[at] += 0.5;
  return {values, from.rows(), from.columns()};
}

TEST_CASE("shaw keys are described by their tables and classes", "[describe]") {
  const auto rows = random_table(12, 4, 4431);
  const auto clip = [](index_t behind, index_t ahead, offset_sign sign, coordinate::beyond_ends beyond) {
    return clipped({.behind = behind, .ahead = ahead, .sign = sign, .beyond = beyond});
  };
  const auto made = [](const tables& of, const clipped& classes) {
    return content::shaw_key<double>(of, classes).describe();
  };
  constexpr auto forward = offset_sign::key_minus_query;
  constexpr auto share = coordinate::beyond_ends::clipped;
  const auto base = clip(2, 1, forward, share);
  const table<double> wide(rows.values(), 4, 12);
  check_described(
      made(tables::stacked(rows, 3), base), made(tables::stacked(random_table(12, 4, 4431), 3), base),
      {{{"table"}, made(tables::stacked(changed_in(rows, 47), 3), base)},
       {{"table"}, made(tables::shared(random_table(4, 4, 4431)), base)},
       {{"table", "table_axes"}, made(tables::by_column(wide, 3), base)},
       {{"rule.behind", "rule.ahead"}, made(tables::stacked(rows, 3), clip(1, 2, forward, share))},
       {{"rule.sign"}, made(tables::stacked(rows, 3), clip(2, 1, offset_sign::query_minus_key, share))},
       {{"rule.beyond"}, made(tables::stacked(rows, 3), clip(2, 1, forward, coordinate::beyond_ends::refused))}});
}

TEST_CASE("relative keys and relative keys of both sides are told apart", "[describe]") {
  const auto rows = random_table(7, 3, 4432);
  const auto made = [](const table<double>& of, index_t positions) {
    return content::relative_key_query<double>(of, positions).describe();
  };
  check_described(made(rows, 4), made(random_table(7, 3, 4432), 4),
                  {{{"table"}, made(changed_in(rows, 11), 4)},
                   {{"table", "rule.behind", "rule.ahead"}, made(random_table(9, 3, 4432), 5)}},
                  {"table_axes", "rule.sign", "rule.beyond"});
  const auto query_only = content::relative_key<double>(rows, 4).describe();
  CHECK_FALSE(query_only == made(rows, 4));
  CHECK(differing(query_only, made(rows, 4)) == field_paths{});  // but for the mechanism
}

TEST_CASE("deberta is described by its terms, its tables and its span", "[describe]") {
  using content::deberta_terms;
  using content::p2c_index;
  const auto keys = random_table(12, 2, 4433);
  const auto queries = random_table(12, 2, 4434);
  const auto made = [](deberta_terms terms, const deberta_span& span, std::optional<tables> key,
                       std::optional<tables> query) {
    return content::deberta<double>(terms, span,
                                    {.position_keys = std::move(key), .position_queries = std::move(query)})
        .describe();
  };
  const auto k = tables::stacked(keys, 2);
  const auto q = tables::stacked(queries, 2);
  const auto span = deberta_span::exact(3);
  constexpr auto released = p2c_index::released_code;
  const auto by_column = [](const table<double>& of) { return tables::by_column(table<double>(of.values(), 6, 4), 2); };
  check_described(
      made(deberta_terms::both(released), span, k, q), made(deberta_terms::parse("p2c|c2p", released), span, k, q),
      {{{"p2c_index"}, made(deberta_terms::both(p2c_index::paper), span, k, q)},
       {{"key_table"}, made(deberta_terms::both(released), span, tables::stacked(changed_in(keys, 20), 2), q)},
       {{"query_table"}, made(deberta_terms::both(released), span, k, tables::stacked(changed_in(queries, 3), 2))},
       {{"key_table", "query_table"}, made(deberta_terms::both(released), span, q, k)},
       {{"key_table", "key_table_axes"}, made(deberta_terms::both(released), span, by_column(keys), q)},
       {{"query_table", "query_table_axes"}, made(deberta_terms::both(released), span, k, by_column(queries))},
       {{"query_table", "query_table_axes", "p2c_index"}, made(deberta_terms::c2p(), span, k, std::nullopt)},
       {{"key_table", "key_table_axes"}, made(deberta_terms::p2c(released), span, std::nullopt, q)},
       {{"key_table", "query_table", "rule.span"},
        made(deberta_terms::both(released), deberta_span::exact(2), tables::stacked(random_table(8, 2, 4433), 2),
             tables::stacked(random_table(8, 2, 4434), 2))}},
      {"rule.sign", "rule.rule"});
  // the same span, with and without buckets
  const auto shared = tables::shared(keys);
  const auto bucketed = deberta_span::bucketed(coordinate::log_bucket(
      {.num_buckets = 6, .max_position = 30, .beyond = coordinate::beyond_max_position::clamped}));
  CHECK(differing(made(deberta_terms::c2p(), deberta_span::exact(6), shared, std::nullopt),
                  made(deberta_terms::c2p(), bucketed, shared, std::nullopt)) == field_paths{"rule.rule"});
}

TEST_CASE("transformer-xl is described by both biases and by its rows", "[describe]") {
  using content::clamp_len;
  using content::distance_order;
  using content::distance_reach;
  using content::distance_rows;
  using content::projected_sinusoids;
  using content::transformer_xl;
  const auto u = random_table(2, 3, 4435);
  const auto v = random_table(2, 3, 4436);
  const auto weight = random_table(6, 4, 4437);
  const auto made = [](const table<double>& content, const table<double>& position, const table<double>& w,
                       distance_reach reach, clamp_len clamp) {
    return transformer_xl<double>({.content = content, .position = position},
                                  projected_sinusoids<double>(w, {.reach = reach, .clamp = clamp}))
        .describe();
  };
  constexpr auto back = distance_reach::back_only;
  check_described(made(u, v, weight, back, clamp_len::at(9)),
                  made(random_table(2, 3, 4435), v, random_table(6, 4, 4437), back, clamp_len::at(9)),
                  {{{"content_bias_table"}, made(changed_in(u, 5), v, weight, back, clamp_len::at(9))},
                   {{"position_bias_table"}, made(u, changed_in(v, 0), weight, back, clamp_len::at(9))},
                   {{"content_bias_table", "position_bias_table"}, made(v, u, weight, back, clamp_len::at(9))},
                   {{"rows.table"}, made(u, v, changed_in(weight, 19), back, clamp_len::at(9))},
                   {{"rows.reach"}, made(u, v, weight, distance_reach::both_ways, clamp_len::at(9))},
                   {{"rows.clamp_len"}, made(u, v, weight, back, clamp_len::at(10))},
                   {{"rows.clamp_len"}, made(u, v, weight, back, clamp_len::unlimited())}},
                  {"rows.base", "rows.sign"});

  const auto rows = random_table(8, 3, 4438);
  const auto given = [&](const tables& of, index_t lowest, distance_order order) {
    return transformer_xl<double, distance_rows<double>>({.content = u, .position = v},
                                                         distance_rows<double>(of, {.lowest = lowest, .order = order}))
        .describe();
  };
  const auto stacked = tables::stacked(rows, 2);
  check_described(given(stacked, -1, distance_order::ascending),
                  given(tables::stacked(random_table(8, 3, 4438), 2), -1, distance_order::ascending),
                  {{{"rows.table"}, given(tables::stacked(changed_in(rows, 1), 2), -1, distance_order::ascending)},
                   {{"rows.table", "rows.table_axes"},
                    given(tables::by_column(table<double>(rows.values(), 4, 6), 2), -1, distance_order::ascending)},
                   {{"rows.lowest"}, given(stacked, 0, distance_order::ascending)},
                   {{"rows.order"}, given(stacked, -1, distance_order::descending)},
                   {{"rows"}, made(u, v, weight, back, clamp_len::at(9))}},
                  {"content_bias_table", "position_bias_table", "rows.sign"});
}

TEST_CASE("tupe is described by both tables and its rule for CLS", "[describe]") {
  using content::tupe_cls;
  const auto queries = random_table(8, 3, 4439);
  const auto keys = random_table(8, 3, 4440);
  const auto made = [](const tables& of_queries, const tables& of_keys, tupe_cls cls) {
    return content::tupe<double>({.queries = of_queries, .keys = of_keys}, cls).describe();
  };
  const auto q = tables::stacked(queries, 2);
  const auto k = tables::stacked(keys, 2);
  const auto cls = tupe_cls::released(position{0});
  const auto by_column = [](const table<double>& of) { return tables::by_column(table<double>(of.values(), 4, 6), 2); };
  check_described(made(q, k, cls), made(tables::stacked(random_table(8, 3, 4439), 2), k, cls),
                  {{{"query_table"}, made(tables::stacked(changed_in(queries, 23), 2), k, cls)},
                   {{"key_table"}, made(q, tables::stacked(changed_in(keys, 7), 2), cls)},
                   {{"query_table", "key_table"}, made(k, q, cls)},
                   {{"query_table", "query_table_axes"}, made(by_column(queries), k, cls)},
                   {{"key_table", "key_table_axes"}, made(q, by_column(keys), cls)},
                   {{"cls"}, made(q, k, tupe_cls::released(position{1}))},
                   {{"cls"}, made(q, k, tupe_cls::untouched())}});
}

}  // namespace content_describe_test
