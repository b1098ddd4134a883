// SPDX-License-Identifier: MIT
#include <posgeo/content/deberta.hpp>
#include <posgeo/coordinate/pairwise_offsets.hpp>
#include <posgeo/scale/inverse_sqrt_terms.hpp>
#include <posgeo/scale/none.hpp>
#include <posgeo/visible/everything.hpp>

#include "cases/json_tensors.hpp"

namespace posgeo::cases {
namespace {

using content::deberta_terms;
using content::p2c_index;
using coordinate::deberta_span;

head_tables<double> one_table(const std::vector<double>& values, index_t dim) {
  return head_tables<double>::shared({values, static_cast<index_t>(values.size()) / dim, dim});
}

p2c_index index_of(const json& convention) {
  if (convention == "checkpoint") return p2c_index::released_code;
  if (convention == "paper") return p2c_index::paper;
  throw not_supported("convention " + convention.dump());
}

/// The position-to-content term alone: queries of zero.
json p2c(const json& in) {
  const index_t dim = in.at("head_dim");
  const auto keys = in.at("key").get<std::vector<double>>();
  const auto call = call_at(counting(0, in.at("qlen").get<index_t>()), counting(0, in.at("klen").get<index_t>()));
  const content::deberta<double> policy(
      deberta_terms::p2c(index_of(in.at("convention"))), deberta_span::exact(in.at("span").get<index_t>()),
      {.position_queries = one_table(in.at("pos_query_table").get<std::vector<double>>(), dim)});
  tensor<double, 4> k({1, 1, call.keys(), dim});
  if (keys.size() != k.values().size()) throw not_supported("keys that do not fill klen x head_dim");
  std::copy(keys.begin(), keys.end(), k.values().begin());
  const attention model{heads{.dim = dim}, scale::none{}, visible::everything{}, policy};
  return {{"p2c", nested(run(model, call, tensor<double, 4>({1, 1, call.queries(), dim}), k, k).scores)[0][0]}};
}

/// `read(offset)` of every pair, as nested lists.
template <class Read>
json each_pair(const position_call& call, const Read& read) {
  json rows = json::array();
  for (const query_index i : indices<query_index>(call.queries())) {
    json row = json::array();
    for (const key_index j : indices<key_index>(call.keys())) row.push_back(read(call.offset(batch_index{0}, i, j)));
    rows.push_back(row);
  }
  return rows;
}

/// Ones as queries and keys under a p2c term whose table counts its rows.
content::deberta<double> counting_rows(const deberta_span& span) {
  std::vector<double> rows;
  for (index_t row = 0; row < span.rows(); ++row) rows.push_back(static_cast<double>(row));
  return {deberta_terms::p2c(p2c_index::released_code), span, {.position_queries = one_table(rows, 1)}};
}

json relative_positions(const json& in) {
  expect(in, "buckets", "off");
  const auto call =
      call_at(in.at("query_positions").get<std::vector<index_t>>(), in.at("key_positions").get<std::vector<index_t>>());
  const auto span = deberta_span::exact(in.at("span").get<index_t>());
  const attention model{heads{}, scale::none{}, visible::everything{}, counting_rows(span)};
  const auto scores = run_without_content(model, call).scores;
  return {{"relative_position", nested(coordinate::pairwise_offsets(call, offset_sign::query_minus_key))[0]},
          {"table_index", each_pair(call, span)},
          {"p2c_shape", {scores.extent(2), scores.extent(3)}}};
}

json log_buckets(const json& in) {
  json out = json::object();
  for (const auto& [name, part] : in.items()) {
    if (name == "op") continue;
    const coordinate::log_bucket bucket({.num_buckets = part.at("position_buckets").get<index_t>(),
                                         .max_position = part.at("max_position").get<index_t>(),
                                         .beyond = coordinate::beyond_max_position::runs_on});
    const auto span = deberta_span::bucketed(bucket);
    for (const index_t distance : part.at("distances")) {
      const relative_offset key_minus_query{-distance};
      out[name + "_bucket"][std::to_string(distance)] = bucket(key_minus_query);
      out[name + "_table_index_after_offset_and_clamp"][std::to_string(distance)] = span(key_minus_query);
    }
  }
  return out;
}

/// Rows whose products are the raw terms, under each enabled set.
json scaled_scores(const json& in) {
  const index_t dim = in.at("d");
  if (dim < 2) throw not_supported("d below 2");
  const auto row = [dim](double first, double second) {
    std::vector<double> values(static_cast<std::size_t>(dim));
    values[0] = first;
    values[1] = second;
    return values;
  };
  const auto twice = [](std::vector<double> once) {
    once.insert(once.end(), once.begin(), once.end());
    return once;
  };
  // q = e0; the key meets it with the content term and the position query, along e1, with 1.
  const auto q = one_head(json::array({row(1.0, 0.0)}));
  const auto k = one_head(json::array({row(in.at("raw_content"), 1.0)}));
  const auto position_keys = one_table(twice(row(in.at("raw_c2p"), 0.0)), dim);
  const auto position_queries = one_table(twice(row(0.0, in.at("raw_p2c"))), dim);
  const auto score = [&](const auto&... policies) {
    const attention model{heads{.dim = dim}, scale::inverse_sqrt_terms{}, visible::everything{}, policies...};
    return run(model, call_at({0}, {0}), q, k, k).scores(0, 0, 0, 0);
  };
  const auto with = [&](const deberta_terms& terms) {
    content::deberta_tables<double> tables;
    if (terms.has_c2p()) tables.position_keys = position_keys;
    if (terms.has_p2c()) tables.position_queries = position_queries;
    return score(content::deberta<double>(terms, deberta_span::exact(1), tables));
  };
  const auto parsed = [](const char* names) { return deberta_terms::parse(names, p2c_index::released_code); };
  return {{"c2p_and_p2c", with(parsed("c2p|p2c"))},
          {"c2p_only", with(parsed("c2p"))},
          {"p2c_only", with(parsed("p2c"))},
          {"none", score()}};
}

/// One attention compiled for two lengths; what the second plan reads in its last row.
json plan_reuse(const json& in) {
  expect(in, "buckets", "off");
  const auto span = deberta_span::exact(in.at("span").get<index_t>());
  const attention model{heads{}, scale::none{}, visible::everything{}, counting_rows(span)};
  const auto rows = [](index_t length) { return call_at(counting(0, length), counting(0, length)); };
  const auto first = model.template compile<double>(rows(in.at("first_call_length")));
  const auto second = model.template compile<double>(rows(in.at("second_call_length")));
  if (first.call().keys() == second.call().keys()) throw not_supported("two calls of one length");
  const query_index last{second.call().queries() - 1};
  const std::vector<double> one{1.0};
  json relative = json::array();
  json index = json::array();
  for (const key_index j : indices<key_index>(second.call().keys())) {
    relative.push_back(span.relative(second.call().offset(batch_index{0}, last, j)));
    index.push_back(second.content(batch_index{0}, head_index{0}, last, j, one, one));
  }
  return {{"second_call_last_row_relative", relative}, {"second_call_last_row_index", index}};
}

}  // namespace

operations deberta_operations() {
  return {{"deberta_p2c", p2c},
          {"deberta_relative_positions", relative_positions},
          {"deberta_log_bucket", log_buckets},
          {"deberta_scaled_score", scaled_scores},
          {"deberta_plan_reuse", plan_reuse}};
}

}  // namespace posgeo::cases
