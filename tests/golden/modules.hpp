// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/attend/eager.hpp>
#include <posgeo/call/decode_step.hpp>
#include <posgeo/call/padded_batch.hpp>
#include <posgeo/model/attention.hpp>

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "golden/golden_case.hpp"

namespace posgeo::golden {

/// Where the query rows of a call stand. Shapes: [batch * queries].
[[nodiscard]] inline std::vector<index_t> query_positions(const position_call& call) {
  std::vector<index_t> out;
  for (const batch_index b : indices<batch_index>(call.batch())) {
    for (const query_index i : indices<query_index>(call.queries())) out.push_back(call.at(b, i).value());
  }
  return out;
}

/// Refuses to go on unless the tokens of the call stand where the case says. Shapes: [batch * queries].
inline void require_positions(const position_call& call, const std::vector<index_t>& expected) {
  std::size_t n = 0;
  for (const batch_index b : indices<batch_index>(call.batch())) {
    for (const query_index i : indices<query_index>(call.queries())) {
      const index_t wanted = expected.at(n++);
      if (!call.active(b, i) || call.at(b, i).value() == wanted) continue;
      throw std::runtime_error(fmt::format("row {} of entry {} stands at {}, the case says {}", i.value(), b.value(),
                                           call.at(b, i).value(), wanted));
    }
  }
}

/// One storage row of a call that no other kind of call describes.
struct spelled_row {
  index_t position;
  index_t sequence;
  bool active;
};

/// A call of spelled-out rows. Shapes: [batch * queries] and [batch * keys].
[[nodiscard]] inline position_call spelled_call(index_t batch, const std::vector<spelled_row>& queries,
                                                const std::vector<spelled_row>& keys) {
  const auto space = [batch](const std::vector<spelled_row>& rows) {
    explicit_rows spelled;
    for (const spelled_row& row : rows) {
      spelled.positions.push_back(row.position);
      spelled.sequences.push_back(row.sequence);
      spelled.active.push_back(row.active ? 1 : 0);
    }
    return row_space{batch, static_cast<index_t>(rows.size()) / batch, std::move(spelled), {}, stream::shared};
  };
  return position_call{{.query = space(queries), .key = space(keys), .cache = {}}};
}

/// The plan's biases of batch entry b. Shapes: [heads * queries * keys].
template <class Plan>
[[nodiscard]] std::vector<typename Plan::scalar> biases(const Plan& plan, batch_index b = batch_index{0}) {
  std::vector<typename Plan::scalar> out;
  for (const head_index h : indices<head_index>(plan.layout().query)) {
    for (const query_index i : indices<query_index>(plan.call().queries())) {
      for (const key_index j : indices<key_index>(plan.call().keys())) out.push_back(plan.bias(b, h, i, j));
    }
  }
  return out;
}

/// Refuses to go on unless the plan shows exactly the pairs that the case allows. Shapes: [batch * queries * keys].
template <class Plan>
void require_visible(const Plan& plan, const std::vector<std::uint8_t>& allowed) {
  std::size_t n = 0;
  for (const batch_index b : indices<batch_index>(plan.call().batch())) {
    for (const query_index i : indices<query_index>(plan.call().queries())) {
      for (const key_index j : indices<key_index>(plan.call().keys())) {
        if (plan.visible(b, i, j) != (allowed.at(n++) != 0)) {
          throw std::runtime_error(
              fmt::format("the plan and the case's mask differ for query {} and key {} of entry {}", i.value(),
                          j.value(), b.value()));
        }
      }
    }
  }
}

/// y = x W^T + b. Shapes: x [rows, in], weight [out, in], bias [out] or empty; y [rows, out].
template <class T>
[[nodiscard]] std::vector<T> linear(std::span<const T> x, std::span<const T> weight, std::span<const T> bias,
                                    index_t in) {
  const auto width = static_cast<std::size_t>(in);
  std::vector<T> y;
  for (std::size_t row = 0; row < x.size(); row += width) {
    for (std::size_t unit = 0; unit * width < weight.size(); ++unit) {
      T sum = bias.empty() ? T{0} : bias[unit];
      for (std::size_t d = 0; d < width; ++d) sum += x[row + d] * weight[unit * width + d];
      y.push_back(sum);
    }
  }
  return y;
}

/// Heads [batch, heads, rows, dim] as rows [batch, rows, heads * dim].
template <class T>
[[nodiscard]] std::vector<T> merged_heads(const tensor<T, 4>& heads) {
  std::vector<T> merged;
  for (index_t b = 0; b < heads.extent(0); ++b) {
    for (index_t row = 0; row < heads.extent(2); ++row) {
      for (index_t h = 0; h < heads.extent(1); ++h) {
        const auto from = heads.view().row(b, h, row);
        merged.insert(merged.end(), from.begin(), from.end());
      }
    }
  }
  return merged;
}

/// Rows [first, first + count) of every head.
template <class T>
[[nodiscard]] heads_view<T> rows_from(const heads_view<T>& all, index_t first, index_t count) {
  return {all.row(0, 0, first).data(), {all.extent(0), all.extent(1), count, all.extent(3)}, all.strides()};
}

/// A self-attention layer of a released model: its heads, its output projection and how the case runs it.
template <class T>
struct module {
  heads_view<const T> query;
  heads_view<const T> key;
  heads_view<const T> value;
  std::vector<T> output_weight;
  std::vector<T> output_bias = {};
  std::vector<std::uint8_t> active = {};  ///< [batch * length]; rows of padding are stored as 0
  index_t decode_steps = 0;

  [[nodiscard]] index_t batch() const { return query.extent(0); }
  [[nodiscard]] index_t length() const { return query.extent(2); }

  /// Heads [batch, heads, rows, dim] through the output projection: [batch, rows, width].
  [[nodiscard]] std::vector<T> project(const tensor<T, 4>& heads) const {
    return linear<T>(merged_heads(heads), output_weight, output_bias, heads.extent(1) * heads.extent(3));
  }

  /// The call of one decode step whose token is storage row `at`: left padding, then the tokens so far.
  [[nodiscard]] position_call step(index_t at) const {
    std::vector<call::decode_entry> entries;
    for (index_t b = 0; b < batch(); ++b) {
      index_t padding = 0;
      while (!active.empty() && active[static_cast<std::size_t>(b * length() + padding)] == 0) ++padding;
      const index_t committed = at - padding;
      entries.push_back({.committed_length = committed,
                         .query_position = committed,
                         .past_length = committed,
                         .padding = padding,
                         .sequence = b});
    }
    return call::decode_step({.entries = entries, .key_rows = at + 1});
  }
};

/// Runs the layer over the call, then its last rows once more as decode steps against the keys so far.
/// model_for(keys) makes the attention; last(plan) sees the plan of the last decode step.
template <class T, class ModelFor, class Last>
void run(const module<T>& layer, const position_call& call, const ModelFor& model_for, const std::string& weights,
         outputs<T>& out, const Last& last) {
  const auto plan = model_for(layer.length()).template compile<T>(call);
  const auto full = attend(eager{}, plan, {layer.query, layer.key, layer.value}, also::probabilities);
  out.add(weights, full.probabilities.values());
  std::vector<T> output = layer.project(full.output);
  const std::size_t width = output.size() / static_cast<std::size_t>(layer.batch() * layer.length());
  for (std::size_t row = 0; row < layer.active.size(); ++row) {
    if (layer.active[row] == 0) std::fill_n(output.begin() + static_cast<std::ptrdiff_t>(row * width), width, T{0});
  }
  out.add("output", output);
  if (layer.decode_steps == 0) return;

  std::vector<T> decoded(static_cast<std::size_t>(layer.batch() * layer.decode_steps) * width);
  for (index_t step = 0; step < layer.decode_steps; ++step) {
    const index_t at = layer.length() - layer.decode_steps + step;
    const auto step_plan = model_for(at + 1).template compile<T>(layer.step(at));
    const auto one =
        attend(eager{}, step_plan,
               {rows_from(layer.query, at, 1), rows_from(layer.key, 0, at + 1), rows_from(layer.value, 0, at + 1)});
    const std::vector<T> rows = layer.project(one.output);
    for (index_t b = 0; b < layer.batch(); ++b) {
      std::copy_n(rows.begin() + b * static_cast<index_t>(width), width,
                  decoded.begin() + (b * layer.decode_steps + step) * static_cast<index_t>(width));
    }
    if (step + 1 == layer.decode_steps) last(step_plan);
  }
  out.add("decode_output", decoded);
}

template <class T, class ModelFor>
void run(const module<T>& layer, const position_call& call, const ModelFor& model_for, const std::string& weights,
         outputs<T>& out) {
  run(layer, call, model_for, weights, out, [](const auto&) {});
}

}  // namespace posgeo::golden
