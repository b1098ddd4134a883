// SPDX-License-Identifier: MIT
#include <posgeo/attend/eager.hpp>
#include <posgeo/call/explicit_positions.hpp>
#include <posgeo/frequency/geometric.hpp>
#include <posgeo/model/attention.hpp>
#include <posgeo/scale/constant.hpp>
#include <posgeo/transform/multi_axis_rotary.hpp>
#include <posgeo/visible/everything.hpp>

#include "pictures.hpp"

namespace posgeo::pictures {

/// The scores of one query cell with every cell of a grid. All rows are alike, so position alone makes the difference.
std::string multi_axis() {
  using place = coordinate::axis_positions<2>;
  constexpr index_t rows = 9;
  constexpr index_t columns = 15;
  constexpr place query_cell{3, 9};
  constexpr index_t dim = 32;

  const coordinate::multi_axis_layout grid{coordinate::cell_grid{.frames = {0}, .rows = rows, .columns = columns}};
  heatmap map;
  map.title = "Equal rows in a grid: the score with the cell in row 3, column 9";
  map.across = "column";
  map.down = "row";
  std::vector<index_t> tokens;
  std::vector<place> cells;
  for (index_t n = 0; n < grid.prompt_tokens(); ++n) {
    tokens.push_back(n);
    cells.push_back({grid.at(n)[1], grid.at(n)[2]});
  }
  const std::vector<index_t> query{query_cell[0] * columns + query_cell[1]};
  const auto call = call::explicit_positions(
      {.query = {.positions = query, .rows = 1}, .key = {.positions = tokens, .rows = grid.prompt_tokens()}});
  const transform::multi_axis_rotary<2> turn(frequency::geometric({.base = 100.0, .rotary_dim = dim / 2}),
                                             transform::axis_sections<2>::own_parts(), transform::pairing::halves,
                                             {row_identity::of(call.query_space()), {query_cell}},
                                             {row_identity::of(call.key_space()), cells});
  const attention model{heads{.dim = dim}, scale::constant(1.0 / dim), turn, visible::everything{}};
  tensor<double, 4> q({1, 1, 1, dim});
  tensor<double, 4> k({1, 1, call.keys(), dim});
  std::fill(q.values().begin(), q.values().end(), 1.0);
  std::fill(k.values().begin(), k.values().end(), 1.0);
  const auto result = attend(eager{}, model.compile<double>(call), {q.view(), k.view(), k.view()}, also::scores);
  map.values.assign(result.scores.values().begin(), result.scores.values().end());
  for (index_t c = 0; c < columns; ++c) map.column_names.push_back(std::to_string(c));
  for (index_t r = 0; r < rows; ++r) map.row_names.push_back(std::to_string(r));
  return draw(map);
}

}  // namespace posgeo::pictures
