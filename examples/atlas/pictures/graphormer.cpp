// SPDX-License-Identifier: MIT
#include <posgeo/bias/spatial.hpp>
#include <posgeo/call/padded_batch.hpp>
#include <posgeo/model/attention.hpp>
#include <posgeo/visible/active.hpp>
#include <posgeo/visible/within_hops.hpp>

#include <array>
#include <limits>

#include "pictures.hpp"

namespace posgeo::pictures {

/// A ring of five with a tail of two, and a pair apart, under a graph token; three hops are seen.
std::string graphormer() {
  constexpr index_t nodes = 9;
  const std::array<coordinate::graph_edge, 8> edges{{{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 0}, {2, 5}, {5, 6}, {7, 8}}};
  const coordinate::graph_rows rows({coordinate::graph::undirected(nodes, edges)}, coordinate::graph_token::at(-1));
  std::vector<double> by_id(512);
  for (std::size_t id = 1; id < 511; ++id) by_id[id] = 2.0 - 0.5 * static_cast<double>(id - 1);
  by_id[511] = -2.0;
  const std::vector<double> token{1.25};
  const bias::spatial distances(table<double>(by_id, 512, 1), coordinate::distance_id::graphormer(), rows,
                                table<double>(token, 1, 1));
  const visible::within_hops near(rows, {.most = 3, .unreachable = visible::unreachable_pairs::seen});
  const attention model(heads{}, scale::inverse_sqrt_head_dim{}, distances, visible::active{}, near);
  const std::array<index_t, 1> length{nodes + 1};
  const auto plan = model.compile<double>(call::padded_batch({.lengths = length,
                                                              .rows = nodes + 1,
                                                              .side = call::padding_side::right,
                                                              .positions = call::padded_positions::contiguous(-1)}));
  heatmap map{.title = "Graphormer: bias by shortest path (grey: hidden, beyond three hops)",
              .across = "key",
              .down = "query",
              .column_names = {},
              .row_names = {},
              .values = {},
              .numbers = true};
  for (index_t node = -1; node < nodes; ++node) {
    map.column_names.push_back(node < 0 ? "token" : fmt::format("{}", node));
    map.row_names.push_back(node < 0 ? "token" : fmt::format("node {}", node));
  }
  for (const query_index i : indices<query_index>(nodes + 1)) {
    for (const key_index j : indices<key_index>(nodes + 1)) {
      map.values.push_back(plan.visible(batch_index{0}, i, j) ? plan.bias(batch_index{0}, head_index{0}, i, j)
                                                              : std::numeric_limits<double>::quiet_NaN());
    }
  }
  return draw(map);
}

}  // namespace posgeo::pictures
