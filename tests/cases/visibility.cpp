// SPDX-License-Identifier: MIT
#include <posgeo/call/prefill_chunk.hpp>
#include <posgeo/scale/none.hpp>
#include <posgeo/visible/active.hpp>
#include <posgeo/visible/causal.hpp>
#include <posgeo/visible/window.hpp>

#include "cases/json_tensors.hpp"
#include "cases/masks.hpp"

namespace posgeo::cases {
namespace {

using visible::window;

/// Who sees whom, as 0 and 1. Shapes: [batch, queries, keys]. A pair counts if the predicate and the range both show
/// it.
template <class... Visibility>
tensor<index_t, 3> matrix(const position_call& call, const Visibility&... visibility) {
  const auto plan = attention{heads{}, scale::none{}, visibility...}.template compile<double>(call);
  tensor<index_t, 3> out({call.batch(), call.queries(), call.keys()});
  for (const batch_index b : indices<batch_index>(call.batch())) {
    for (const query_index i : indices<query_index>(call.queries())) {
      const key_range range = plan.keys(b, i);
      for (const key_index j : indices<key_index>(range.begin, range.end)) {
        out(b.value(), i.value(), j.value()) = plan.visible(b, i, j) ? 1 : 0;
      }
    }
  }
  return out;
}

/// The visible keys of each query, as lists.
template <class... Visibility>
json lists(const position_call& call, const Visibility&... visibility) {
  const auto seen = matrix(call, visibility...);
  json out = json::array();
  for (index_t i = 0; i < seen.extent(1); ++i) {
    json row = json::array();
    for (index_t j = 0; j < seen.extent(2); ++j) {
      if (seen(0, i, j) != 0) row.push_back(j);
    }
    out.push_back(row);
  }
  return out;
}

/// Keys from 0 on; the first queries or the last ones stand at the keys' own, be there fewer queries than keys or more.
position_call aligned(const json& alignment, index_t queries, index_t keys) {
  if (alignment == "top_left") return call_at(counting(0, queries), counting(0, keys));
  if (alignment == "bottom_right" || alignment == "bottom-right") {
    return call_at(counting(keys - queries, keys), counting(0, keys));
  }
  throw not_supported("alignment " + alignment.dump());
}
position_call aligned(const json& in) { return aligned(in.at("alignment"), in.at("q_len"), in.at("k_len")); }

json mask_causal(const json& in) { return nested(matrix(aligned(in), visible::causal{}))[0]; }

json causal_visibility(const json& in) {
  json out = json::array();
  for (const json& one : in.at("cases")) {
    out.push_back(lists(aligned(in.at("align"), one.at("q"), one.at("k")), visible::causal{}));
  }
  return {{"visible", out}};
}

json mask_causal_ragged(const json& in) {
  expect(in, "alignment", "bottom_right");
  const index_t queries = in.at("q_len");
  std::vector<call::prefill_entry> entries;
  for (const index_t keys : in.at("kv_len")) {
    const index_t past = keys - queries;
    entries.push_back({.committed_length = past,
                       .first_position = past,
                       .length = queries,
                       .past_length = past,
                       .sequence = static_cast<index_t>(entries.size())});
  }
  const auto call = call::prefill_chunk({.entries = entries, .query_rows = queries, .key_rows = in.at("k_width")});
  return nested(matrix(call, visible::active{}, visible::causal{}));
}

json mask_window(const json& in) {
  expect(in, "causal", true);
  return nested(matrix(call_at(in), window::counting_own_key(in.at("window"))))[0];
}

json mask_window_lr(const json& in) {
  const window both({.behind = in.at("left").get<index_t>(), .ahead = in.at("right").get<index_t>()});
  return nested(matrix(aligned(in), both))[0];
}

json sliding_window_visibility(const json& in) {
  expect(in, "causal", true);
  const auto policy = window::counting_own_key(in.at("window"));
  const auto rows = in.at("queries").get<std::vector<index_t>>();
  return {{"visible", lists(call_at(rows, rows), policy)}, {"left_argument", index_t{policy.behind}}};
}

/// A factorisation order is a causal order of positions: a token stands at its rank. The query stream stands one
/// before, so that it does not see itself.
json xlnet_permutation_mask(const json& in) {
  const auto order = in.at("factorisation_order").get<std::vector<std::size_t>>();
  std::vector<index_t> rank(order.size());
  for (std::size_t n = 0; n < order.size(); ++n) rank.at(order[n]) = static_cast<index_t>(n);
  std::vector<index_t> before = rank;
  for (index_t& at : before) --at;
  const auto content = matrix(call_at(rank, rank), visible::causal{});
  const auto query = matrix(call_at(before, rank), visible::causal{});
  tensor<index_t, 3> hidden(content.extents());
  for (std::size_t n = 0; n < content.values().size(); ++n) hidden.values()[n] = 1 - content.values()[n];
  json empty = json::array();
  const json rows = lists(call_at(before, rank), visible::causal{});
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].empty()) empty.push_back(i);
  }
  return {{"content_visible", nested(content)[0]},
          {"query_visible", nested(query)[0]},
          {"perm_mask_content", nested(hidden)[0]},
          {"empty_query_rows", empty}};
}

}  // namespace

operations visibility_operations() {
  return {{"mask_causal", mask_causal},
          {"causal_visibility", causal_visibility},
          {"mask_causal_ragged", mask_causal_ragged},
          {"mask_window", mask_window},
          {"mask_window_lr", mask_window_lr},
          {"sliding_window_visibility", sliding_window_visibility},
          {"xlnet_permutation_mask", xlnet_permutation_mask}};
}

}  // namespace posgeo::cases
