// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/coordinate/graph_rows.hpp>

#include <vector>

#include "support/random_calls.hpp"

namespace posgeo::test {

/// A random directed graph; attributes [edges, 2] below `attribute_values`.
[[nodiscard]] inline coordinate::graph random_graph(dice& roll, index_t nodes, double density,
                                                    index_t attribute_values = 4) {
  std::vector<coordinate::graph_edge> edges;
  std::vector<index_t> attributes;
  for (index_t from = 0; from < nodes; ++from) {
    for (index_t to = 0; to < nodes; ++to) {
      if (from == to || !roll.chance(density)) continue;
      edges.push_back({from, to});
      for (int f = 0; f < 2; ++f) attributes.push_back(roll.between(0, attribute_values - 1));
    }
  }
  return coordinate::graph::directed(nodes, edges, attributes);
}

/// A random order of 0 .. count - 1.
[[nodiscard]] inline std::vector<index_t> random_order(dice& roll, index_t count) {
  std::vector<index_t> order;
  for (index_t n = 0; n < count; ++n) order.insert(order.begin() + roll.between(0, n), n);
  return order;
}

}  // namespace posgeo::test
