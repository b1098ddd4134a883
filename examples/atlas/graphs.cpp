// SPDX-License-Identifier: MIT
#include <posgeo/bias/edge_path.hpp>
#include <posgeo/bias/spatial.hpp>
#include <posgeo/call/padded_batch.hpp>
#include <posgeo/scale/inverse_sqrt_head_dim.hpp>
#include <posgeo/visible/active.hpp>
#include <posgeo/visible/all_of.hpp>
#include <posgeo/visible/within_hops.hpp>

#include <array>

#include "family.hpp"
#include "numbers.hpp"
#include "sections.hpp"

namespace posgeo::atlas {

void add_graph_biases(html::page& page) {
  // A ring of five with a tail of two.
  const std::vector<coordinate::graph_edge> edges{{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 0}, {2, 5}, {5, 6}};
  const std::vector<index_t> attributes{1, 2, 1, 3, 2, 1, 3};
  const coordinate::graph_rows rows({coordinate::graph::directed(7, edges, attributes)},
                                    coordinate::graph_token::none());
  std::vector<double> features = some_numbers(24, 1.0, 11);
  std::fill_n(features.begin(), 4, 0.0);  // the row of padding
  const std::array<index_t, 1> length{7};
  add_family(
      page,
      {.title = "Graphormer",
       .words =
           "A learned number for each head and shortest-path distance, and one for the edges on the path. A ring of "
           "five nodes with a tail of two. Positions are the numbers of the nodes: names that no edit may move, so "
           "most interventions are refused.",
       .of = {.layout = {.query = 2, .key_value = 2, .dim = 4},
              .scale = scale::inverse_sqrt_head_dim{},
              .visible = visible::all_of(
                  visible::active{},
                  visible::within_hops(rows, {.most = 4, .unreachable = visible::unreachable_pairs::seen})),
              .bias = bias::spatial<double>(waves(10, 2, 1.0), coordinate::distance_id(9), rows),
              .second_bias = bias::edge_path<double>(
                  table<double>(features, 6, 4), some_table(12, 2, 0.5, 12), rows,
                  {.rows = {.first = 1, .stride = 5}, .hops = 3, .longer = bias::longer_paths::cut})},
       .call = call::padded_batch({.lengths = length,
                                   .rows = 8,
                                   .side = call::padding_side::right,
                                   .positions = call::padded_positions::contiguous()}),
       .rows_hold = held::zeros});
}

}  // namespace posgeo::atlas
