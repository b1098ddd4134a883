// SPDX-License-Identifier: MIT
// Biases by pair of rows: the caller's own tensor, whole or broadcast over heads, and a graph's distances.
#include <posgeo/bias/pair.hpp>
#include <posgeo/bias/spatial.hpp>

#include "families/families.hpp"

namespace posgeo::bench {

namespace {

/// A bias tensor [1, heads, queries, keys] that the model keeps.
auto pair_model(const request& r, index_t heads) {
  const auto values = std::make_shared<const tensor<float, 4>>(random_tensor<float>({1, heads, r.queries, r.keys}));
  auto out = model_of(r, bias::pair<float>{values->view()});
  out.memory = values;
  return out;
}

/// A ring of nodes with random chords: row p is node p of the graph.
auto spatial_model(const request& r) {
  constexpr index_t most = 2048;  // the paths between all nodes are held
  const index_t nodes = position_end(r);
  if (nodes > most) throw std::length_error(fmt::format("spatial: {} nodes, at most {}", nodes, most));
  std::mt19937_64 engine(5);
  std::uniform_int_distribution<index_t> any(0, nodes - 1);
  std::vector<coordinate::graph_edge> edges;
  for (index_t node = 0; node < nodes; ++node) {
    edges.push_back({node, (node + 1) % nodes});
    const index_t chord = any(engine);
    if (chord != node && chord != (node + 1) % nodes) edges.push_back({node, chord});
  }
  const coordinate::graph_rows graphs({coordinate::graph::directed(nodes, edges)}, coordinate::graph_token::none());
  return model_of(
      r, bias::spatial<float>{random_table(512, r.layout.query), coordinate::distance_id::graphormer(), graphs});
}

}  // namespace

std::vector<family> pair_families() {
  const auto whole = [](const request& r) { return pair_model(r, r.layout.query); };
  const auto broadcast = [](const request& r) { return pair_model(r, 1); };
  return {
      family_of<float>("pair", whole),
      family_of<float>("pair_broadcast", broadcast),
      family_of<float>("spatial", &spatial_model),
  };
}

}  // namespace posgeo::bench
