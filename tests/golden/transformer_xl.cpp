// SPDX-License-Identifier: MIT
#include <posgeo/call/prefill_chunk.hpp>
#include <posgeo/call/segment_memory.hpp>
#include <posgeo/content/transformer_xl.hpp>
#include <posgeo/coordinate/relative_shift.hpp>
#include <posgeo/scale/inverse_sqrt_head_dim.hpp>
#include <posgeo/visible/causal.hpp>

#include <cmath>

#include "golden/mechanisms.hpp"
#include "golden/modules.hpp"
#include "support/pad_and_reshape.hpp"

namespace posgeo::golden {
namespace {

using coordinate::shift_alignment;

/// Time-major [rows, batch, width] as [batch, rows, width], or the other way with the extents exchanged.
template <class T>
tensor<T, 3> exchanged(const std::vector<T>& values, index_t first, index_t second, index_t width) {
  tensor<T, 3> out({second, first, width});
  for (index_t a = 0; a < first; ++a) {
    for (index_t b = 0; b < second; ++b) {
      for (index_t d = 0; d < width; ++d) out(b, a, d) = values[static_cast<std::size_t>((a * second + b) * width + d)];
    }
  }
  return out;
}
template <class T>
std::vector<T> list(const tensor<T, 3>& values) {
  return {values.values().begin(), values.values().end()};
}
template <class T>
std::vector<T> time_major(const tensor<T, 3>& values) {
  return list(exchanged(list(values), values.extent(0), values.extent(1), values.extent(2)));
}

template <class T>
std::vector<T> layer_norm(std::vector<T> x, const std::vector<T>& weight, const std::vector<T>& bias) {
  const std::size_t width = weight.size();
  for (std::size_t row = 0; row < x.size(); row += width) {
    T mean{0};
    for (std::size_t d = 0; d < width; ++d) mean += x[row + d] / static_cast<T>(width);
    T variance{0};
    for (std::size_t d = 0; d < width; ++d)
      variance += (x[row + d] - mean) * (x[row + d] - mean) / static_cast<T>(width);
    for (std::size_t d = 0; d < width; ++d) {
      x[row + d] = (x[row + d] - mean) / std::sqrt(variance + static_cast<T>(1e-5)) * weight[d] + bias[d];
    }
  }
  return x;
}

template <class T>
std::vector<T> sum(std::vector<T> a, const std::vector<T>& b) {
  for (std::size_t n = 0; n < a.size(); ++n) a[n] += b[n];
  return a;
}

enum class norm_place { before, after };

/// RelPartialLearnableMultiHeadAttn with the parameters `prefix` names.
template <class T>
struct relative_layer {
  const golden_case& c;
  std::string prefix;
  heads layout;
  index_t width;
  norm_place norm;

  [[nodiscard]] std::vector<T> at(const std::string& name) const { return c.values<T>(prefix + name); }
  [[nodiscard]] content::projected_sinusoids<T> sinusoids() const {
    return {table<T>(at("r_net.weight"), layout.query * layout.dim, width),
            {.reach = content::distance_reach::back_only, .clamp = content::clamp_len::unlimited()}};
  }
  [[nodiscard]] auto model() const {
    const auto bias = [&](const char* name) { return table<T>(c.values<T>(name), layout.query, layout.dim); };
    return attention{
        layout, scale::inverse_sqrt_head_dim{}, visible::causal{},
        content::transformer_xl<T>({.content = bias("r_w_bias"), .position = bias("r_r_bias")}, sinusoids())};
  }
  [[nodiscard]] std::vector<T> normalised(const std::vector<T>& x) const {
    return layer_norm(x, at("layer_norm.weight"), at("layer_norm.bias"));
  }

  /// [memory; segment] states in, the segment's rows out; see(plan, probabilities) sees the attention.
  template <class See>
  [[nodiscard]] tensor<T, 3> operator()(const tensor<T, 3>& states, const position_call& call, const See& see) const {
    const index_t batch = states.extent(0);
    const index_t rows = states.extent(1);
    const index_t inner = layout.query * layout.dim;
    const auto input = norm == norm_place::before ? normalised(list(states)) : list(states);
    const auto qkv_rows = linear<T>(input, at("qkv_net.weight"), {}, width);
    const auto part = [&](index_t n) {
      return heads_view<const T>(qkv_rows.data() + n * inner, {batch, layout.query, rows, layout.dim},
                                 {rows * 3 * inner, layout.dim, 3 * inner});
    };
    const index_t queries = call.queries();
    const auto plan = model().template compile<T>(call);
    const auto result =
        attend(eager{}, plan, {rows_from(part(0), rows - queries, queries), part(1), part(2)}, also::probabilities);
    see(plan, result.probabilities);
    std::vector<T> residual;
    for (index_t b = 0; b < batch; ++b) {
      for (index_t row = rows - queries; row < rows; ++row) {
        const auto from = states.view().row(b, row);
        residual.insert(residual.end(), from.begin(), from.end());
      }
    }
    auto sums = sum(residual, linear<T>(merged_heads(result.output), at("o_net.weight"), {}, inner));
    if (norm == norm_place::after) sums = normalised(sums);
    tensor<T, 3> out({batch, queries, width});
    std::copy(sums.begin(), sums.end(), out.values().begin());
    return out;
  }
};

std::vector<index_t> counted_streams(index_t batch) {
  std::vector<index_t> streams;
  for (index_t b = 0; b < batch; ++b) streams.push_back(b);
  return streams;
}

template <class T>
call::segment_memory<T> empty_memory(index_t layer, index_t capacity, const std::vector<index_t>& streams) {
  return {{.layer = layer, .capacity = capacity, .first_position = 0, .gradient = call::memory_gradient::detached},
          streams};
}

/// One attention layer over a memory of earlier states.
template <class T>
outputs<T> attention_layer(const golden_case& c) {
  outputs<T> out;
  const index_t batch = c.integer("batch");
  const index_t queries = c.integer("q_len");
  const index_t stored = c.integer("mem_len");
  const index_t width = c.integer("d_model");
  const relative_layer<T> layer{
      c,
      "",
      {.query = c.integer("n_head"), .key_value = c.integer("n_head"), .dim = c.integer("d_head")},
      width,
      c.flag("pre_lnorm") ? norm_place::before : norm_place::after};

  std::vector<T> rows;  // descending distances, as the release feeds them to r_net
  for (index_t distance = stored + queries - 1; distance >= 0; --distance) {
    const auto first = static_cast<std::ptrdiff_t>(rows.size());
    rows.resize(rows.size() + static_cast<std::size_t>(width));
    layer.sinusoids().for_each_column(
        distance, [&](index_t column, double value) { rows.begin()[first + column] = static_cast<T>(value); });
  }
  out.add("r", rows);

  const auto streams = counted_streams(batch);
  auto memory = empty_memory<T>(0, stored, streams);
  const auto segment = [&](index_t first, const tensor<T, 3>& states) {
    return call::segment<T>{.layer = 0, .first_position = first, .streams = streams, .states = states.view()};
  };
  if (stored > 0) {
    const auto earlier = exchanged(c.values<T>("mems"), stored, batch, width);
    memory = memory.updated(segment(0, earlier));
  }
  const auto current = exchanged(c.values<T>("w"), queries, batch, width);
  const auto extended = memory.extended(segment(stored, current));
  const auto result = layer(extended.states, extended.call, [&](const auto& plan, const tensor<T, 4>& probabilities) {
    std::vector<std::uint8_t> allowed;
    for (index_t b = 0; b < batch; ++b) {
      for (const T masked : c.values<T>("mask")) allowed.push_back(masked == T{0});
    }
    require_visible(plan, allowed);
    std::vector<T> by_pair;
    for (index_t i = 0; i < queries; ++i) {
      for (index_t j = 0; j < stored + queries; ++j) {
        for (index_t b = 0; b < batch; ++b) {
          for (index_t h = 0; h < layer.layout.query; ++h) by_pair.push_back(probabilities(b, h, i, j));
        }
      }
    }
    out.add("attn_prob", by_pair);
  });
  out.add("output", time_major(result));
  return out;
}

/// Two segments of the whole model, with the memory of each layer's input between them.
template <class T>
outputs<T> two_segments(const golden_case& c) {
  outputs<T> out;
  const index_t batch = c.shape("tokens")[1];
  const index_t length = c.integer("tgt_len");
  const index_t width = c.integer("d_model");
  const index_t layers = c.integer("n_layer");
  const auto tokens = c.values<index_t>("tokens");
  const auto embedding = c.values<T>("word_emb.emb_layers.0.weight");
  const auto streams = counted_streams(batch);
  std::vector<call::segment_memory<T>> memories;
  for (index_t n = 0; n <= layers; ++n) memories.push_back(empty_memory<T>(n, c.integer("mem_len"), streams));

  for (index_t number = 0; number * length < c.shape("tokens")[0]; ++number) {
    std::vector<T> embedded;
    for (index_t n = 0; n < length * batch; ++n) {
      const index_t token = tokens[static_cast<std::size_t>(number * length * batch + n)];
      for (index_t d = 0; d < width; ++d) {
        embedded.push_back(embedding[static_cast<std::size_t>(token * width + d)] * std::sqrt(static_cast<T>(width)));
      }
    }
    auto hidden = exchanged(embedded, length, batch, width);
    for (index_t n = 0; n <= layers; ++n) {
      auto& memory = memories[static_cast<std::size_t>(n)];
      const call::segment<T> segment{
          .layer = n, .first_position = number * length, .streams = streams, .states = hidden.view()};
      const auto extended = memory.extended(segment);
      memory = memory.updated(segment);
      if (n == layers) break;
      const std::string prefix = "layers." + std::to_string(n) + ".";
      const relative_layer<T> layer{
          c,
          prefix + "dec_attn.",
          {.query = c.integer("n_head"), .key_value = c.integer("n_head"), .dim = c.integer("d_head")},
          width,
          norm_place::after};
      const auto attended = list(layer(extended.states, extended.call, [](const auto&, const auto&) {}));
      const auto at = [&](const std::string& name) { return c.values<T>(prefix + "pos_ff." + name); };
      auto inner = linear<T>(attended, at("CoreNet.0.weight"), at("CoreNet.0.bias"), width);
      for (T& value : inner) value = std::max(value, T{0});
      const auto sums =
          sum(attended, linear<T>(inner, at("CoreNet.3.weight"), at("CoreNet.3.bias"), c.integer("d_inner")));
      const auto normalised = layer_norm(sums, at("layer_norm.weight"), at("layer_norm.bias"));
      std::copy(normalised.begin(), normalised.end(), hidden.values().begin());
    }
    out.add("hidden_" + std::to_string(number), time_major(hidden));
  }
  for (index_t n = 0; n <= layers; ++n) {
    const auto kept = memories[static_cast<std::size_t>(n)].states();
    std::vector<T> rows;
    for (index_t row = 0; row < kept.extent(1); ++row) {
      for (index_t b = 0; b < batch; ++b) rows.insert(rows.end(), kept.row(b, row).begin(), kept.row(b, row).end());
    }
    out.add("mem_final_" + std::to_string(n), rows);
  }
  return out;
}

/// The shift up to the query is the library's; what the release leaves right of it belongs to other rows, and is made
/// the released way.
template <class T>
outputs<T> shifts(const golden_case& c) {
  outputs<T> out;
  const auto shapes = c.integers("shapes");
  for (std::size_t n = 0; n < shapes.size(); n += 2) {
    const index_t queries = shapes[n];
    const index_t keys = shapes[n + 1];
    const std::string name = std::to_string(queries) + "x" + std::to_string(keys);
    const index_t planes = c.shape("x_" + name)[2] * c.shape("x_" + name)[3];
    const auto x = c.values<T>("x_" + name);  // [queries, keys, batch, heads]
    std::vector<index_t> distances;
    for (index_t d = keys - 1; d >= 0; --d) distances.push_back(d);

    std::vector<T> shifted(x.size());
    std::vector<T> zeroed(x.size());
    for (index_t plane = 0; plane < planes; ++plane) {
      std::vector<T> matrix;
      for (index_t at = plane; at < static_cast<index_t>(x.size()); at += planes) {
        matrix.push_back(x[static_cast<std::size_t>(at)]);
      }
      const auto released = test::pad_and_reshape(matrix, queries, keys);
      const auto aligned =
          coordinate::relative_shift(heads_first<const T>(matrix.data(), 1, 1, queries, keys), distances,
                                     call::prefill_chunk(keys - queries, queries), shift_alignment::causal, T{0});
      for (index_t i = 0; i < queries; ++i) {
        for (index_t j = 0; j < keys; ++j) {
          const auto to = static_cast<std::size_t>((i * keys + j) * planes + plane);
          zeroed[to] = aligned(0, 0, i, j);
          shifted[to] =
              j <= i + keys - queries ? aligned(0, 0, i, j) : released[static_cast<std::size_t>(i * keys + j)];
        }
      }
    }
    out.add("shift_" + name, shifted);
    out.add("shift_zero_triu_" + name, zeroed);
  }
  return out;
}

template <class T>
outputs<T> segments(const golden_case& c) {
  if (c.has("shapes")) return shifts<T>(c);
  return c.has_input("tokens") ? two_segments<T>(c) : attention_layer<T>(c);
}

}  // namespace

mechanism transformer_xl() { return {"transformer_xl", segments<double>, segments<float>}; }

}  // namespace posgeo::golden
