// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/attend/eager.hpp>
#include <posgeo/call/explicit_positions.hpp>

#include <cmath>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "text.hpp"

namespace tour {

using posgeo::index_t;

/// Hidden states. Shapes: [1, rows, width].
using states = posgeo::tensor<double, 3>;

inline constexpr posgeo::heads layout{.query = 2, .key_value = 2, .dim = 8};
inline constexpr index_t width = layout.query * layout.dim;

/// Numbers near a standard normal distribution, the same on every platform: splitmix64, twelve uniforms, no libm.
class random_numbers {
 public:
  explicit random_numbers(std::uint64_t seed) : state_(seed) {}
  [[nodiscard]] double next() {
    double sum = -6.0;
    for (int n = 0; n < 12; ++n) sum += static_cast<double>(bits() >> 11) * 0x1p-53;
    return sum;
  }
  [[nodiscard]] std::vector<double> take(index_t count) {
    std::vector<double> out(static_cast<std::size_t>(count));
    for (double& value : out) value = next();
    return out;
  }

 private:
  std::uint64_t bits() {
    state_ += 0x9E3779B97F4A7C15U;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
    return z ^ (z >> 31);
  }
  std::uint64_t state_;
};

/// FNV-1a.
[[nodiscard]] inline std::uint64_t hash(std::string_view word) {
  std::uint64_t h = 0xCBF29CE484222325U;
  for (const char c : word) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001B3U;
  return h;
}

/// Seeds of everything fixed that is not a word.
enum class seed : std::uint64_t { end_mark = 1, query, key, value, learned_table, bucket_table };
[[nodiscard]] inline random_numbers numbers(seed s) { return random_numbers{static_cast<std::uint64_t>(s)}; }

/// Rows and where they stand. The last row is the end mark, the reader whose attention the tour watches.
struct scene {
  states content;
  std::vector<index_t> positions;

  [[nodiscard]] index_t rows() const { return content.extent(1); }
  [[nodiscard]] index_t end_mark() const { return rows() - 1; }
  [[nodiscard]] posgeo::position_call call() const {
    const posgeo::call::explicit_side side{.positions = positions, .rows = rows()};
    return posgeo::call::explicit_positions({.query = side, .key = side});
  }
};

/// Each word a vector of its own, equal words equal vectors; positions 0, 1, 2, ...; the end mark behind them.
[[nodiscard]] inline scene embed(const words& text) {
  const auto count = static_cast<index_t>(text.size());
  scene out{states({1, count + 1, width}), {}};
  for (index_t row = 0; row <= count; ++row) {
    random_numbers source =
        row < count ? random_numbers(hash(text[static_cast<std::size_t>(row)])) : numbers(seed::end_mark);
    for (double& value : out.content.view().row(0, row)) value = source.next();
    out.positions.push_back(row);
  }
  return out;
}

/// Everything stands so much later.
[[nodiscard]] inline scene shifted(scene s, index_t by) {
  for (index_t& at : s.positions) at += by;
  return s;
}
/// The end mark alone stands so much later.
[[nodiscard]] inline scene with_gap(scene s, index_t by) {
  s.positions.back() += by;
  return s;
}
/// The words change places; the places and the end mark stay.
[[nodiscard]] inline scene reordered(const scene& s, const word_order& order) {
  scene out = s;
  for (std::size_t row = 0; row < order.size(); ++row) {
    const auto from = s.content.view().row(0, order[row]);
    std::copy(from.begin(), from.end(), out.content.view().row(0, row).begin());
  }
  return out;
}

/// What one layer did. Shapes: query and key as states; the attention's own tensors as in posgeo::attend.
struct layer_run {
  states input;
  states query;  ///< as it meets the keys: behind the transform
  states key;    ///< as it meets the queries
  states output;
  posgeo::tensor<double, 3> log_sum_exp;
  posgeo::tensor<double, 4> scores;
  posgeo::tensor<double, 4> weights;
  std::vector<index_t> visible_keys;  ///< of each row
};

/// states times a fixed random matrix.
[[nodiscard]] inline states project(const states& x, seed which) {
  const std::vector<double> matrix = numbers(which).take(width * width);
  const double scale = 1.0 / std::sqrt(static_cast<double>(width));
  states out(x.extents());
  for (index_t row = 0; row < x.extent(1); ++row) {
    for (index_t to = 0; to < width; ++to) {
      for (index_t from = 0; from < width; ++from) {
        out(0, row, to) += x(0, row, from) * matrix[static_cast<std::size_t>(from * width + to)] * scale;
      }
    }
  }
  return out;
}

/// Projects, attends and keeps everything. The heads lie side by side in a state, and are read there without a copy.
template <class Attention>
[[nodiscard]] layer_run run_layer(const Attention& model, const states& x, const posgeo::position_call& call) {
  const auto plan = model.template compile<double>(call);
  const index_t n = call.queries();
  layer_run run{.input = x,
                .query = project(x, seed::query),
                .key = project(x, seed::key),
                .output = states({1, n, width}),
                .log_sum_exp = posgeo::tensor<double, 3>({1, layout.query, n}),
                .scores = posgeo::tensor<double, 4>({1, layout.query, n, n}),
                .weights = posgeo::tensor<double, 4>({1, layout.query, n, n}),
                .visible_keys = {}};
  const states value = project(x, seed::value);

  const auto as_heads = [n](auto& rows) {
    return posgeo::rows_first(rows.values().data(), 1, n, layout.query, layout.dim);
  };
  posgeo::attend(posgeo::eager{}, plan, {as_heads(run.query), as_heads(run.key), as_heads(value)},
                 {as_heads(run.output), run.log_sum_exp.view(), run.scores.view(), run.weights.view()});

  const posgeo::batch_index b{0};
  for (const auto h : posgeo::indices<posgeo::head_index>(layout.query)) {
    for (index_t row = 0; row < n; ++row) {
      plan.transform_query(b, h, posgeo::query_index{row}, as_heads(run.query).row(0, h.value(), row));
      plan.transform_key(b, h, posgeo::key_index{row}, as_heads(run.key).row(0, h.value(), row));
    }
  }
  for (const auto i : posgeo::indices<posgeo::query_index>(n)) {
    index_t count = 0;
    for (const auto j : posgeo::indices<posgeo::key_index>(n)) count += plan.visible(b, i, j) ? 1 : 0;
    run.visible_keys.push_back(count);
  }
  return run;
}

/// One way to tell a Transformer where its words are.
struct mechanism {
  std::string name;
  std::vector<std::string> explanations;  ///< one for each layer that the intervention table shows
  std::function<void(const posgeo::position_call&, states&)> encode;
  std::function<layer_run(const states&, const posgeo::position_call&)> attend;
};

/// The seven mechanisms by name.
struct cast {
  mechanism nope;
  mechanism nope_causal;
  mechanism sinusoidal;
  mechanism learned;
  mechanism alibi;
  mechanism t5;
  mechanism rotary;
  std::vector<double> alibi_slopes;

  [[nodiscard]] std::vector<mechanism> all() const {
    return {nope, nope_causal, sinusoidal, learned, alibi, t5, rotary};
  }
};

/// Layers over a scene: positions join the states once, and every layer adds its output to them.
[[nodiscard]] inline std::vector<layer_run> run(const mechanism& m, const scene& s, std::size_t depth) {
  const posgeo::position_call call = s.call();
  states x = s.content;
  m.encode(call, x);
  std::vector<layer_run> layers;
  while (layers.size() < depth) {
    layers.push_back(m.attend(x, call));
    for (std::size_t k = 0; k < x.values().size(); ++k) x.values()[k] += layers.back().output.values()[k];
  }
  return layers;
}

}  // namespace tour
