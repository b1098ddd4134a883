// SPDX-License-Identifier: MIT
#include <posgeo/bias/alibi.hpp>
#include <posgeo/bias/alibi_key_position.hpp>
#include <posgeo/bias/pair.hpp>
#include <posgeo/call/prefill_chunk.hpp>
#include <posgeo/core/precision.hpp>
#include <posgeo/scale/none.hpp>
#include <posgeo/visible/active.hpp>
#include <posgeo/visible/causal.hpp>

#include "golden/mechanisms.hpp"
#include "golden/modules.hpp"

namespace posgeo::golden {
namespace {

std::vector<double> values_of(const bias::alibi_slopes& slopes) {
  std::vector<double> out;
  for (const head_index h : indices<head_index>(slopes.size())) out.push_back(slopes[h]);
  return out;
}

template <class T>
outputs<T> slopes(const golden_case& c) {
  outputs<T> out;
  for (const index_t heads : c.integers("heads")) {
    const auto reference = values_of(bias::alibi_slopes::reference(heads));
    for (const char* release : {"reference", "bloom", "mpt"}) out.add(fmt::format("{}_h{}", release, heads), reference);
    out.add(fmt::format("gym_h{}", heads), values_of(bias::alibi_slopes::geometric(heads)));
  }
  return out;
}

/// What a policy adds to every pair of a call, seen or not. Shapes: [heads * queries * keys].
template <class T, class Bias>
std::vector<T> added(index_t heads, const Bias& policy, const position_call& call) {
  const attention model{posgeo::heads{.query = heads, .key_value = heads}, scale::none{}, policy, visible::active{},
                        visible::causal{}};
  return biases(model.template compile<T>(call));
}

/// The forms that the releases give one bias over a chunk whose queries stand at the end of its keys.
template <class T>
void forms(const golden_case& c, outputs<T>& out) {
  const index_t heads = c.integer("heads");
  const index_t keys = c.integer("k_len");
  const index_t queries = c.integer("q_len");
  const auto slopes = bias::alibi_slopes::reference(heads);
  const bias::alibi symmetric(slopes, bias::alibi_direction::symmetric);
  const bias::alibi causal(slopes, bias::alibi_direction::causal);
  const bias::alibi_key_position by_key(slopes, 0);
  const auto chunk = call::prefill_chunk(keys - queries, queries);
  const auto whole = call::prefill_chunk(0, keys);
  const auto last = call::prefill_chunk(keys - 1, 1);

  out.add("relative_bias", added<T>(heads, symmetric, chunk));
  out.add("llmfoundry_full_bias", added<T>(heads, symmetric, whole));
  out.add("reference_key_bias", added<T>(heads, by_key, last));
  out.add("mpt_key_bias", added<T>(heads, bias::alibi_key_position(slopes, 1 - keys), last));

  const posgeo::heads layout{.query = heads, .key_value = heads, .dim = 1};
  const tensor<T, 4> zeros({1, heads, keys, 1});
  const qkv<T> nothing{zeros.view(), zeros.view(), zeros.view()};
  const attention by_keys{layout, scale::none{}, by_key, visible::causal{}};
  const auto causal_bias = attend(eager{}, by_keys.template compile<T>(whole), nothing, also::scores);
  out.add("reference_causal_bias", causal_bias.scores.values());

  const auto logits = c.values<T>("logits");
  const bias::pair<T> content(heads_first(logits.data(), 1, heads, keys, keys));
  const attention relative{layout, scale::none{}, content, causal, visible::causal{}};
  const auto weighted = attend(eager{}, relative.template compile<T>(whole), nothing, also::probabilities);
  out.add("softmax_causal", weighted.probabilities.values());
}

/// BLOOM counts tokens only and gives padding position 0; Falcon rounds slopes to bfloat16 on top.
template <class T>
void padded(const golden_case& c, outputs<T>& out) {
  const index_t heads = c.integer("heads");
  const auto active = c.values<std::uint8_t>("attention_mask");
  const auto call = call::padded_batch({.active = active,
                                        .entries = c.integer("batch"),
                                        .rows = c.integer("length"),
                                        .positions = call::padded_positions::compressed(0, 0)});
  const auto reference = bias::alibi_slopes::reference(heads);
  std::vector<double> rounded = values_of(reference);
  for (double& slope : rounded) slope = round_to(precision::bfloat16, slope);

  const auto by_key = [&](const bias::alibi_slopes& slopes) {
    const attention model{posgeo::heads{.query = heads, .key_value = heads}, scale::none{},
                          bias::alibi_key_position(slopes, 0), visible::active{}, visible::causal{}};
    const auto plan = model.template compile<T>(call);
    std::vector<T> rows;
    for (const batch_index b : indices<batch_index>(call.batch())) {
      for (const head_index h : indices<head_index>(heads)) {
        for (const key_index j : indices<key_index>(call.keys())) rows.push_back(plan.bias(b, h, query_index{0}, j));
      }
    }
    return rows;
  };
  out.add("bloom_alibi", by_key(reference));
  out.add("falcon_alibi", by_key(bias::alibi_slopes::custom(rounded)));
}

template <class T>
outputs<T> bias_forms(const golden_case& c) {
  outputs<T> out;
  c.has_input("attention_mask") ? padded(c, out) : forms(c, out);
  return out;
}

}  // namespace

mechanism alibi_slopes() { return {"alibi_slopes", slopes<double>, slopes<float>}; }
mechanism alibi_bias() { return {"alibi_bias", bias_forms<double>, bias_forms<float>}; }

}  // namespace posgeo::golden
