// SPDX-License-Identifier: MIT
#include <posgeo/bias/alibi_slopes.hpp>
#include <posgeo/bias/t5.hpp>
#include <posgeo/call/packed_batch.hpp>
#include <posgeo/call/padded_batch.hpp>
#include <posgeo/content/bert_relative.hpp>
#include <posgeo/coordinate/t5_bucket.hpp>
#include <posgeo/encode/learned_absolute.hpp>
#include <posgeo/encode/resized_rows.hpp>
#include <posgeo/encode/sinusoidal.hpp>
#include <posgeo/frequency/geometric.hpp>
#include <posgeo/scale/none.hpp>
#include <posgeo/transform/rotary.hpp>
#include <posgeo/visible/everything.hpp>

#include "cases/json_tensors.hpp"
#include "cases/masks.hpp"

namespace posgeo::cases {
namespace {

// Sinusoids and learned tables.

encode::sinusoidal_settings sinusoid_settings(const json& in) {
  const index_t width = in.at("d_model");
  const bool paper = in.at("exponent") == "paper";
  if (!paper) expect(in, "exponent", "t2t");
  const bool interleaved = in.value("layout", json("interleaved")) == "interleaved";
  if (!interleaved) expect(in, "layout", "concat");
  return {.width = width,
          .layout = interleaved ? encode::sinusoid_layout::interleaved : encode::sinusoid_layout::concatenated,
          .exponent = paper ? encode::sinusoid_exponent::paper : encode::sinusoid_exponent::half_minus_one,
          .base = in.value("base", 10000.0),
          .odd = width % 2 == 0 ? encode::odd_width::refused : encode::odd_width::unpaired_sine};
}

json sinusoid(const json& in) {
  const encode::sinusoidal encoder(sinusoid_settings(in));
  json rows = json::array();
  for (const json& at : in.at("positions")) {
    std::vector<double> row(static_cast<std::size_t>(encoder.width()));
    if (at.is_number_integer()) {
      const auto call = call_at({at.get<index_t>()}, {0});
      encode::add_positions(encoder, call, states_view<double>{row.data(), {1, 1, encoder.width()}});
    } else {
      encoder.for_each_column(at.get<double>(),
                              [&](index_t c, double value) { row[static_cast<std::size_t>(c)] = value; });
    }
    rows.push_back(row);
  }
  return rows;
}

json sinusoid_add(const json& in) {
  expect(in, "axes", "BLD");
  const auto x = read_tensor(json::array({in.at("x")}));
  tensor<double, 3> states({x.extent(1), x.extent(2), x.extent(3)});
  std::copy(x.values().begin(), x.values().end(), states.values().begin());
  const std::vector<index_t> lengths(static_cast<std::size_t>(states.extent(0)), states.extent(1));
  const auto call = call::padded_batch({.lengths = lengths,
                                        .rows = states.extent(1),
                                        .side = call::padding_side::right,
                                        .positions = call::padded_positions::contiguous(in.at("offset"))});
  encode::add_positions(encode::sinusoidal(sinusoid_settings(in)), call, states.view());
  return nested(states);
}

encode::learned_absolute<double> learned(index_t rows, index_t offset,
                                         encode::padded_rows padding = encode::padded_rows::by_position()) {
  const std::vector<double> zeros(static_cast<std::size_t>(rows));
  return encode::learned_absolute<double>(table<double>(zeros, rows, 1), {.row_offset = offset, .padding = padding});
}

json learned_index(const json& in) {
  const auto call = counted_call(in.at("attention_mask"));
  const index_t offset = in.at("offset");
  const auto policy = learned(offset + call.queries(), offset, encode::padded_rows::untouched());
  const auto term = policy.compile<double>(call);
  json out = json::array();
  for (const batch_index b : indices<batch_index>(call.batch())) {
    json row = json::array();
    for (const query_index i : indices<query_index>(call.queries())) {
      row.push_back(call.active(b, i) ? json(term.table_row(b, i)) : json());
    }
    out.push_back(row);
  }
  return out;
}

json learned_capacity(const json& in) {
  json out = json::array();
  for (const index_t padding : in.at("padding_idx")) out.push_back(learned(in.at("rows"), padding + 1).capacity());
  return out;
}

json resize_length(const json& in) {
  const index_t old_rows = in.at("old");
  const std::vector<double> zeros(static_cast<std::size_t>(old_rows));
  const auto length = [&](index_t new_rows) {
    return encode::resized_rows(table<double>(zeros, old_rows, 1), new_rows, encode::resize_sampling::half_pixel)
        .rows();
  };
  if (in.at("new").is_number()) return length(in.at("new"));
  json out = json::array();
  for (const index_t new_rows : in.at("new")) out.push_back(length(new_rows));
  return out;
}

json resize_linear(const json& in) {
  expect(in, "convention", "half_pixel");
  const auto values = in.at("table").get<std::vector<double>>();
  const auto resized = encode::resized_rows(table<double>(values, static_cast<index_t>(values.size()), 1), in.at("new"),
                                            encode::resize_sampling::half_pixel);
  return json(std::vector<double>(resized.values().begin(), resized.values().end()));
}

// T5 buckets.

coordinate::t5_bucket bucket_of(const json& in) {
  return coordinate::t5_bucket({.num_buckets = in.at("num_buckets").get<index_t>(),
                                .max_distance = in.at("max_distance").get<index_t>(),
                                .direction = in.at("bidirectional").get<bool>()
                                                 ? coordinate::bucket_direction::bidirectional
                                                 : coordinate::bucket_direction::causal});
}

json t5_bucket(const json& in) {
  const auto bucket = bucket_of(in);
  json out = json::array();
  for (const index_t offset : in.at("relative_positions")) out.push_back(bucket(relative_offset{offset}));
  return out;
}

json t5_bucket_grid(const json& in) {
  const auto bucket = bucket_of(in);
  const auto call = call_at(in);
  json out = json::array();
  for (const query_index i : indices<query_index>(call.queries())) {
    json row = json::array();
    for (const key_index j : indices<key_index>(call.keys())) row.push_back(bucket(call.offset(batch_index{0}, i, j)));
    out.push_back(row);
  }
  return out;
}

// Positions and places.

json positions_packed(const json& in) {
  const auto call = call::packed_batch(
      {.lengths = lengths_between(in.at("cu_seqlens")), .positions = call::packed_positions::restart});
  json positions = json::array();
  json segments = json::array();
  for (const query_index i : indices<query_index>(call.queries())) {
    positions.push_back(call.at(batch_index{0}, i).value());
    segments.push_back(call.sequence(batch_index{0}, i));
  }
  return {{"positions", positions}, {"segments", segments}};
}

/// Positions of left-padded rows, the next position of each row, and what a table of p^2 gives each row in sum.
json positions_from_mask(const json& in) {
  expect(in, "learned_table_value_at_p", "p*p");
  const auto call = counted_call(in.at("attention_mask"));
  std::vector<double> squares;
  for (index_t p = 0; p < call.queries(); ++p) squares.push_back(static_cast<double>(p * p));
  const encode::learned_absolute<double> policy(table<double>(squares, call.queries(), 1),
                                                {.row_offset = 0, .padding = encode::padded_rows::untouched()});
  tensor<double, 3> states({call.batch(), call.queries(), 1});
  encode::add_positions(policy, call, states.view());

  json positions = json::array();
  json next = json::array();
  json sums = json::array();
  for (const batch_index b : indices<batch_index>(call.batch())) {
    json row = json::array();
    index_t last = -1;
    double sum = 0.0;
    for (const query_index i : indices<query_index>(call.queries())) {
      const bool active = call.active(b, i);
      row.push_back(active ? json(call.at(b, i).value()) : json());
      if (active) last = call.at(b, i).value();
      sum += states(b.value(), i.value(), 0);
    }
    positions.push_back(row);
    next.push_back(last + 1);
    sums.push_back(sum);
  }
  return {{"positions", positions}, {"next_positions", next}, {"table_sum_over_real", sums}};
}

/// Where sequences begin, from who owns each row and never from positions.
json cu_seqlens_from_segments(const json& in) {
  const auto positions = in.at("positions_t").get<std::vector<index_t>>();
  const auto sequences = in.at("segments").get<std::vector<index_t>>();
  const call::explicit_side side{
      .positions = positions, .sequences = sequences, .rows = static_cast<index_t>(positions.size())};
  const auto call = call::explicit_positions({.query = side, .key = side, .reuse = position_reuse::intended});
  json out = json::array({0});
  for (index_t row = 0; row < call.keys(); row = out.back().get<index_t>()) {
    out.push_back(call.key_space().sequence_rows(0, call.key_space().sequence(0, row)).second);
  }
  return {{"cu_seqlens", out}};
}

// Slopes, heads, memory.

std::vector<double> values_of(const bias::alibi_slopes& slopes) {
  std::vector<double> out;
  for (const head_index h : indices<head_index>(slopes.size())) out.push_back(slopes[h]);
  return out;
}

/// Slopes of global head numbers; a rank reads them from its own slice.
json alibi_slopes(const json& in) {
  const index_t heads = in.at("n_heads");
  const index_t share = heads / in.value("world", index_t{1});
  const index_t first = in.value("rank", index_t{0}) * share;
  const auto slopes = bias::alibi_slopes::reference(heads).slice(first, share);
  json out = json::array();
  for (const index_t h : in.at("heads")) out.push_back(slopes[head_index{h - first}]);
  return out;
}

json alibi_slopes_sharded(const json& in) {
  const index_t heads = in.at("heads");
  const index_t share = heads / in.at("ranks").get<index_t>();
  const auto all = bias::alibi_slopes::reference(heads);
  return {{"all_slopes", values_of(all)},
          {"rank_slopes", values_of(all.slice(in.at("rank").get<index_t>() * share, share))},
          {"rank1_slopes", values_of(all.slice(share, share))}};
}

json gqa_map(const json& in) {
  const heads layout{.query = in.at("n_q_heads"), .key_value = in.at("n_kv_heads")};
  json out = json::array();
  for (const head_index h : indices<head_index>(layout.query)) out.push_back(key_head(layout, h));
  return out;
}

json linear_offset(const json& in) {
  const float nothing = 0.0F;
  const tensor_view<const float, 4> view(&nothing, in.at("shape").get<std::array<index_t, 4>>());
  const auto at = in.at("index").get<std::array<index_t, 4>>();
  return view.row_offset(at[0], at[1], at[2]) + at[3];
}

json strided_offset(const json& in) {
  const float nothing = 0.0F;
  const auto strides = in.at("strides").get<std::array<index_t, 3>>();
  const auto at = in.at("index").get<std::array<index_t, 3>>();
  if (strides[2] != 1) throw not_supported("a last axis that is not contiguous");
  const tensor_view<const float, 3> view(&nothing, {at[0] + 1, at[1] + 1, at[2] + 1}, {strides[0], strides[1]});
  return view.row_offset(at[0], at[1]) + at[2];
}

/// Whether posgeo refuses what the input describes.
json validate(const json& in) {
  const json& what = in.at("what");
  if (what == "rope") {
    return refusal([&] {
      const transform::rotary rotary(
          frequency::geometric({.base = in.at("base").get<double>(), .rotary_dim = in.at("rotary_dim").get<index_t>()}),
          {.pairs = transform::pairing::halves});
      const attention model{heads{.dim = in.at("head_dim")}, scale::none{}, rotary, visible::everything{}};
      (void)model.compile<double>(call_at({0}, {0}));
    });
  }
  if (what == "t5") return refusal([&] { (void)bucket_of(in); });
  if (what == "sinusoid") return refusal([&] { (void)encode::sinusoidal(sinusoid_settings(in)); });
  if (what == "learned") {
    return refusal([&] {
      const auto at = in.at("positions").get<std::vector<index_t>>();
      (void)learned(in.at("rows"), in.at("offset")).compile<double>(call_at(at, at));
    });
  }
  if (what == "relative_key") {
    expect(in, "clip", false);
    violations found;
    content::bert_offsets(in.at("max_position")).check(call_at(in), "relative_key", found);
    return {{"error", !found.empty()}};
  }
  throw not_supported("validate " + what.dump());
}

}  // namespace

operations coordinate_operations() {
  return {{"sinusoid", sinusoid},
          {"sinusoid_add", sinusoid_add},
          {"learned_index", learned_index},
          {"learned_capacity", learned_capacity},
          {"resize_length", resize_length},
          {"resize_linear", resize_linear},
          {"t5_bucket", t5_bucket},
          {"t5_bucket_grid", t5_bucket_grid},
          {"positions_packed", positions_packed},
          {"positions_from_mask", positions_from_mask},
          {"cu_seqlens_from_segments", cu_seqlens_from_segments},
          {"alibi_slopes", alibi_slopes},
          {"alibi_slopes_sharded", alibi_slopes_sharded},
          {"gqa_map", gqa_map},
          {"linear_offset", linear_offset},
          {"strided_offset", strided_offset},
          {"validate", validate}};
}

}  // namespace posgeo::cases
