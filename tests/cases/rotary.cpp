// SPDX-License-Identifier: MIT
#include <posgeo/call/decode_step.hpp>
#include <posgeo/call/padded_batch.hpp>
#include <posgeo/scale/none.hpp>
#include <posgeo/visible/active.hpp>
#include <posgeo/visible/everything.hpp>

#include <limits>

#include "cases/json_tensors.hpp"
#include "cases/scaled_rotary.hpp"

namespace posgeo::cases {
namespace {

using transform::pairing;
using transform::rotary;

pairing pairing_of(const json& in) {
  if (in.at("layout") == "half") return pairing::halves;
  if (in.at("layout") == "interleaved") return pairing::adjacent;
  throw not_supported("rotary layout " + in.at("layout").dump());
}

rotary<frequency::geometric> plain(double base, index_t rotary_dim, pairing pairs) {
  return {frequency::geometric({.base = base, .rotary_dim = rotary_dim}), {.pairs = pairs}};
}

/// As the input describes, with its layout.
template <class Use>
json with_rotary(const json& in, const Use& use) {
  return cases::with_rotary(in, pairing_of(in), use);
}

/// Every row turned as a query and as a key of the call.
template <class Transform>
void turn(const Transform& transform, const position_call& call, const heads_view<double>& rows) {
  const heads layout{.query = rows.extent(1), .key_value = rows.extent(1), .dim = rows.extent(3)};
  const auto plan = attention{layout, scale::none{}, transform, visible::everything{}}.template compile<double>(call);
  for (const batch_index b : indices<batch_index>(call.batch())) {
    for (const head_index h : indices<head_index>(layout.query)) {
      for (index_t n = 0; n < call.queries(); ++n) {
        const auto row = rows.row(b.value(), h.value(), n);
        std::vector<double> key(row.begin(), row.end());
        plan.transform_query(b, h, query_index{n}, row);
        plan.transform_key(b, h, key_index{n}, key);
        if (!std::equal(key.begin(), key.end(), row.begin())) throw std::runtime_error("a key turns differently");
      }
    }
  }
}

json rope_apply(const json& in) {
  return with_rotary(in, [&](const auto& rotary) {
    auto rows = one_head(in.at("x"));
    const auto positions = in.at("positions").get<std::vector<index_t>>();
    turn(rotary, call_at(positions, positions), rows.view());
    return nested(rows)[0][0];
  });
}

/// Cosines and sines: how a row turns whose pairs are all (1, 0).
json rope_table(const json& in) {
  return cases::with_rotary(in, pairing::halves, [&](const auto& rotary) {
    const auto positions = in.at("positions").get<std::vector<index_t>>();
    const index_t half = rotary.rotary_dim() / 2;
    tensor<double, 4> rows({1, 1, static_cast<index_t>(positions.size()), 2 * half});
    for (index_t n = 0; n < rows.extent(2); ++n) {
      for (index_t pair = 0; pair < half; ++pair) rows(0, 0, n, pair) = 1.0;
    }
    turn(rotary, call_at(positions, positions), rows.view());
    json cosines = json::array();
    json sines = json::array();
    for (index_t n = 0; n < rows.extent(2); ++n) {
      json c = json::array();
      json s = json::array();
      for (const index_t pair : in.at("pairs")) {
        c.push_back(rows(0, 0, n, pair));
        s.push_back(rows(0, 0, n, half + pair));
      }
      cosines.push_back(c);
      sines.push_back(s);
    }
    return json{{"cos", cosines}, {"sin", sines}};
  });
}

template <class Rotary>
json scores(const Rotary& rotary, const position_call& call, const tensor<double, 4>& q, const tensor<double, 4>& k) {
  const attention model{heads{.dim = q.extent(3)}, scale::none{}, rotary, visible::everything{}};
  return nested(run(model, call, q, k, k).scores)[0][0];
}

json rope_scores(const json& in) {
  return with_rotary(
      in, [&](const auto& rotary) { return scores(rotary, call_at(in), one_head(in.at("q")), one_head(in.at("k"))); });
}

/// Decode of a ragged batch: the keys of a shorter sequence stand behind padding, which holds NaN.
json rope_scores_batch(const json& in) {
  const auto query_positions = in.at("q_positions").get<std::vector<index_t>>();
  std::vector<call::decode_entry> entries;
  index_t key_rows = 0;
  for (const json& keys : in.at("k")) key_rows = std::max(key_rows, static_cast<index_t>(keys.size()));
  for (std::size_t b = 0; b < query_positions.size(); ++b) {
    const auto past = static_cast<index_t>(in.at("k")[b].size()) - 1;
    entries.push_back({.committed_length = query_positions[b],
                       .query_position = query_positions[b],
                       .past_length = past,
                       .padding = key_rows - past - 1,
                       .sequence = static_cast<index_t>(b)});
  }
  const auto call = call::decode_step({.entries = entries, .key_rows = key_rows});

  const auto batch = static_cast<index_t>(entries.size());
  const index_t dim = in.at("head_dim");
  tensor<double, 4> q({batch, 1, 1, dim});
  tensor<double, 4> k({batch, 1, key_rows, dim});
  std::fill(k.values().begin(), k.values().end(), std::numeric_limits<double>::quiet_NaN());
  for (index_t b = 0; b < batch; ++b) {
    const auto entry = static_cast<std::size_t>(b);
    const index_t padding = entries[entry].padding;
    for (index_t d = 0; d < dim; ++d) {
      q(b, 0, 0, d) = in.at("q")[entry][static_cast<std::size_t>(d)];
      for (index_t j = padding; j < key_rows; ++j) {
        k(b, 0, j, d) = in.at("k")[entry][static_cast<std::size_t>(j - padding)][static_cast<std::size_t>(d)];
      }
    }
    for (index_t j = padding; j < key_rows; ++j) {
      if (call.at(batch_index{b}, key_index{j}).value() !=
          in.at("k_positions")[entry][static_cast<std::size_t>(j - padding)].get<index_t>()) {
        throw not_supported("cached keys that do not end at the query");
      }
    }
  }
  return with_rotary(in, [&](const auto& rotary) {
    const attention model{heads{.dim = dim}, scale::none{}, rotary, visible::active{}};
    const auto all = run(model, call, q, k, tensor<double, 4>(k.extents())).scores;
    json out = json::array();
    for (index_t b = 0; b < batch; ++b) {
      json row = json::array();
      for (index_t j = entries[static_cast<std::size_t>(b)].padding; j < key_rows; ++j) row.push_back(all(b, 0, 0, j));
      out.push_back(row);
    }
    return out;
  });
}

/// Heads in memory of a named axis order, turned by rows from an offset on.
json rope_apply_tensor(const json& in) {
  auto values = read_tensor(in.at("x"));
  const auto& e = values.extents();
  double* const data = values.values().data();
  const bool heads_are_first = in.at("axes") == "BHLD";
  if (!heads_are_first) expect(in, "axes", "BLHD");
  const heads_view<double> rows =
      heads_are_first ? heads_first(data, e[0], e[1], e[2], e[3]) : rows_first(data, e[0], e[1], e[2], e[3]);
  const std::vector<index_t> lengths(static_cast<std::size_t>(rows.extent(0)), rows.extent(2));
  const auto call = call::padded_batch({.lengths = lengths,
                                        .rows = rows.extent(2),
                                        .side = call::padding_side::right,
                                        .positions = call::padded_positions::contiguous(in.at("offset"))});
  return with_rotary(in, [&](const auto& rotary) {
    turn(rotary, call, rows);
    return nested(values);
  });
}

json rope_last_inv_freq(const json& in) {
  json out = json::array();
  for (const index_t dim : in.at("rotary_dims"))
    out.push_back(plain(in.at("base"), dim, pairing::halves).speeds().back());
  return out;
}

/// Unrotated keys in a cache, turned once when the query reads them.
json rope_cached_score(const json& in) {
  expect(in, "frequency", 1);
  const auto call = call_at({in.at("query_position").get<index_t>()}, {in.at("key_position").get<index_t>()});
  const auto one_pair = plain(10000.0, 2, pairing::adjacent);
  return {{"score",
           scores(one_pair, call, one_head(json::array({in.at("q")})), one_head(json::array({in.at("k")})))[0][0]}};
}

json derived_buffers(const json& in) {
  expect(in, "q", "all 1");
  expect(in, "k", "all 1");
  const index_t dim = in.at("head_dim");
  const auto rotary = plain(in.at("base"), dim, pairing::halves);
  tensor<double, 4> ones({1, 1, 1, dim});
  std::fill(ones.values().begin(), ones.values().end(), 1.0);
  const auto call = call_at({in.at("distance").get<index_t>()}, {0});
  return {{"inv_freq", rotary.speeds()}, {"score", scores(rotary, call, ones, ones)[0][0]}};
}

}  // namespace

operations rotary_operations() {
  return {{"rope_apply", rope_apply},
          {"rope_table", rope_table},
          {"rope_scores", rope_scores},
          {"rope_scores_batch", rope_scores_batch},
          {"rope_apply_tensor", rope_apply_tensor},
          {"rope_last_inv_freq", rope_last_inv_freq},
          {"rope_cached_score", rope_cached_score},
          {"derived_buffers", derived_buffers}};
}

}  // namespace posgeo::cases
