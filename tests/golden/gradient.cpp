// SPDX-License-Identifier: MIT
#include <posgeo/attend/eager_backward.hpp>
#include <posgeo/bias/alibi.hpp>
#include <posgeo/bias/t5.hpp>
#include <posgeo/call/explicit_positions.hpp>
#include <posgeo/call/prefill_chunk.hpp>
#include <posgeo/content/bert_relative.hpp>
#include <posgeo/content/deberta.hpp>
#include <posgeo/content/projected_rows_backward.hpp>
#include <posgeo/content/transformer_xl.hpp>
#include <posgeo/frequency/geometric.hpp>
#include <posgeo/scale/constant.hpp>
#include <posgeo/scale/inverse_sqrt_head_dim.hpp>
#include <posgeo/transform/rotary.hpp>
#include <posgeo/value/shaw_value.hpp>
#include <posgeo/visible/active.hpp>
#include <posgeo/visible/causal.hpp>
#include <posgeo/visible/custom.hpp>
#include <posgeo/visible/everything.hpp>

#include <cmath>

#include "golden/mechanisms.hpp"
#include "golden/modules.hpp"
#include "golden/rotations.hpp"

namespace posgeo::golden {
namespace {

using coordinate::clipped;

/// A linear layer with its gradients.
template <class T>
struct layer {
  std::vector<T> weight;
  std::vector<T> bias;
  index_t in;
  std::vector<T> d_weight = std::vector<T>(weight.size());
  std::vector<T> d_bias = std::vector<T>(bias.size());

  [[nodiscard]] index_t out() const { return static_cast<index_t>(weight.size()) / in; }
  [[nodiscard]] std::vector<T> operator()(const std::vector<T>& x) const { return linear<T>(x, weight, bias, in); }
  /// Adds the gradients of the layer; returns d_x, zero where the rows of d_y are.
  [[nodiscard]] std::vector<T> backward(const std::vector<T>& x, const std::vector<T>& d_y) {
    std::vector<T> d_x(x.size());
    const auto wide = static_cast<std::size_t>(in);
    const auto units = static_cast<std::size_t>(out());
    for (std::size_t row = 0; row * wide < x.size(); ++row) {
      for (std::size_t unit = 0; unit < units; ++unit) {
        const T d = d_y[row * units + unit];
        for (std::size_t c = 0; c < wide; ++c) {
          d_x[row * wide + c] += d * weight[unit * wide + c];
          d_weight[unit * wide + c] += d * x[row * wide + c];
        }
        if (!bias.empty()) d_bias[unit] += d;
      }
    }
    return d_x;
  }
  template <class Gradient>
  void add(const Gradient& more) {
    for (std::size_t n = 0; n < d_weight.size(); ++n) d_weight[n] += more.weight.values()[n];
    for (std::size_t n = 0; n < d_bias.size(); ++n) d_bias[n] += more.bias[n];
  }
};

template <class T>
layer<T> read_layer(const golden_case& c, const std::string& name, index_t in) {
  return {c.values<T>(name + ".weight"), c.has_input(name + ".bias") ? c.values<T>(name + ".bias") : std::vector<T>{},
          in};
}
template <class T>
void add_layer(const layer<T>& one, const std::string& name, outputs<T>& out) {
  out.add("grad_" + name + ".weight", one.d_weight);
  if (!one.bias.empty()) out.add("grad_" + name + ".bias", one.d_bias);
}
template <class T>
void add_to(std::vector<T>& a, const std::vector<T>& b) {
  for (std::size_t n = 0; n < a.size(); ++n) a[n] += b[n];
}

/// Forward and backward; gradients in memory of the shape of what they are gradients of.
template <class T, class Plan>
struct both_ways {
  tensor<T, 4> output;
  tensor<T, 4> query;
  tensor<T, 4> key;
  tensor<T, 4> value;
  plan_gradients_of<Plan> learned;

  both_ways(const Plan& plan, const qkv<T>& in, const heads_view<const T>& d_output)
      : query(in.query.extents()), key(in.key.extents()), value(in.value.extents()), learned(plan) {
    auto forward = attend(eager{}, plan, in, also::log_sum_exp);
    attend_backward(eager{}, plan, in, {forward.output.view(), forward.log_sum_exp.view()}, d_output,
                    {query.view(), key.view(), value.view()}, learned, call::memory_gradient::attached);
    output = std::move(forward.output);
  }
};
template <class T, class Plan>
both_ways<T, Plan> run_both(const Plan& plan, const qkv<T>& in, const heads_view<const T>& d_output) {
  return {plan, in, d_output};
}

template <class T, class Plan>
auto add_qkv(const golden_case& c, const Plan& plan, outputs<T>& out) {
  const auto q = c.values<T>("q");
  const auto k = c.values<T>("k");
  const auto v = c.values<T>("v");
  const auto d = c.values<T>("dout");
  const auto view = [&](const std::vector<T>& numbers, const char* name) {
    const auto& shape = c.shape(name);
    return heads_first(numbers.data(), shape[0], shape[1], shape[2], shape[3]);
  };
  auto run = run_both<T>(plan, {view(q, "q"), view(k, "k"), view(v, "v")}, view(d, "dout"));
  out.add("output", run.output.values());
  out.add("grad_q", run.query.values());
  out.add("grad_k", run.key.values());
  out.add("grad_v", run.value.values());
  return run.learned;
}

/// A bias under a causal mask with padding on the left of the last entry.
template <class T>
outputs<T> of_bias(const golden_case& c) {
  outputs<T> out;
  const heads layout{
      .query = c.integer("num_heads"), .key_value = c.integer("num_kv_heads"), .dim = c.integer("head_dim")};
  const index_t batch = c.shape("q")[0];
  const index_t first = c.integer("q_offset");
  std::vector<spelled_row> queries;
  std::vector<spelled_row> keys;
  for (index_t b = 0; b < batch; ++b) {
    const index_t padding = b + 1 == batch ? c.integer("left_padding_last_row") : 0;
    for (index_t i = 0; i < c.integer("q_len"); ++i) queries.push_back({first + i, 0, first + i >= padding});
    for (index_t j = 0; j < c.integer("k_len"); ++j) keys.push_back({j, 0, j >= padding});
  }
  const auto call = spelled_call(batch, queries, keys);
  const auto plan_with = [&](const auto& policy) {
    const attention model{layout, scale::inverse_sqrt_head_dim{}, policy, visible::active{}, visible::causal{}};
    auto plan = model.template compile<T>(call);
    std::vector<std::uint8_t> allowed;
    for (const T one : c.values<T>("allowed")) allowed.push_back(one != T{0});
    require_visible(plan, allowed);
    return plan;
  };
  if (c.text("bias") == "t5") {
    const coordinate::t5_bucket bucket({.num_buckets = c.integer("num_buckets"),
                                        .max_distance = c.integer("max_distance"),
                                        .direction = coordinate::bucket_direction::causal});
    auto learned = add_qkv<T>(
        c, plan_with(bias::t5<T>(table<T>(c.values<T>("bias_table"), bucket.num_buckets(), layout.query), bucket)),
        out);
    out.add("grad_bias_table", learned.bias().at("table").values());
  } else {
    auto learned = add_qkv<T>(
        c,
        plan_with(bias::alibi(bias::alibi_slopes::custom(c.values<double>("slopes")), bias::alibi_direction::causal)),
        out);
    out.add("grad_slopes", learned.bias().at("slopes.values").values());
  }
  return out;
}

template <class T>
outputs<T> of_shaw(const golden_case& c) {
  outputs<T> out;
  const index_t length = c.integer("length");
  const heads layout{
      .query = c.integer("num_heads"), .key_value = c.integer("num_heads"), .dim = c.integer("head_dim")};
  const clipped classes = clipped::symmetric(c.integer("max_relative_position"));
  const auto rows = [&](const char* name) {
    return head_tables<T>::shared(table<T>(c.values<T>(name), classes.classes(), layout.dim));
  };
  std::vector<call::prefill_entry> entries;
  for (index_t b = 0; b < c.shape("q")[0]; ++b) entries.push_back({.length = length, .sequence = b});
  const auto call = call::prefill_chunk({.entries = entries, .query_rows = length, .key_rows = length});
  const attention model{layout, scale::inverse_sqrt_head_dim{}, visible::causal{},
                        content::shaw_key<T>(rows("rel_key_table"), classes),
                        value::shaw_value<T>(rows("rel_value_table"), classes)};
  auto learned = add_qkv<T>(c, model.template compile<T>(call), out);
  out.add("grad_rel_key_table", learned.content().at("table").values());
  out.add("grad_rel_value_table", learned.value().at("table").values());
  return out;
}

/// Self-attention of states x through three layers; the rows of every entry stand at 0, 1, ...
template <class T>
struct self_attention {
  const golden_case& c;
  heads layout;
  std::vector<T> x = c.values<T>("x");
  index_t batch = c.shape("x")[0];
  index_t rows = c.shape("x")[1];
  index_t width = c.shape("x")[2];

  [[nodiscard]] position_call call() const {
    std::vector<index_t> positions;
    for (index_t n = 0; n < batch * rows; ++n) positions.push_back(n % rows);
    const call::explicit_side side{.positions = positions, .rows = rows};
    return call::explicit_positions({.entries = batch, .query = side, .key = side});
  }
  /// Adds the output and the gradients of x and of the three layers, which `learn` sees before.
  template <class Plan, class Learn>
  void run(const Plan& plan, const std::array<std::string, 3>& names, outputs<T>& out, const Learn& learn) const {
    std::array<layer<T>, 3> layers{read_layer<T>(c, names[0], width), read_layer<T>(c, names[1], width),
                                   read_layer<T>(c, names[2], width)};
    const std::array<std::vector<T>, 3> states{layers[0](x), layers[1](x), layers[2](x)};
    const auto view = [&](const std::vector<T>& numbers) {
      return rows_first(numbers.data(), batch, rows, layout.query, layout.dim);
    };
    const auto d = c.values<T>("dout");
    auto run = run_both<T>(plan, {view(states[0]), view(states[1]), view(states[2])}, view(d));
    out.add("output", merged_heads(run.output));
    std::vector<T> d_x(x.size());
    add_to(d_x, layers[0].backward(x, merged_heads(run.query)));
    add_to(d_x, layers[1].backward(x, merged_heads(run.key)));
    add_to(d_x, layers[2].backward(x, merged_heads(run.value)));
    learn(run.learned, layers);
    for (std::size_t n = 0; n < 3; ++n) add_layer(layers[n], names[n], out);
    out.add("grad_x", d_x);
  }
};

template <class T>
outputs<T> of_bert(const golden_case& c) {
  outputs<T> out;
  const index_t count = c.integer("num_heads");
  const index_t dim = c.integer("hidden") / count;
  const index_t positions = c.integer("max_position_embeddings");
  const self_attention<T> self{c, {.query = count, .key_value = count, .dim = dim}};
  const table<T> distances(c.values<T>("distance_embedding.weight"), 2 * positions - 1, dim);
  const attention model{self.layout, scale::inverse_sqrt_head_dim{}, visible::everything{},
                        content::relative_key_query<T>(distances, positions)};
  self.run(model.template compile<T>(self.call()), {"query", "key", "value"}, out, [&](auto& learned, auto&) {
    out.add("grad_distance_embedding.weight", learned.content().at("table").values());
  });
  return out;
}

/// Both terms; the position table goes through the projections of the content, or through its own.
template <class T>
outputs<T> of_deberta(const golden_case& c) {
  outputs<T> out;
  const index_t count = c.integer("num_heads");
  const self_attention<T> self{c, {.query = count, .key_value = count, .dim = c.integer("hidden") / count}};
  const index_t buckets = c.integer("position_buckets");
  const index_t furthest = c.integer("max_relative_positions");
  const auto span =
      buckets > 0
          ? coordinate::deberta_span::bucketed(coordinate::log_bucket(
                {.num_buckets = buckets, .max_position = furthest, .beyond = coordinate::beyond_max_position::runs_on}))
          : coordinate::deberta_span::exact(furthest);
  const bool shared = c.flag("share_att_key");
  const std::string key_name = shared ? "key_proj" : "pos_key_proj";
  const std::string query_name = shared ? "query_proj" : "pos_query_proj";
  const table<T> relative(c.values<T>("rel_embeddings"), c.shape("rel_embeddings")[0], self.width);
  auto key_layer = read_layer<T>(c, key_name, self.width);
  auto query_layer = read_layer<T>(c, query_name, self.width);
  const auto projection = [&](const layer<T>& one) {
    return content::projection<T>{.weight = table<T>(one.weight, one.out(), self.width), .bias = one.bias};
  };
  const auto tables = [&](const layer<T>& one) {
    return head_tables<T>::by_column(content::projected_rows<T>(relative, projection(one)), count);
  };
  std::vector<std::uint8_t> allowed;
  for (const T one : c.values<T>("mask")) allowed.push_back(one != T{0});
  const index_t rows = self.rows;
  const auto shown = [&allowed, rows](const position_call&, batch_index b, query_index i, key_index j) noexcept {
    return allowed[static_cast<std::size_t>((b.value() * rows + i.value()) * rows + j.value())] != 0;
  };
  // The release takes the root of three products' dimensions in float, whatever the type of the rest.
  const float root = std::sqrt(static_cast<float>(3 * self.layout.dim));
  const attention model{
      self.layout, scale::constant(1.0 / static_cast<double>(root)), visible::custom(shown),
      content::deberta<T>(content::deberta_terms::both(content::p2c_index::released_code), span,
                          {.position_keys = tables(key_layer), .position_queries = tables(query_layer)})};
  self.run(model.template compile<T>(self.call()), {"query_proj", "key_proj", "value_proj"}, out,
           [&](auto& learned, auto& layers) {
             const auto of_keys =
                 content::projected_rows_backward(learned.content().at("key_table"), relative, projection(key_layer));
             const auto of_queries = content::projected_rows_backward(learned.content().at("query_table"), relative,
                                                                      projection(query_layer));
             auto of_rows = of_keys.rows;
             of_rows.add(of_queries.rows);
             out.add("grad_rel_embeddings", of_rows.values());
             if (shared) {
               layers[0].add(of_queries);
               layers[1].add(of_keys);
               return;
             }
             key_layer.add(of_keys);
             query_layer.add(of_queries);
             add_layer(key_layer, key_name, out);
             add_layer(query_layer, query_name, out);
           });
  return out;
}

/// A segment with memory, through one layer of the release; all tensors [rows, batch, width].
template <class T>
outputs<T> of_transformer_xl(const golden_case& c) {
  outputs<T> out;
  const heads layout{.query = c.integer("n_head"), .key_value = c.integer("n_head"), .dim = c.integer("d_head")};
  const index_t width = c.integer("d_model");
  const index_t queries = c.integer("q_len");
  const index_t past = c.integer("mem_len");
  const index_t rows = past + queries;
  const index_t batch = c.shape("w")[1];
  const index_t inner = layout.query * layout.dim;
  std::vector<T> states = c.values<T>("mems");
  const auto w = c.values<T>("w");
  states.insert(states.end(), w.begin(), w.end());

  auto qkv_net = read_layer<T>(c, "qkv_net", width);
  auto o_net = read_layer<T>(c, "o_net", inner);
  const table<T> r(c.values<T>("r"), rows, width);
  const content::projection<T> r_net{.weight = table<T>(c.values<T>("r_net.weight"), inner, width)};
  const auto bias = [&](const char* name) { return table<T>(c.values<T>(name), layout.query, layout.dim); };
  using distances = content::distance_rows<T>;
  const attention model{layout, scale::inverse_sqrt_head_dim{}, visible::causal{},
                        content::transformer_xl<T, distances>(
                            {.content = bias("r_w_bias"), .position = bias("r_r_bias")},
                            distances(head_tables<T>::by_column(content::projected_rows<T>(r, r_net), layout.query),
                                      {.lowest = 0, .order = content::distance_order::descending}))};
  std::vector<call::prefill_entry> entries;
  for (index_t b = 0; b < batch; ++b) {
    entries.push_back(
        {.committed_length = past, .first_position = past, .length = queries, .past_length = past, .sequence = b});
  }
  const auto plan =
      model.template compile<T>(call::prefill_chunk({.entries = entries, .query_rows = queries, .key_rows = rows}));

  const auto projected = qkv_net(states);
  const auto part = [&](const std::vector<T>& numbers, index_t n, index_t first, index_t count) {
    return heads_view<const T>(numbers.data() + first * batch * 3 * inner + n * inner,
                               {batch, layout.query, count, layout.dim}, {3 * inner, layout.dim, batch * 3 * inner});
  };
  const qkv<T> in{part(projected, 0, past, queries), part(projected, 1, 0, rows), part(projected, 2, 0, rows)};
  // Heads [batch, heads, rows, dim] as [rows, batch, heads * dim], from a row on.
  const auto time_major = [&](const tensor<T, 4>& of, std::vector<T>& to, index_t stride, index_t at, index_t first) {
    for (index_t b = 0; b < batch; ++b) {
      for (index_t h = 0; h < layout.query; ++h) {
        for (index_t row = 0; row < of.extent(2); ++row) {
          const auto from = of.view().row(b, h, row);
          std::copy(from.begin(), from.end(), to.begin() + ((first + row) * batch + b) * stride + at + h * layout.dim);
        }
      }
    }
  };
  const auto attended = attend(eager{}, plan, in);
  std::vector<T> context(static_cast<std::size_t>(queries * batch * inner));
  time_major(attended.output, context, inner, 0, 0);
  auto sums = o_net(context);
  add_to(sums, w);

  // The layer norm, and back through it.
  const table<T> before(sums, queries * batch, width);
  const auto gain = c.values<T>("layer_norm.weight");
  const auto shift = c.values<T>("layer_norm.bias");
  const content::normalization<T> norm{.gain = gain, .bias = shift, .epsilon = 1e-5};
  out.add("output", content::normalized_rows<T>(before, norm).values());
  const auto d = c.values<T>("dout");
  table_gradient<T> d_out("output", before);
  for (index_t row = 0; row < before.rows(); ++row)
    d_out.add_row(row, table<T>(d, before.rows(), width).row(row), T{1});
  const auto of_norm = content::normalized_rows_backward(d_out, before, norm);
  out.add("grad_layer_norm.weight", of_norm.gain);
  out.add("grad_layer_norm.bias", of_norm.bias);
  const std::vector<T> d_sums(of_norm.rows.values().begin(), of_norm.rows.values().end());
  const auto d_context = o_net.backward(context, d_sums);
  add_layer(o_net, "o_net", out);

  const heads_view<const T> d_output(d_context.data(), {batch, layout.query, queries, layout.dim},
                                     {inner, layout.dim, batch * inner});
  auto run = run_both<T>(plan, in, d_output);
  std::vector<T> d_projected(projected.size());
  time_major(run.query, d_projected, 3 * inner, 0, past);
  time_major(run.key, d_projected, 3 * inner, inner, 0);
  time_major(run.value, d_projected, 3 * inner, 2 * inner, 0);
  auto d_states = qkv_net.backward(states, d_projected);
  add_layer(qkv_net, "qkv_net", out);
  const auto memory = static_cast<std::ptrdiff_t>(past * batch * width);
  out.add("grad_mems", std::vector<T>(d_states.begin(), d_states.begin() + memory));
  std::vector<T> d_w(d_states.begin() + memory, d_states.end());
  add_to(d_w, d_sums);  // the residual
  out.add("grad_w", d_w);

  auto& learned = run.learned.content();
  out.add("grad_r_w_bias", learned.at("content_bias_table").values());
  out.add("grad_r_r_bias", learned.at("position_bias_table").values());
  const auto of_rows = content::projected_rows_backward(learned.at("rows.table"), r, r_net);
  out.add("grad_r", of_rows.rows.values());
  out.add("grad_r_net.weight", of_rows.weight.values());
  return out;
}

template <class T>
outputs<T> of_rotation(const golden_case& c) {
  outputs<T> out;
  const auto& shape = c.shape("x");
  const heads layout{.query = shape[1], .key_value = shape[1], .dim = shape[3]};
  const auto call = at_position_ids(c);
  const transform::rotary policy(
      frequency::geometric({.base = c.number_or("rope_theta", 10000.0), .rotary_dim = c.integer("rotary_dim")}),
      {.pairs = c.text("layout") == "half" ? transform::pairing::halves : transform::pairing::adjacent});
  const auto term = policy.template compile<T>(call, layout);
  auto x = c.values<T>("x");
  auto d = c.values<T>("dout");
  const auto rows = heads_first(x.data(), shape[0], shape[1], shape[2], shape[3]);
  const auto d_rows = heads_first(d.data(), shape[0], shape[1], shape[2], shape[3]);
  for (const batch_index b : indices<batch_index>(shape[0])) {
    for (const head_index h : indices<head_index>(shape[1])) {
      for (const query_index i : indices<query_index>(shape[2])) {
        term.query(b, h, i, rows.row(b.value(), h.value(), i.value()));
        term.turn_back(b, h, i, d_rows.row(b.value(), h.value(), i.value()));
      }
    }
  }
  out.add("output", x);
  out.add("grad_x", d);
  return out;
}

template <class T>
outputs<T> gradients(const golden_case& c) {
  if (c.has("bias")) return of_bias<T>(c);
  if (c.has_input("rel_key_table")) return of_shaw<T>(c);
  if (c.has_input("distance_embedding.weight")) return of_bert<T>(c);
  if (c.has_input("rel_embeddings")) return of_deberta<T>(c);
  if (c.has_input("qkv_net.weight")) return of_transformer_xl<T>(c);
  return of_rotation<T>(c);
}

}  // namespace

mechanism gradient() { return {"gradient", gradients<double>, gradients<float>}; }

}  // namespace posgeo::golden
