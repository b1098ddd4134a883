// SPDX-License-Identifier: MIT
#include <posgeo/encode/sinusoidal_grid.hpp>

#include <cmath>

#include "pictures.hpp"

namespace posgeo::pictures {

std::string grid() {
  constexpr index_t width = 32;
  const coordinate::grid patches({.rows = 7, .columns = 11, .order = coordinate::traversal::row_major});
  const auto call = patches.call(1);
  const encode::sinusoidal_grid encoder({.width = width, .layout = encode::grid_sinusoid::mae});
  tensor<double, 3> states({1, patches.positions(), width});
  encode::add_positions(encoder.at(patches.cells_of(call.query_space())), call, states.view());

  heatmap map{.title = "sinusoids of a grid: distance of every patch from the patch (2, 7)",
              .across = "column",
              .down = "row",
              .column_names = {},
              .row_names = {},
              .values = {}};
  const index_t chosen = patches.position_of(coordinate::cell{2, 7}).value();
  for (index_t c = 0; c < patches.columns(); ++c) map.column_names.push_back(fmt::format("{}", c));
  for (index_t r = 0; r < patches.rows(); ++r) {
    map.row_names.push_back(fmt::format("{}", r));
    for (index_t c = 0; c < patches.columns(); ++c) {
      const index_t other = patches.position_of(coordinate::cell{r, c}).value();
      double squares = 0.0;
      for (index_t d = 0; d < width; ++d) squares += std::pow(states(0, chosen, d) - states(0, other, d), 2);
      map.values.push_back(std::sqrt(squares));
    }
  }
  return draw(map);
}

}  // namespace posgeo::pictures
