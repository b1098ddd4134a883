// SPDX-License-Identifier: MIT
#include <posgeo/bias/edge_path.hpp>
#include <posgeo/bias/spatial.hpp>
#include <posgeo/call/padded_batch.hpp>
#include <posgeo/scale/none.hpp>
#include <posgeo/visible/active.hpp>

#include <limits>

#include "cases/json_tensors.hpp"

namespace posgeo::cases {
namespace {

using coordinate::distance_id;
using coordinate::graph;
using coordinate::graph_edge;
using coordinate::graph_rows;
using coordinate::graph_token;

/// Ids and biases of one graph under a graph token; the padding follows the nodes.
json ids_and_bias(const json& in) {
  expect(in, "virtual_node_index", 0);
  const index_t nodes = in.at("nodes");
  std::vector<graph_edge> edges;
  for (const json& edge : in.at("edges_undirected")) edges.push_back({edge.at(0), edge.at(1)});
  const graph_rows rows({graph::undirected(nodes, edges)}, graph_token::at(-1));
  const distance_id id(in.at("unreachable_raw").get<index_t>() + 1);
  std::vector<double> by_id(static_cast<std::size_t>(id.unreachable() + 1));
  for (const auto& [key, value] : in.at("bias_table_by_id").items()) by_id.at(std::stoul(key)) = value.get<double>();
  const std::vector<double> token{in.at("virtual_node_bias").get<double>()};
  const bias::spatial<double> spatial(table<double>(by_id, id.unreachable() + 1, 1), id, rows,
                                      table<double>(token, 1, 1));

  const index_t length = nodes + 1;
  const index_t storage = in.at("padded_to").get<index_t>() + 1;
  const auto call = call::padded_batch({.lengths = {&length, 1},
                                        .rows = storage,
                                        .side = call::padding_side::right,
                                        .positions = call::padded_positions::contiguous(-1)});
  const attention model{heads{}, scale::none{}, spatial, visible::active{}};
  const auto result = run_without_content(model, call);
  for (const double output : result.output.values()) {
    if (output != 0) throw std::runtime_error("a row that sees values of 0 only has another output");
  }
  const auto term = spatial.compile<double>(call, heads{});
  json ids = json::array();
  for (const query_index i : indices<query_index>(query_index{1}, query_index{storage})) {
    json row = json::array();
    for (const key_index j : indices<key_index>(key_index{1}, key_index{storage})) {
      row.push_back(term.id(batch_index{0}, i, j));
    }
    ids.push_back(row);
  }
  return {{"ids", ids}, {"bias_6x6", nested(result.scores)[0][0]}};
}

/// One path for each entry, on a graph that is that path; an edge's attribute names its value in the table.
json edge_mean(const json& in) {
  json means = json::object();
  for (const auto& [name, values] : in.at("path_edge_values").items()) {
    std::vector<graph_edge> edges;
    std::vector<index_t> attributes;
    std::vector<double> features{0.0};
    for (const json& value : values) {
      const auto n = static_cast<index_t>(edges.size());
      edges.push_back({n, n + 1});
      attributes.push_back(n);
      features.push_back(number(value));
    }
    const auto hops = static_cast<index_t>(edges.size());
    const graph_rows rows({graph::directed(hops + 1, edges, attributes)}, graph_token::none());
    const distance_id id = distance_id::graphormer();
    if (id(rows.paths(0).distance(0, hops)) != in.at("ids").at(name).get<index_t>()) {
      throw std::runtime_error("the path has another id than the case says");
    }
    const index_t most = in.at("max_hops");
    const std::vector<double> ones(static_cast<std::size_t>(most), 1.0);
    const bias::edge_path<double> policy(
        table<double>(features, static_cast<index_t>(features.size()), 1), table<double>(ones, most, 1), rows,
        {.rows = {.first = 1, .stride = std::max(hops, index_t{1})}, .hops = most, .longer = bias::longer_paths::cut});
    const attention model{heads{}, scale::none{}, policy, visible::active{}};
    means[name] = run_without_content(model, call_at({0}, {hops})).scores(0, 0, 0, 0);
  }
  return {{"edge_bias", means}};
}

}  // namespace

operations graph_operations() {
  return {{"graphormer_ids_and_bias", ids_and_bias}, {"graphormer_edge_mean", edge_mean}};
}

}  // namespace posgeo::cases
