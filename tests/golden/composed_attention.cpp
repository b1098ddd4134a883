// SPDX-License-Identifier: MIT
#include <posgeo/bias/alibi.hpp>
#include <posgeo/bias/t5.hpp>
#include <posgeo/call/packed_batch.hpp>
#include <posgeo/call/prefill_chunk.hpp>
#include <posgeo/scale/constant.hpp>
#include <posgeo/visible/causal.hpp>
#include <posgeo/visible/segments.hpp>

#include <algorithm>

#include "golden/mechanisms.hpp"
#include "golden/modules.hpp"

namespace posgeo::golden {
namespace {

/// Queries, keys and values in; biases, probabilities, outputs and log-sum-exp out. Distances count storage rows, so
/// padding and packing do not shift a position.
position_call call_of(const golden_case& c) {
  const index_t queries = c.integer("q_len");
  const index_t keys = c.integer("k_len");
  const index_t first = c.integer("q_offset");
  const auto left_padding = c.integers("left_padding");
  const bool padded = std::any_of(left_padding.begin(), left_padding.end(), [](index_t rows) { return rows > 0; });
  const bool one_sequence = left_padding.size() == 1 && !padded;
  if (c.has("segments") && one_sequence && first == 0) {
    return call::packed_batch({.lengths = c.integers("segments"), .positions = call::packed_positions::continuing});
  }
  if (!c.has("segments") && one_sequence && first > 0) return call::prefill_chunk(first, queries);
  if (!c.has("segments") && first == 0) {
    std::vector<index_t> lengths;
    for (const index_t padding : left_padding) lengths.push_back(queries - padding);
    return call::padded_batch({.lengths = lengths,
                               .rows = queries,
                               .side = call::padding_side::left,
                               .positions = call::padded_positions::contiguous()});
  }
  const auto valid = c.values<std::uint8_t>("key_valid");
  const auto sequences = c.values<index_t>("segment_ids");
  std::vector<spelled_row> query_rows;
  std::vector<spelled_row> key_rows;
  for (std::size_t n = 0; n < valid.size(); ++n) {
    const index_t at = static_cast<index_t>(n) % keys;
    key_rows.push_back({at, sequences[n], valid[n] != 0});
    if (at >= first && at < first + queries) query_rows.push_back(key_rows.back());
  }
  return spelled_call(static_cast<index_t>(left_padding.size()), query_rows, key_rows);
}

template <class T, class... Policies>
void run_with(const golden_case& c, const attention<Policies...>& model, outputs<T>& out) {
  const auto plan = model.template compile<T>(call_of(c));
  require_visible(plan, c.values<std::uint8_t>("allowed"));
  const heads& layout = model.layout();
  const index_t batch = plan.call().batch();
  const auto q = c.values<T>("q");
  const auto k = c.values<T>("k");
  const auto v = c.values<T>("v");
  const qkv<T> in{heads_first(q.data(), batch, layout.query, plan.call().queries(), layout.dim),
                  heads_first(k.data(), batch, layout.key_value, plan.call().keys(), layout.dim),
                  heads_first(v.data(), batch, layout.key_value, plan.call().keys(), layout.dim)};
  const auto result = attend(eager{}, plan, in, also::log_sum_exp | also::probabilities);
  out.add("bias", biases(plan));
  out.add("probs", result.probabilities.values());
  out.add("output", result.output.values());
  out.add("lse", result.log_sum_exp.values());
}

/// Segments hide padding as well, and without packing every entry is one sequence.
template <class T, class... Bias>
void with_visibility(const golden_case& c, const heads& layout, outputs<T>& out, const Bias&... bias) {
  const scale::constant scale(c.number("scale"));
  if (c.flag("causal")) {
    run_with(c, attention{layout, scale, bias..., visible::segments{}, visible::causal{}}, out);
  } else {
    run_with(c, attention{layout, scale, bias..., visible::segments{}}, out);
  }
}

template <class T>
outputs<T> produce_composed_attention(const golden_case& c) {
  const heads layout{
      .query = c.integer("num_heads"), .key_value = c.integer("num_kv_heads"), .dim = c.integer("head_dim")};
  outputs<T> out;
  if (c.text("bias") == "none") {
    with_visibility(c, layout, out);
  } else if (c.text("bias") == "alibi") {
    const auto direction = c.flag("causal") ? bias::alibi_direction::causal : bias::alibi_direction::symmetric;
    with_visibility(c, layout, out, bias::alibi(bias::alibi_slopes::reference(layout.query), direction));
  } else if (c.text("bias") == "t5") {
    const coordinate::t5_bucket bucket({.num_buckets = c.integer("num_buckets"),
                                        .max_distance = c.integer("max_distance"),
                                        .direction = c.flag("bidirectional")
                                                         ? coordinate::bucket_direction::bidirectional
                                                         : coordinate::bucket_direction::causal});
    const table<T> weights(c.values<T>("bias_table"), bucket.num_buckets(), layout.query);
    with_visibility(c, layout, out, bias::t5<T>(weights, bucket));
  } else {
    throw std::runtime_error("unknown bias " + c.text("bias"));
  }
  return out;
}

}  // namespace

mechanism composed_attention() {
  return {"composed_attention", produce_composed_attention<double>, produce_composed_attention<float>};
}

}  // namespace posgeo::golden
