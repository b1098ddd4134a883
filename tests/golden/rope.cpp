// SPDX-License-Identifier: MIT
#include <posgeo/frequency/geometric.hpp>
#include <posgeo/scale/inverse_sqrt_head_dim.hpp>
#include <posgeo/transform/rotary.hpp>
#include <posgeo/visible/active.hpp>
#include <posgeo/visible/causal.hpp>

#include <utility>

#include "golden/mechanisms.hpp"
#include "golden/modules.hpp"
#include "golden/rotations.hpp"

namespace posgeo::golden {
namespace {

using transform::pairing;
using transform::rotary;

rotary<frequency::geometric> rotation(double base, index_t rotary_dim, pairing pairs) {
  return {frequency::geometric({.base = base, .rotary_dim = rotary_dim}), {.pairs = pairs}};
}

/// Llama: the whole head turns, partners half a head apart.
template <class T>
void llama(const golden_case& c, outputs<T>& out) {
  const heads layout{.query = c.integer("q_heads"), .key_value = c.integer("kv_heads"), .dim = c.integer("head_dim")};
  const auto policy = rotation(c.number("rope_theta"), layout.dim, pairing::halves);
  out.add("inv_freq", policy.speeds());
  turn_as_llama(policy, at_position_ids(c), layout, c, out);
}

/// The order that brings adjacent partners half a rotated range apart: dimension n of the halves pairing turns as
/// dimension order[n] of the adjacent one does, which shows in how a unit vector turns.
std::vector<index_t> adjacent_to_halves(double base, index_t rotary_dim, index_t dim) {
  const auto turns = [&](pairing pairs, index_t d) {
    std::vector<double> row(static_cast<std::size_t>(dim));
    row[static_cast<std::size_t>(d)] = 1.0;
    rotation(base, rotary_dim, pairs).rotate(position{1}, std::span<double>(row));
    double elsewhere = 0.0;
    for (index_t n = 0; n < dim; ++n) elsewhere += n == d ? 0.0 : row[static_cast<std::size_t>(n)];
    return std::pair{row[static_cast<std::size_t>(d)], elsewhere};
  };
  std::vector<index_t> order;
  for (index_t n = 0; n < dim; ++n) {
    for (index_t d = 0; d < dim; ++d) {
      const bool taken = std::find(order.begin(), order.end(), d) != order.end();
      if (taken || turns(pairing::adjacent, d) != turns(pairing::halves, n)) continue;
      order.push_back(d);
      break;
    }
  }
  return order;
}

/// GPT-J: the first dimensions turn, partners adjacent; memory [batch, rows, heads, dim].
template <class T>
void gptj(const golden_case& c, outputs<T>& out) {
  const double base = c.number_or("rope_theta", 10000.0);
  const index_t rotary_dim = c.integer("rotary_dim");
  const index_t count = c.shape("x")[2];
  const heads layout{.query = count, .key_value = count, .dim = c.integer("head_dim")};
  const auto call = at_position_ids(c);
  auto query = c.values<T>("x");
  auto key = query;
  turn(rotation(base, rotary_dim, pairing::adjacent), call, layout,
       rows_first(query.data(), call.batch(), call.queries(), count, layout.dim),
       rows_first(key.data(), call.batch(), call.keys(), count, layout.dim));
  if (query != key) throw std::runtime_error("queries and keys turn differently");
  out.add("x_rot", query);
  out.add("perm_interleaved_to_half", adjacent_to_halves(base, rotary_dim, layout.dim));
}

/// GPT-NeoX: one fused projection, rows of each head (query, key, value); the first dimensions turn.
template <class T>
void neox(const golden_case& c, outputs<T>& out) {
  const index_t batch = c.shape("x")[0];
  const index_t length = c.integer("length");
  const index_t count = c.integer("num_heads");
  const index_t dim = c.integer("head_dim");
  const auto fused = linear<T>(c.values<T>("x"), c.values<T>("query_key_value.weight"),
                               c.values<T>("query_key_value.bias"), c.integer("hidden"));
  const auto part = [&](index_t which) {
    return heads_view<const T>{
        fused.data() + which * dim, {batch, count, length, dim}, {length * count * 3 * dim, 3 * dim, count * 3 * dim}};
  };
  std::vector<std::uint8_t> active;
  for (const auto padded : c.values<std::uint8_t>("padding_keys")) active.push_back(padded == 0);
  const module<T> layer{.query = part(0),
                        .key = part(1),
                        .value = part(2),
                        .output_weight = c.values<T>("dense.weight"),
                        .output_bias = c.values<T>("dense.bias"),
                        .active = active,
                        .decode_steps = c.has_output("decode_output") ? c.shape("decode_output")[1] : 0};
  const auto call = call::padded_batch(
      {.active = active, .entries = batch, .rows = length, .positions = call::padded_positions::compressed(0, -1)});
  require_positions(call, c.values<index_t>("position_ids"));
  const attention model{heads{.query = count, .key_value = count, .dim = dim}, scale::inverse_sqrt_head_dim{},
                        rotation(c.number_or("rope_theta", 10000.0), c.integer("rotary_dim"), pairing::halves),
                        visible::active{}, visible::causal{}};
  run(
      layer, call, [&](index_t) { return model; }, "attn_probs", out);
}

template <class T>
outputs<T> produce_rope(const golden_case& c) {
  outputs<T> out;
  if (c.has_input("query_key_value.weight")) {
    neox(c, out);
  } else if (c.convention("layout").starts_with("half split")) {
    llama(c, out);
  } else if (c.convention("layout").starts_with("interleaved pairs")) {
    gptj(c, out);
  } else {
    throw std::runtime_error("unknown layout: " + c.convention("layout"));
  }
  return out;
}

}  // namespace

mechanism rope() { return {"rope", produce_rope<double>, produce_rope<float>}; }

}  // namespace posgeo::golden
