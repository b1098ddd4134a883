// SPDX-License-Identifier: MIT
#include <posgeo/bias/alibi.hpp>
#include <posgeo/bias/pair.hpp>
#include <posgeo/bias/t5.hpp>
#include <posgeo/call/cross_attention.hpp>
#include <posgeo/call/prefill_chunk.hpp>
#include <posgeo/scale/none.hpp>
#include <posgeo/visible/active.hpp>
#include <posgeo/visible/causal.hpp>

#include "cases/json_tensors.hpp"
#include "cases/masks.hpp"

namespace posgeo::cases {
namespace {

bias::alibi alibi_of(double slope, bias::alibi_direction direction) {
  return {bias::alibi_slopes::custom({slope}), direction};
}
bias::alibi causal_alibi(double slope) { return alibi_of(slope, bias::alibi_direction::causal); }

/// One head of ALiBi over a call, without content of its own but for the given logits.
attention_result<double> with_alibi(const json& rule, const position_call& call,
                                    const tensor<double, 4>& logits = tensor<double, 4>({1, 1, 1, 1})) {
  const double slope = rule.at("slope");
  const bias::pair<double> content(logits.view());
  if (rule.at("bidirectional").get<bool>()) {
    const attention model{heads{}, scale::none{}, alibi_of(slope, bias::alibi_direction::symmetric), content,
                          visible::active{}};
    return run_without_content(model, call);
  }
  const attention model{heads{}, scale::none{}, causal_alibi(slope), content, visible::active{}, visible::causal{}};
  return run_without_content(model, call);
}

json alibi_bias(const json& in) { return nested(with_alibi(in, call_at(in)).scores)[0][0]; }

attention_result<double> softmax_of(const json& in) {
  const json& rule = in.at("bias_rule");
  expect(rule, "kind", "alibi");
  return with_alibi(rule, call_at(rule), one_head(in.at("logits")));
}
json softmax_bias(const json& in) { return nested(softmax_of(in).probabilities)[0][0]; }
json softmax_bias_lse(const json& in) { return nested(softmax_of(in).log_sum_exp)[0][0]; }

/// One query column of a left-padded row whose positions count tokens.
json alibi_bias_padded(const json& in) {
  const auto call = counted_call(json::array({in.at("attention_mask")}));
  return json::array({nested(with_alibi(in, call).scores)[0][0][in.at("q_column").get<std::size_t>()]});
}

json alibi_weights(const json& in) {
  expect(in, "content_scores", "all zero");
  const auto call =
      call_at({in.at("query_position").get<index_t>()}, in.at("key_positions").get<std::vector<index_t>>());
  const auto result = with_alibi({{"slope", in.at("slope")}, {"bidirectional", false}}, call);
  return {{"bias", nested(result.scores)[0][0][0]}, {"weights", nested(result.probabilities)[0][0][0]}};
}

/// Keys of a memory before those of the segment: distances count from the memory's first row.
json attention_weights_with_memory_bias(const json& in) {
  expect(in, "content_scores", "all zero");
  expect(in, "bias", "-(1/2)*distance");
  expect(in, "causal", true);
  const auto call = call::prefill_chunk(in.at("mlen"), in.at("qlen"));
  const auto result = with_alibi({{"slope", 0.5}, {"bidirectional", false}}, call);
  json distances = json::array();
  for (const query_index i : indices<query_index>(call.queries())) {
    json row = json::array();
    for (const key_index j : indices<key_index>(call.keys())) row.push_back(-call.offset(batch_index{0}, i, j).value());
    distances.push_back(row);
  }
  return {{"distances", distances}, {"weights", nested(result.probabilities)[0][0]}};
}

/// A ring buffer: the caller states the position of each slot, and bias and mask go by it.
json ring_buffer_attention(const json& in) {
  expect(in, "slot_rule", "position mod capacity");
  expect(in, "bias", "-distance");
  expect(in, "content_scores", "all zero");
  expect(in, "value_of_position_p", "10*p");
  const auto ring = [](index_t capacity, index_t query, const std::vector<index_t>& written) {
    std::vector<index_t> slots(static_cast<std::size_t>(capacity));
    std::vector<std::uint8_t> filled(slots.size());
    for (const index_t p : written) {
      slots[static_cast<std::size_t>(p % capacity)] = p;
      filled[static_cast<std::size_t>(p % capacity)] = 1;
    }
    const std::array<index_t, 1> at{query};
    return call::explicit_positions(
        {.query = {.positions = at, .rows = 1}, .key = {.positions = slots, .active = filled, .rows = capacity}});
  };
  const auto oldest = [](const position_call& call) {
    index_t slot = -1;
    for (const key_index j : indices<key_index>(call.keys())) {
      const batch_index b{0};
      if (call.active(b, j) && (slot < 0 || call.at(b, j) < call.at(b, key_index{slot}))) slot = j.value();
    }
    return slot;
  };

  const auto full =
      ring(in.at("capacity"), in.at("query_position"), in.at("tokens_written").get<std::vector<index_t>>());
  json positions = json::array();
  json distances = json::array();
  std::vector<double> values;
  for (const key_index j : indices<key_index>(full.keys())) {
    const index_t at = full.at(batch_index{0}, j).value();
    positions.push_back(at);
    distances.push_back(-full.offset(batch_index{0}, query_index{0}, j).value());
    values.push_back(10.0 * static_cast<double>(at));
  }
  const attention model{heads{}, scale::none{}, causal_alibi(1.0), visible::active{}, visible::causal{}};
  const json& partial = in.at("partial_fill");
  const index_t total = partial.at("total");
  const auto part = ring(partial.at("capacity"), total, counting(total - partial.at("kept").get<index_t>(), total));
  return {{"slot_positions", positions},
          {"distance_per_slot", distances},
          {"output", run_without_content(model, full, values).output(0, 0, 0, 0)},
          {"full_start_slot", oldest(full)},
          {"partial_fill_start", oldest(part)}};
}

// Encoder and decoder: what was made for one frame is refused across two.

position_call across(index_t targets, index_t sources) {
  return call::cross_attention({.target_lengths = {&targets, 1},
                                .source_lengths = {&sources, 1},
                                .target_rows = targets,
                                .source_rows = sources});
}

template <class Bias>
void require_refused(const Bias& bias, const position_call& call) {
  const attention model{heads{}, scale::none{}, bias, visible::active{}};
  const json refused = refusal([&] { (void)model.template compile<double>(call); });
  if (!refused.at("error").get<bool>()) throw std::runtime_error("a self-attention bias was taken across frames");
}

json t5_cross_bias(const json& in) {
  const auto call =
      across(static_cast<index_t>(in.at("q_positions").size()), static_cast<index_t>(in.at("k_positions").size()));
  const auto weights = in.at("table").get<std::vector<double>>();
  const coordinate::t5_bucket bucket({.num_buckets = in.at("num_buckets").get<index_t>(),
                                      .max_distance = in.at("max_distance").get<index_t>(),
                                      .direction = coordinate::bucket_direction::bidirectional});
  require_refused(bias::t5<double>(table<double>(weights, bucket.num_buckets(), 1), bucket), call);
  const attention without{heads{}, scale::none{}, visible::active{}};
  return nested(run_without_content(without, call).scores)[0][0];
}

json cross_attention(const json& in) {
  expect(in, "content_scores", "all zero");
  const auto call = across(in.at("qlen"), in.at("klen"));
  require_refused(alibi_of(1.0, bias::alibi_direction::symmetric), call);
  const attention without{heads{}, scale::none{}, visible::active{}};
  const auto result = run_without_content(without, call, in.at("values").get<std::vector<double>>());
  return {{"output", std::vector<double>(result.output.values().begin(), result.output.values().end())}};
}

/// The extents that scores under a T5 bias have in the present call.
json t5_bias_shape(const json& in) {
  const index_t count = in.at("n_heads");
  const index_t queries = in.at("q_len");
  const index_t keys = in.at("k_len");
  const std::vector<double> zeros(static_cast<std::size_t>(32 * count));
  const coordinate::t5_bucket bucket(
      {.num_buckets = 32, .max_distance = 128, .direction = coordinate::bucket_direction::causal});
  const attention model{heads{.query = count, .key_value = count}, scale::none{},
                        bias::t5<double>(table<double>(zeros, 32, count), bucket), visible::causal{}};
  const tensor<double, 4> q({1, count, queries, 1});
  const tensor<double, 4> k({1, count, keys, 1});
  return run(model, call::prefill_chunk(keys - queries, queries), q, k, k).scores.extents();
}

}  // namespace

operations bias_operations() {
  return {{"alibi_bias", alibi_bias},
          {"softmax_bias", softmax_bias},
          {"softmax_bias_lse", softmax_bias_lse},
          {"alibi_bias_padded", alibi_bias_padded},
          {"alibi_weights", alibi_weights},
          {"attention_weights_with_memory_bias", attention_weights_with_memory_bias},
          {"ring_buffer_attention", ring_buffer_attention},
          {"t5_cross_bias", t5_cross_bias},
          {"cross_attention", cross_attention},
          {"t5_bias_shape", t5_bias_shape}};
}

}  // namespace posgeo::cases
