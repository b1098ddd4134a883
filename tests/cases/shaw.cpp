// SPDX-License-Identifier: MIT
#include <posgeo/content/bert_relative.hpp>
#include <posgeo/content/shaw_key.hpp>
#include <posgeo/coordinate/relative_shift.hpp>
#include <posgeo/scale/constant.hpp>
#include <posgeo/value/shaw_value.hpp>
#include <posgeo/visible/everything.hpp>

#include "cases/json_tensors.hpp"

namespace posgeo::cases {
namespace {

using coordinate::clipped;
using coordinate::shift_alignment;

/// The class of every pair: a list for each query.
json rows_of(const clipped& classes, const position_call& call) {
  violations found;
  classes.check(call, "case", found);
  found.throw_if_any();
  tensor<index_t, 2> out({call.queries(), call.keys()});
  for (const query_index i : indices<query_index>(call.queries())) {
    for (const key_index j : indices<key_index>(call.keys())) {
      out(i.value(), j.value()) = classes(call.offset(batch_index{0}, i, j));
    }
  }
  return nested(out);
}

json shaw_index(const json& in) { return rows_of(clipped::symmetric(in.at("max_distance")), call_at(in)); }
json relkey_index(const json& in) { return rows_of(content::bert_offsets(in.at("max_position")), call_at(in)); }

head_tables<double> relations(const json& rows) {
  std::vector<double> numbers;
  for (const json& row : rows) {
    for (const json& value : row) numbers.push_back(value);
  }
  return head_tables<double>::shared(
      table<double>(numbers, static_cast<index_t>(rows.size()), static_cast<index_t>(rows.at(0).size())));
}

json shaw_attention(const json& in) {
  const auto q = one_head(in.at("q"));
  const auto k = one_head(in.at("k"));
  const auto v = one_head(in.at("v"));
  const clipped classes = clipped::symmetric(in.at("max_distance"));
  const auto run_with = [&](const auto&... more) {
    const attention model{heads{.dim = q.extent(3)}, scale::constant(in.at("scale").get<double>()),
                          visible::everything{}, content::shaw_key<double>(relations(in.at("rel_k")), classes),
                          more...};
    return run(model, call_at(in), q, k, v);
  };
  const auto result =
      in.at("rel_v").is_null() ? run_with() : run_with(value::shaw_value<double>(relations(in.at("rel_v")), classes));
  return {{"logits", nested(result.scores)[0][0]}, {"out", nested(result.output)[0][0]}};
}

/// Scores by distance, aligned with the keys of a sequence of L rows.
json relative_gather(const json& in) {
  const auto rows = counting(0, in.at("L"));
  const auto alignment = in.at("bidirectional").get<bool>() ? shift_alignment::bidirectional : shift_alignment::causal;
  const auto compact = one_head(in.at("scores_by_distance"));
  const auto distances = in.at("distances").get<std::vector<index_t>>();
  return nested(coordinate::relative_shift(compact.view(), distances, call_at(rows, rows), alignment, 0.0))[0][0];
}

}  // namespace

operations shaw_operations() {
  return {{"shaw_index", shaw_index},
          {"relkey_index", relkey_index},
          {"shaw_attention", shaw_attention},
          {"relative_gather", relative_gather}};
}

}  // namespace posgeo::cases
