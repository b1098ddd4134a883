// SPDX-License-Identifier: MIT
#include <posgeo/attend/merge.hpp>
#include <posgeo/contract/cache_identity.hpp>
#include <posgeo/contract/load_report.hpp>
#include <posgeo/contract/rotary_rows.hpp>
#include <posgeo/frequency/geometric.hpp>
#include <posgeo/scale/none.hpp>
#include <posgeo/transform/key_shift.hpp>
#include <posgeo/visible/everything.hpp>

#include <numeric>

#include "cases/json_tensors.hpp"

namespace posgeo::cases {
namespace {

using row = std::vector<double>;

/// Speeds as they are listed.
struct listed_frequencies {
  row speeds;
  [[nodiscard]] index_t pairs() const { return static_cast<index_t>(speeds.size()); }
  [[nodiscard]] double at(index_t pair) const { return speeds[static_cast<std::size_t>(pair)]; }
};

template <class Rotary>
row turned(const Rotary& turn, index_t p, row values) {
  turn.rotate(position{p}, std::span<double>(values));
  return values;
}
double dot(const row& a, const row& b) { return std::inner_product(a.begin(), a.end(), b.begin(), 0.0); }

/// A key that was turned, stored and shifted before a query reads it.
json kv_shift(const json& in) {
  const transform::rotary turn(listed_frequencies{{in.at("frequency")}}, {.pairs = transform::pairing::adjacent});
  const index_t written = in.at("key_position");
  row key = turned(turn, written, in.at("k"));
  transform::key_shift moves(position{written});
  for (const index_t by : in.at("shifts")) moves.shift(relative_offset{by});
  const index_t rotation = moves.pending().value();
  moves.apply(turn, std::span<double>(key));
  return {{"position", moves.at().value()},
          {"rotation", rotation},
          {"score", dot(turned(turn, in.at("query_position"), in.at("q")), key)}};
}

contract::cache_identity identity_of(const json& entry) {
  using namespace contract;
  const json& adapter = entry.at("adapter");
  const json& salt = entry.at("salt");
  const index_t start = entry.at("start");
  const std::vector<index_t> tokens = entry.at("tokens");
  return {.request = request_id("the one request"),
          .sequence = 0,
          .checkpoint = checkpoint_id("the one checkpoint"),
          .adapter = adapter.is_null() ? stated<adapter_id>(none) : adapter_id(adapter.at("digest")),
          .release = release_id("the one release"),
          .salt = salt.is_null() ? stated<cache_salt>(none) : cache_salt(salt),
          .tokens = token_ids(tokens),
          .committed_length = start + static_cast<index_t>(tokens.size()),
          .frame = coordinate_frame("sequence"),
          .start = position{start},
          .sign = none,
          .method = {description("rotary")
                         .with("base", entry.at("rotary_base").get<double>())
                         .with("scaling", entry.at("scaling").get<double>())},
          .mask = mask_id("causal"),
          .format = precision::binary32,
          .backend = backend_id("the one backend"),
          .revision = implementation_revision("1"),
          .baked = none};
}

/// Each entry against the earlier one that differs from it in the fewest fields.
json cache_identity(const json& in) {
  json out{{"must_be_equal", json::array()}, {"must_differ", json::array()}};
  std::vector<std::pair<std::string, contract::cache_identity>> earlier;
  for (const auto& entry : in.at("entries").items()) {
    const auto identity = identity_of(entry.value());
    const auto apart = [&](const auto& other) { return contract::differences(other.second, identity).size(); };
    const auto nearest = std::min_element(earlier.begin(), earlier.end(),
                                          [&](const auto& a, const auto& b) { return apart(a) < apart(b); });
    if (nearest != earlier.end()) {
      const bool equal = nearest->second == identity;
      const bool refused = refusal([&] { contract::require_same(nearest->second, identity); }).at("error");
      if (equal == refused) throw std::runtime_error("equal identities are refused, or different ones are not");
      out[equal ? "must_be_equal" : "must_differ"].push_back({nearest->first, entry.key()});
    }
    earlier.emplace_back(entry.key(), identity);
  }
  return out;
}

/// Keys whose scores against a query of 1 are given.
partial_attention<double> part_over(const json& part) {
  const auto scores = part.at("scores").get<row>();
  const auto call = call_at({0}, counting(0, static_cast<index_t>(scores.size())));
  const auto plan = attention{heads{}, scale::none{}, visible::everything{}}.compile<double>(call);
  const auto keys = column(scores);
  const auto values = column(part.at("values"));
  const auto query = column({1.0});
  return part_of(plan, attend(eager{}, plan, {query.view(), keys.view(), values.view()}, also::log_sum_exp));
}

json merge_partial_attention(const json& in) {
  const auto said = [](const partial_attention<double>& part) {
    return json{{"out", part.output(0, 0, 0, 0)}, {"lse", part.log_sum_exp(0, 0, 0)}};
  };
  const auto a = part_over(in.at("part_a"));
  const auto b = part_over(in.at("part_b"));
  const auto empty = part_over({{"scores", json::array()}, {"values", json::array()}});
  if (number(in.at("empty").at("out")) != empty.output(0, 0, 0, 0) ||
      number(in.at("empty").at("lse")) != empty.log_sum_exp(0, 0, 0)) {
    throw not_supported("an empty part of another form");
  }
  return {{"a", said(a)},
          {"b", said(b)},
          {"merge_a_b", said(merge(a, b))},
          {"merge_a_empty", said(merge(a, empty))},
          {"merge_empty_empty", said(merge(empty, empty))}};
}

/// The order of the key rows, and a score of one head after both of its rows moved.
json rotary_row_permutation(const json& in) {
  using transform::pairing;
  const heads layout{.query = in.at("query_heads"), .key_value = in.at("key_heads"), .dim = in.at("head_dim")};
  const auto keys = contract::rotary_rows::of_keys(
      layout, {.from = pairing::adjacent, .to = pairing::halves, .rotary_dim = layout.dim});
  if (std::cmp_not_equal(keys.order().size(), in.at("key_rows").get<index_t>())) {
    throw not_supported("key rows that are not those of the key heads");
  }
  const json& check = in.at("check");
  expect(check, "layout", "adjacent pairs");
  const auto q = check.at("q").get<row>();
  const heads one{.dim = static_cast<index_t>(q.size())};
  const contract::rotary_conversion conversion{.from = pairing::adjacent, .to = pairing::halves, .rotary_dim = one.dim};
  const transform::rotary turn(listed_frequencies{check.at("frequencies")}, {.pairs = pairing::halves});
  const row query = contract::rotary_rows::of_queries(one, conversion).moved(q);
  const row key = contract::rotary_rows::of_keys(one, conversion).moved(check.at("k").get<row>());
  return {{"key_row_order", keys.order()},
          {"score", dot(turned(turn, check.at("query_position"), query), turned(turn, check.at("key_position"), key))}};
}

json load_report(const json& in) {
  const auto report = contract::report_load({.wanted = in.at("model_wants"),
                                             .recomputable = in.at("recomputable"),
                                             .checkpoint = in.at("checkpoint_has"),
                                             .renamed = in.value("renamed", std::map<std::string, std::string>{})});
  const bool refused = refusal([&] { contract::require_loadable(report); }).at("error");
  return {{"status", refused ? "refused" : "ok"},
          {"missing_required", report.missing},
          {"recomputed", report.recomputed},
          {"unexpected", report.unexpected}};
}

}  // namespace

operations contract_operations() {
  return {{"kv_shift", kv_shift},
          {"cache_identity", cache_identity},
          {"merge_partial_attention", merge_partial_attention},
          {"rotary_row_permutation", rotary_row_permutation},
          {"load_report", load_report}};
}

}  // namespace posgeo::cases
