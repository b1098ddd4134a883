// SPDX-License-Identifier: MIT
#include <posgeo/bias/tupe_relative.hpp>
#include <posgeo/content/projected_rows.hpp>
#include <posgeo/content/tupe.hpp>
#include <posgeo/scale/inverse_sqrt_terms.hpp>
#include <posgeo/visible/active.hpp>

#include <cmath>
#include <numbers>

#include "golden/mechanisms.hpp"
#include "golden/modules.hpp"

namespace posgeo::golden {
namespace {

using coordinate::bucket_direction;
using coordinate::t5_bucket;

/// A stack of post-norm layers whose one position policy is projected once. States are [batch, rows, width] here and
/// [rows, batch, width] in the case.
template <class T>
class encoder {
 public:
  explicit encoder(const golden_case& c)
      : case_(c),
        width_(c.integer("embedding_dim")),
        batch_(c.shape("tokens")[0]),
        rows_(c.shape("tokens")[1]),
        layout_{.query = c.integer("num_heads"),
                .key_value = c.integer("num_heads"),
                .dim = width_ / c.integer("num_heads")} {
    for (const index_t token : c.values<index_t>("tokens")) tokens_.push_back(token != c.integer("padding_idx"));
  }

  outputs<T> run() const {
    const auto call = call::padded_batch(
        {.active = tokens_, .entries = batch_, .rows = rows_, .positions = call::padded_positions::contiguous()});
    const content::tupe<T> absolute({.queries = positions("pos_q_linear"), .keys = positions("pos_k_linear")},
                                    content::tupe_cls::released(position{0}));
    outputs<T> out;
    if (!case_.flag("rel_pos")) {
      run_with(call, absolute, out);
      return out;
    }
    const t5_bucket bucket({.num_buckets = case_.integer("rel_pos_bins"),
                            .max_distance = case_.integer("max_rel_pos"),
                            .direction = bucket_direction::bidirectional});
    const table<T> weights(case_.values<T>("relative_attention_bias.weight"), bucket.num_buckets() + 1, layout_.query);
    const bias::tupe_relative<T> relative(weights, bucket, {.cls = position{0}});
    const auto term = relative.template compile<T>(call, layout_);
    std::vector<index_t> read;
    for (const query_index i : indices<query_index>(rows_)) {
      for (const key_index j : indices<key_index>(rows_)) read.push_back(term.row(batch_index{0}, i, j));
    }
    out.add("rel_bucket", read);
    run_with(call, absolute, out, relative);
    return out;
  }

 private:
  using states = std::vector<T>;

  /// The position table, normalised and through a projection.
  [[nodiscard]] head_tables<T> positions(const std::string& name) const {
    const table<T> rows(case_.values<T>("pos.weight"), case_.shape("pos.weight")[0], width_);
    const auto gain = case_.values<T>("pos_ln.weight");
    const auto shift = case_.values<T>("pos_ln.bias");
    const auto normal = content::normalized_rows<T>(rows, {.gain = gain, .bias = shift, .epsilon = epsilon()});
    const auto bias = case_.values<T>(name + ".bias");
    return head_tables<T>::by_column(
        content::projected_rows<T>(normal,
                                   {.weight = {case_.values<T>(name + ".weight"), width_, width_}, .bias = bias}),
        layout_.query);
  }

  template <class... Relative>
  void run_with(const position_call& call, const content::tupe<T>& absolute, outputs<T>& out,
                const Relative&... relative) const {
    const attention model{layout_, scale::inverse_sqrt_terms{}, visible::active{}, absolute, relative...};
    const auto plan = model.template compile<T>(call);
    out.add("attn_bias", total_bias(plan));

    states x = embeddings();
    out.add("state_0", rows_major(x));
    for (index_t n = 0; n < case_.integer("num_layers"); ++n) {
      x = layer(fmt::format("layers.{}.", n), plan, x);
      out.add(fmt::format("state_{}", n + 1), rows_major(x));
    }
  }

  /// What positions add to the scaled scores; entry 0 has no padding. Shapes: [heads, rows, rows].
  template <class Plan>
  [[nodiscard]] states total_bias(const Plan& plan) const {
    states out;
    const states none(static_cast<std::size_t>(layout_.dim));
    const batch_index b{0};
    for (const head_index h : indices<head_index>(layout_.query)) {
      for (const query_index i : indices<query_index>(rows_)) {
        for (const key_index j : indices<key_index>(rows_)) {
          if (!plan.call().active(b, j)) throw std::runtime_error("entry 0 has padding");
          T sum = plan.scale() * plan.content(b, h, i, j, none, none);
          if constexpr (Plan::has_biases) sum += plan.bias(b, h, i, j);
          out.push_back(sum);
        }
      }
    }
    return out;
  }

  [[nodiscard]] states embeddings() const {
    const auto words = case_.values<T>("embed_tokens.weight");
    states x;
    for (const index_t token : case_.values<index_t>("tokens")) {
      x.insert(x.end(), words.begin() + token * width_, words.begin() + (token + 1) * width_);
    }
    x = normalized(x, "emb_layer_norm");
    for (std::size_t n = 0; n < x.size(); ++n) {
      if (tokens_[n / static_cast<std::size_t>(width_)] == 0) x[n] = T{0};
    }
    return x;
  }

  template <class Plan>
  [[nodiscard]] states layer(const std::string& name, const Plan& plan, const states& x) const {
    const auto packed = through(x, name + "self_attn.in_proj_", width_);
    const auto part = [&](index_t n) {
      return heads_view<const T>(packed.data() + n * width_, {batch_, layout_.query, rows_, layout_.dim},
                                 {rows_ * 3 * width_, layout_.dim, 3 * width_});
    };
    const auto attended = attend(eager{}, plan, {part(0), part(1), part(2)});
    states merged(x.size());
    const auto to = rows_first(merged.data(), batch_, rows_, layout_.query, layout_.dim);
    for (index_t b = 0; b < batch_; ++b) {
      for (index_t h = 0; h < layout_.query; ++h) {
        for (index_t row = 0; row < rows_; ++row) {
          const auto from = attended.output.view().row(b, h, row);
          std::copy(from.begin(), from.end(), to.row(b, h, row).begin());
        }
      }
    }
    const states y =
        normalized(sum(x, through(merged, name + "self_attn.out_proj.", width_)), name + "self_attn_layer_norm");
    states inner = through(y, name + "fc1.", width_);
    for (T& value : inner) value *= T{0.5} * (T{1} + std::erf(value / std::numbers::sqrt2_v<T>));
    const index_t inner_width = case_.shape(name + "fc1.weight")[0];
    return normalized(sum(y, through(inner, name + "fc2.", inner_width)), name + "final_layer_norm");
  }

  [[nodiscard]] states through(const states& x, const std::string& name, index_t in) const {
    return linear<T>(x, case_.values<T>(name + "weight"), case_.values<T>(name + "bias"), in);
  }
  [[nodiscard]] static states sum(states a, const states& b) {
    for (std::size_t n = 0; n < a.size(); ++n) a[n] += b[n];
    return a;
  }
  [[nodiscard]] states normalized(const states& x, const std::string& name) const {
    const auto gain = case_.values<T>(name + ".weight");
    const auto shift = case_.values<T>(name + ".bias");
    const table<T> out = content::normalized_rows<T>(table<T>(x, batch_ * rows_, width_),
                                                     {.gain = gain, .bias = shift, .epsilon = epsilon()});
    return {out.values().begin(), out.values().end()};
  }
  [[nodiscard]] states rows_major(const states& x) const {
    states out;
    for (index_t row = 0; row < rows_; ++row) {
      for (index_t b = 0; b < batch_; ++b) {
        const auto from = x.begin() + (b * rows_ + row) * width_;
        out.insert(out.end(), from, from + width_);
      }
    }
    return out;
  }
  [[nodiscard]] double epsilon() const { return case_.number("layer_norm_eps"); }

  const golden_case& case_;
  index_t width_;
  index_t batch_;
  index_t rows_;
  heads layout_;
  std::vector<std::uint8_t> tokens_;
};

template <class T>
outputs<T> produce(const golden_case& c) {
  return encoder<T>(c).run();
}

}  // namespace

mechanism tupe() { return {"tupe", produce<double>, produce<float>}; }

}  // namespace posgeo::golden
