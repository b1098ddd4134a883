// SPDX-License-Identifier: MIT
#include <posgeo/bias/learned_relative.hpp>
#include <posgeo/coordinate/window_index.hpp>
#include <posgeo/encode/interpolated_grid.hpp>

#include <set>

#include "cases/json_tensors.hpp"

namespace posgeo::cases {
namespace {

using coordinate::grid;
using coordinate::traversal;
using encode::grid_kernel;
using encode::size_rule;

/// The number of rows of a column of cells resized to each size, as posgeo gives it.
json grid_target_size(const json& in) {
  json sizes = json::array();
  for (const json& pair : in.at("src_to_dst")) {
    const index_t from = pair.at(0);
    const std::vector<double> zeros(static_cast<std::size_t>(from));
    const auto resized = encode::interpolated_grid(table<double>(zeros, from, 1),
                                                   {.from = {.rows = from, .columns = 1},
                                                    .to = {.rows = pair.at(1).get<index_t>(), .columns = 1},
                                                    .class_rows = 0,
                                                    .kernel = grid_kernel::bicubic,
                                                    .rule = size_rule::exact_size});
    sizes.push_back(resized.rows());
  }
  return {{"size", sizes}};
}

json grid_resize_bilinear(const json& in) {
  expect(in, "mode", "bilinear, half-pixel centres");
  const auto old = one_head(in.at("grid"));
  const index_t rows = in.at("target_height");
  const index_t columns = in.at("target_width");
  const auto resized = encode::interpolated_grid(table<double>(old.values(), old.extent(2) * old.extent(3), 1),
                                                 {.from = {.rows = old.extent(2), .columns = old.extent(3)},
                                                  .to = {.rows = rows, .columns = columns},
                                                  .class_rows = 0,
                                                  .kernel = grid_kernel::bilinear,
                                                  .rule = size_rule::exact_size});
  tensor<double, 2> grid({rows, columns});
  std::copy(resized.values().begin(), resized.values().end(), grid.values().begin());
  return {{"grid", nested(grid)}};
}

/// The table rows that a window of Swin reads, from the compiled bias.
json window_index_2d(const json& in) {
  expect(in, "token_order", "row-major");
  expect(in, "offset", "query - key");
  const grid window({.rows = in.at("window").at(0), .columns = in.at("window").at(1), .order = traversal::row_major});
  const coordinate::window_index index(window);
  const std::vector<double> zeros(static_cast<std::size_t>(index.classes()));
  const bias::learned_relative policy(table<double>(zeros, index.classes(), 1), index);
  const auto call = window.call(1);
  const auto term = policy.compile<double>(call, heads{});
  tensor<index_t, 2> rows({call.queries(), call.keys()});
  for (const query_index i : indices<query_index>(call.queries())) {
    for (const key_index j : indices<key_index>(call.keys())) {
      rows(i.value(), j.value()) = term.table_row(batch_index{0}, i, j);
    }
  }
  const std::set<index_t> distinct(rows.values().begin(), rows.values().end());
  return {{"index", nested(rows)}, {"table_rows", index.classes()}, {"distinct", distinct.size()}};
}

}  // namespace

operations grid_operations() {
  return {{"grid_target_size", grid_target_size},
          {"grid_resize_bilinear", grid_resize_bilinear},
          {"window_index_2d", window_index_2d}};
}

}  // namespace posgeo::cases
