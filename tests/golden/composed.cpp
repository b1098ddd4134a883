// SPDX-License-Identifier: MIT
#include <posgeo/bias/alibi_key_position.hpp>
#include <posgeo/call/packed_batch.hpp>
#include <posgeo/frequency/geometric.hpp>
#include <posgeo/scale/inverse_sqrt_head_dim.hpp>
#include <posgeo/transform/rotary.hpp>
#include <posgeo/visible/active.hpp>
#include <posgeo/visible/causal.hpp>
#include <posgeo/visible/segments.hpp>

#include <algorithm>
#include <array>

#include "golden/mechanisms.hpp"
#include "golden/modules.hpp"

namespace posgeo::golden {
namespace {

/// A fused projection of queries, keys and values, and the strides under which the three lie in it.
template <class T>
struct fused_projection {
  std::vector<T> rows;
  std::array<index_t, 4> extents;
  std::array<index_t, 3> strides;
  index_t step;  ///< from the queries to the keys, and from the keys to the values

  [[nodiscard]] heads_view<const T> part(index_t which) const { return {rows.data() + which * step, extents, strides}; }
};

position_call padded_call(const golden_case& c, const std::vector<std::uint8_t>& active,
                          const call::padded_positions& positions) {
  return call::padded_batch(
      {.active = active, .entries = c.integer("batch"), .rows = c.integer("length"), .positions = positions});
}

/// BLOOM: key positions count tokens; projection rows of each head are (query, key, value).
template <class T>
void bloom(const golden_case& c, const heads& layout, outputs<T>& out) {
  const index_t length = c.integer("length");
  const index_t row = 3 * layout.query * layout.dim;
  const fused_projection<T> fused{linear<T>(c.values<T>("x"), c.values<T>("query_key_value.weight"),
                                            c.values<T>("query_key_value.bias"), layout.query * layout.dim),
                                  {c.integer("batch"), layout.query, length, layout.dim},
                                  {length * row, 3 * layout.dim, row},
                                  layout.dim};
  const auto active = c.values<std::uint8_t>("attention_mask");
  const module<T> layer{.query = fused.part(0),
                        .key = fused.part(1),
                        .value = fused.part(2),
                        .output_weight = c.values<T>("dense.weight"),
                        .output_bias = c.values<T>("dense.bias"),
                        .active = active,
                        .decode_steps = c.integer("decode_steps")};
  const attention model{layout, scale::inverse_sqrt_head_dim{},
                        bias::alibi_key_position(bias::alibi_slopes::reference(layout.query), 0), visible::active{},
                        visible::causal{}};
  run(
      layer, padded_call(c, active, call::padded_positions::compressed(0, -1)), [&](index_t) { return model; },
      "attn_probs", out);
}

/// MPT: key positions count storage rows and end at 0; projection rows are all queries, all keys, all values.
template <class T>
void mpt(const golden_case& c, const heads& layout, outputs<T>& out) {
  const index_t length = c.integer("length");
  const index_t width = layout.query * layout.dim;
  const fused_projection<T> fused{linear<T>(c.values<T>("x"), c.values<T>("Wqkv.weight"), {}, width),
                                  {c.integer("batch"), layout.query, length, layout.dim},
                                  {length * 3 * width, layout.dim, 3 * width},
                                  width};
  const auto active = c.values<std::uint8_t>("attention_mask");
  const module<T> layer{.query = fused.part(0),
                        .key = fused.part(1),
                        .value = fused.part(2),
                        .output_weight = c.values<T>("out_proj.weight"),
                        .active = active,
                        .decode_steps = c.integer("decode_steps")};
  const auto model_for = [&](index_t keys) {
    return attention{layout, scale::inverse_sqrt_head_dim{},
                     bias::alibi_key_position(bias::alibi_slopes::reference(layout.query), 1 - keys), visible::active{},
                     visible::causal{}};
  };
  run(layer, padded_call(c, active, call::padded_positions::contiguous()), model_for, "attn_probs", out);
}

/// Llama: grouped heads, rotation, positions that count tokens or restart in each packed sequence.
template <class T>
void llama(const golden_case& c, heads layout, outputs<T>& out) {
  layout.key_value = c.integer("num_kv_heads");
  const index_t batch = c.integer("batch");
  const index_t length = c.integer("length");
  const auto projected = [&](const char* weight) {
    return linear<T>(c.values<T>("x"), c.values<T>(weight), {}, layout.query * layout.dim);
  };
  const auto query = projected("q_proj.weight");
  const auto key = projected("k_proj.weight");
  const auto value = projected("v_proj.weight");
  const auto active = c.values<std::uint8_t>("attention_mask");
  const module<T> layer{.query = rows_first(query.data(), batch, length, layout.query, layout.dim),
                        .key = rows_first(key.data(), batch, length, layout.key_value, layout.dim),
                        .value = rows_first(value.data(), batch, length, layout.key_value, layout.dim),
                        .output_weight = c.values<T>("o_proj.weight"),
                        .active = active,
                        .decode_steps = c.integer("decode_steps")};
  const transform::rotary rotary(frequency::geometric({.base = c.number("rope_theta"), .rotary_dim = layout.dim}),
                                 {.pairs = transform::pairing::halves});
  const auto run_with = [&](const position_call& call, const auto& visibility) {
    const attention model{layout, scale::inverse_sqrt_head_dim{}, rotary, visibility, visible::causal{}};
    require_positions(call, c.values<index_t>("position_ids"));
    require_visible(model.template compile<T>(call), c.values<std::uint8_t>("allowed"));
    run(
        layer, call, [&](index_t) { return model; }, "attn_probs", out);
  };
  if (c.has("segments") && batch == 1 && std::count(active.begin(), active.end(), 0) == 0) {
    run_with(call::packed_batch({.lengths = c.integers("segments"), .positions = call::packed_positions::restart}),
             visible::segments{});
  } else if (c.has("segments")) {
    const auto at = c.values<index_t>("position_ids");
    const auto sequences = c.values<index_t>("segment_ids");
    std::vector<spelled_row> rows;
    for (std::size_t n = 0; n < at.size(); ++n) rows.push_back({active[n] ? at[n] : -1, sequences[n], active[n] != 0});
    run_with(spelled_call(batch, rows, rows), visible::segments{});
  } else {
    run_with(padded_call(c, active, call::padded_positions::compressed(0, -1)), visible::active{});
  }
}

template <class T>
outputs<T> produce_composed(const golden_case& c) {
  const index_t count = c.integer("num_heads");
  const heads layout{.query = count, .key_value = count, .dim = c.integer("head_dim")};
  outputs<T> out;
  if (c.has("rope_theta")) {
    llama(c, layout, out);
  } else if (c.has_input("Wqkv.weight")) {
    mpt(c, layout, out);
  } else if (c.has_input("query_key_value.weight")) {
    bloom(c, layout, out);
  } else {
    throw std::runtime_error("unknown attention module");
  }
  return out;
}

}  // namespace

mechanism composed() { return {"composed", produce_composed<double>, produce_composed<float>}; }

}  // namespace posgeo::golden
