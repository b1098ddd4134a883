// SPDX-License-Identifier: MIT
#include <posgeo/bias/edge_path.hpp>
#include <posgeo/bias/spatial.hpp>
#include <posgeo/encode/degree.hpp>
#include <posgeo/scale/none.hpp>
#include <posgeo/visible/active.hpp>
#include <posgeo/visible/within_hops.hpp>

#include <limits>

#include "golden/mechanisms.hpp"
#include "golden/modules.hpp"

namespace posgeo::golden {
namespace {

using coordinate::distance_id;
using coordinate::edge_attribute_rows;
using coordinate::graph;
using coordinate::graph_rows;
using coordinate::graph_token;
using coordinate::node_attribute_rows;
using coordinate::shortest_paths;

/// How the release writes "no path".
constexpr index_t unreachable = 510;

std::string of_graph(std::size_t g, const char* tensor) { return fmt::format("g{}_{}", g, tensor); }

std::vector<graph> graphs_of(const golden_case& c) {
  std::vector<graph> graphs;
  for (std::size_t g = 0; c.has_input(of_graph(g, "edge_index")); ++g) {
    const auto ends = c.values<index_t>(of_graph(g, "edge_index"));
    std::vector<coordinate::graph_edge> edges;
    for (std::size_t e = 0; 2 * e < ends.size(); ++e) edges.push_back({ends[e], ends[ends.size() / 2 + e]});
    graphs.push_back(graph::directed(c.shape(of_graph(g, "x"))[0], edges, c.values<index_t>(of_graph(g, "edge_attr"))));
  }
  return graphs;
}

/// The table rows of node attributes. Shapes: [graphs, most nodes, attributes]; 0 for padding.
std::vector<index_t> node_rows(const golden_case& c, std::size_t graphs, index_t most) {
  std::vector<index_t> rows;
  for (std::size_t g = 0; g < graphs; ++g) {
    const auto values = c.values<index_t>(of_graph(g, "x"));
    const index_t attributes = c.shape(of_graph(g, "x"))[1];
    for (std::size_t n = 0; n < values.size(); ++n) {
      rows.push_back(node_attribute_rows::graphormer()(static_cast<index_t>(n) % attributes, values[n]));
    }
    rows.resize((g + 1) * static_cast<std::size_t>(most * attributes));
  }
  return rows;
}

template <class T>
table<T> parameter(const golden_case& c, const std::string& name, index_t columns) {
  const auto values = c.values<T>(name);
  return {values, static_cast<index_t>(values.size()) / columns, columns};
}

template <class T>
outputs<T> run_case(const golden_case& c) {
  const std::vector<graph> graphs = graphs_of(c);
  const graph_rows rows(graphs, graph_token::at(-1));
  outputs<T> out;
  std::vector<index_t> lengths;
  index_t longest = 0;
  for (std::size_t g = 0; g < graphs.size(); ++g) {
    const shortest_paths& paths = rows.paths(static_cast<index_t>(g));
    std::vector<index_t> distances;
    std::vector<index_t> middles;
    std::vector<index_t> degrees;
    for (index_t i = 0; i < paths.nodes(); ++i) {
      for (index_t j = 0; j < paths.nodes(); ++j) {
        const auto distance = paths.distance(i, j);
        distances.push_back(distance.value_or(unreachable));
        middles.push_back(distance ? paths.middle(i, j).value_or(-1) : unreachable);
      }
      degrees.push_back(graphs[g].in_degree(i));
    }
    out.add(of_graph(g, "shortest_path"), distances);
    out.add(of_graph(g, "path_mid"), middles);
    out.add(of_graph(g, "degree"), degrees);
    lengths.push_back(paths.nodes() + 1);
    longest = std::max(longest, paths.disconnected() ? unreachable : paths.longest());
  }
  const index_t storage = *std::max_element(lengths.begin(), lengths.end());
  const index_t most = storage - 1;
  const auto call = call::padded_batch({.lengths = lengths,
                                        .rows = storage,
                                        .side = call::padding_side::right,
                                        .positions = call::padded_positions::contiguous(-1)});

  const index_t count = c.integer("num_heads");
  const index_t hops = c.integer("multi_hop_max_dist");
  const bias::spatial<T> spatial(parameter<T>(c, "bias.spatial_pos_encoder.weight", count), distance_id::graphormer(),
                                 rows, parameter<T>(c, "bias.graph_token_virtual_distance.weight", count));
  const bias::edge_path<T> edges(
      parameter<T>(c, "bias.edge_encoder.weight", count), parameter<T>(c, "bias.edge_dis_encoder.weight", count), rows,
      {.rows = edge_attribute_rows::graphormer(), .hops = hops, .longer = bias::longer_paths::cut});
  const attention model{
      heads{.query = count, .key_value = count},
      scale::none{},
      spatial,
      edges,
      visible::active{},
      visible::within_hops(rows, visible::within_hops_settings::graphormer(c.integer("spatial_pos_max")))};
  const auto plan = model.template compile<T>(call);
  const auto ids = spatial.template compile<T>(call, model.layout());

  // Ids of pairs of nodes, and those of the edges along their path.
  std::vector<index_t> spatial_pos;
  std::vector<index_t> in_degree;
  std::vector<index_t> edge_input;
  const index_t attributes = graphs.front().attributes();
  const edge_attribute_rows edge_rows = edge_attribute_rows::graphormer();
  for (const batch_index b : indices<batch_index>(call.batch())) {
    const graph& of = rows.of(b.value());
    for (index_t i = 0; i < most; ++i) {
      in_degree.push_back(i < of.nodes() ? of.in_degree(i) + 1 : 0);
      for (index_t j = 0; j < most; ++j) {
        spatial_pos.push_back(ids.id(b, query_index{i + 1}, key_index{j + 1}));
        const auto path = i < of.nodes() && j < of.nodes() ? rows.paths(b.value()).path(i, j) : std::vector<index_t>{};
        for (index_t hop = 0; hop < std::min(hops, longest); ++hop) {
          const auto at = static_cast<std::size_t>(hop);
          for (index_t f = 0; f < attributes; ++f) {
            const bool edge = at + 1 < path.size();
            edge_input.push_back(
                edge ? edge_rows(f, of.attributes_of(path[at], path[at + 1])[static_cast<std::size_t>(f)]) : 0);
          }
        }
      }
    }
  }
  out.add("spatial_pos", spatial_pos);
  out.add("in_degree", in_degree);
  out.add("edge_input", edge_input);
  const auto x = node_rows(c, graphs.size(), most);
  out.add("x", x);

  // What is hidden is -infinity in the reference.
  const T hidden = -std::numeric_limits<T>::infinity();
  std::vector<T> attn_bias;
  std::vector<T> graph_attn_bias;
  for (const batch_index b : indices<batch_index>(call.batch())) {
    for (const head_index h : indices<head_index>(count)) {
      for (const query_index i : indices<query_index>(storage)) {
        for (const key_index j : indices<key_index>(storage)) {
          const bool seen = plan.visible(b, i, j);
          if (h.value() == 0) attn_bias.push_back(seen ? T{0} : hidden);
          graph_attn_bias.push_back(seen ? plan.bias(b, h, i, j) : hidden);
        }
      }
    }
  }
  out.add("attn_bias", attn_bias);
  out.add("graph_attn_bias", graph_attn_bias);

  // Node features: the content's own rows, then the degrees.
  const index_t width = c.integer("hidden_dim");
  const auto atoms = parameter<T>(c, "node.atom_encoder.weight", width);
  const auto token = c.values<T>("node.graph_token.weight");
  tensor<T, 3> states({call.batch(), storage, width});
  for (index_t b = 0; b < call.batch(); ++b) {
    std::copy(token.begin(), token.end(), states.view().row(b, 0).begin());
    for (index_t node = 0; node < most; ++node) {
      const auto state = states.view().row(b, node + 1);
      const index_t values = c.shape("g0_x")[1];
      for (index_t f = 0; f < values; ++f) {
        const auto row = atoms.row(x[static_cast<std::size_t>((b * most + node) * values + f)]);
        for (std::size_t d = 0; d < row.size(); ++d) state[d] += row[d];
      }
    }
  }
  const encode::degree<T> degrees({.in = parameter<T>(c, "node.in_degree_encoder.weight", width),
                                   .out = parameter<T>(c, "node.out_degree_encoder.weight", width)},
                                  rows, {.row_offset = 1, .count = encode::degree_count::outgoing_for_both});
  encode::add_positions(degrees, call, states.view());
  out.add("node_feature", states.values());
  return out;
}

}  // namespace

mechanism graphormer() { return {"graphormer", run_case<double>, run_case<float>}; }

}  // namespace posgeo::golden
