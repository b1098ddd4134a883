// SPDX-License-Identifier: MIT
#include <posgeo/call/explicit_positions.hpp>
#include <posgeo/encode/interpolated_grid.hpp>
#include <posgeo/encode/sinusoidal_grid.hpp>

#include "golden/mechanisms.hpp"

namespace posgeo::golden {
namespace {

using coordinate::grid;
using coordinate::traversal;
using encode::grid_sinusoid;
using encode::sinusoidal_grid;

template <class T>
outputs<T> produce_vit_interpolate(const golden_case& c) {
  const auto weights = c.values<T>("position_embeddings");
  const index_t side = c.integer("grid");
  const table<T> old(weights, 1 + side * side, c.integer("dim"));
  const auto targets = c.integers("target_grids");
  outputs<T> out;
  for (std::size_t n = 0; n < targets.size(); n += 2) {
    const auto add = [&](const char* version, encode::size_rule rule) {
      const auto resized = encode::interpolated_grid(old, {.from = {.rows = side, .columns = side},
                                                           .to = {.rows = targets[n], .columns = targets[n + 1]},
                                                           .class_rows = 1,
                                                           .kernel = encode::grid_kernel::bicubic,
                                                           .rule = rule});
      out.add(fmt::format("{}_{}x{}", version, targets[n], targets[n + 1]), resized.values());
    };
    add("current", encode::size_rule::exact_size);
    add("old", encode::size_rule::plus_a_tenth);
  }
  return out;
}

/// Adds the encoder to zeros of a whole grid.
template <class T, class Coordinates>
std::vector<T> grid_rows(const sinusoidal_grid& encoder, const position_call& call, const Coordinates& at) {
  std::vector<T> states(static_cast<std::size_t>(call.batch() * call.queries() * encoder.width()));
  encode::add_positions(encoder.at(at), call,
                        states_view<T>{states.data(), {call.batch(), call.queries(), encoder.width()}});
  return states;
}

/// MAE: a square grid with or without a class row.
template <class T>
std::vector<T> mae(const golden_case& c) {
  const index_t side = c.integer("grid_size");
  const grid patches(
      {.rows = side, .columns = side, .order = traversal::row_major, .class_rows = c.flag("cls_token") ? 1 : 0});
  const auto call = patches.call(1);
  return grid_rows<T>(sinusoidal_grid({.width = c.integer("embed_dim"), .layout = grid_sinusoid::mae}), call,
                      patches.cells_of(call.query_space()));
}

/// MAE: points that the case gives.
template <class T>
std::vector<T> mae_points(const golden_case& c) {
  const grid patches({.rows = c.integer("height"), .columns = c.integer("width"), .order = traversal::row_major});
  const auto call = patches.call(1);
  const auto x = c.values<double>("grid_x");
  const auto y = c.values<double>("grid_y");
  std::vector<encode::grid_point> points;
  for (std::size_t n = 0; n < x.size(); ++n) points.push_back({.row = y[n], .column = x[n]});
  return grid_rows<T>(sinusoidal_grid({.width = c.integer("embed_dim"), .layout = grid_sinusoid::mae}), call,
                      row_column(row_identity::of(call.query_space()), points));
}

template <class T>
std::vector<T> tensor2tensor_grid(const golden_case& c) {
  const auto shape = c.integers("shape");
  const grid patches({.rows = shape[1], .columns = shape[2], .order = traversal::row_major});
  const auto call = patches.call(shape[0]);
  return grid_rows<T>(sinusoidal_grid({.width = shape[3], .layout = grid_sinusoid::tensor2tensor}), call,
                      patches.cells_of(call.query_space()));
}

/// DETR: a mask of valid cells; its output has the width before the cells.
template <class T>
std::vector<T> detr(const golden_case& c) {
  const auto& shape = c.shape("mask");
  const auto valid = c.values<std::uint8_t>("mask");
  const grid patches({.rows = shape[1], .columns = shape[2], .order = traversal::row_major});
  const auto call = patches.call(shape[0]);
  const auto scaling = c.flag("normalize") ? encode::count_scaling::full_turn : encode::count_scaling::counts;
  const index_t width = 2 * c.integer("embedding_dim");
  const sinusoidal_grid encoder({.width = width, .layout = grid_sinusoid::detr, .base = c.number("temperature")});
  const auto last_is_width =
      grid_rows<T>(encoder, call,
                   encode::counted_points(patches, patches.cells_of(call.query_space()),
                                          {valid.data(), {shape[0], shape[1], shape[2]}}, scaling));
  const index_t cells = shape[1] * shape[2];
  std::vector<T> out;
  for (index_t b = 0; b < shape[0]; ++b) {
    for (index_t d = 0; d < width; ++d) {
      for (index_t n = 0; n < cells; ++n) {
        out.push_back(last_is_width[static_cast<std::size_t>((b * cells + n) * width + d)]);
      }
    }
  }
  return out;
}

template <class T>
outputs<T> produce_sincos2d(const golden_case& c) {
  outputs<T> out;
  if (c.has("grid_size")) {
    out.add("pos_embed", mae<T>(c));
  } else if (c.has_input("grid_x")) {
    out.add("pos_embed", mae_points<T>(c));
  } else if (c.has("shape")) {
    out.add("signal", tensor2tensor_grid<T>(c));
  } else if (c.has("temperature")) {
    out.add("pos", detr<T>(c));
  } else {
    throw std::runtime_error("unknown variant of sinusoids on a grid");
  }
  return out;
}

}  // namespace

mechanism vit_interpolate() {
  return {"vit_interpolate", produce_vit_interpolate<double>, produce_vit_interpolate<float>};
}
mechanism sincos2d() { return {"sincos2d", produce_sincos2d<double>, produce_sincos2d<float>}; }

}  // namespace posgeo::golden
