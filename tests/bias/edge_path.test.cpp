// SPDX-License-Identifier: MIT
#include <posgeo/bias/edge_path.hpp>

#include "support/calls.hpp"
#include "support/catch.hpp"
#include "support/compare.hpp"
#include "support/random.hpp"
#include "support/random_graphs.hpp"
#include "support/refusal.hpp"

namespace edge_path_test {

using namespace posgeo;
using namespace posgeo::test;
using bias::edge_path;
using bias::longer_paths;
using coordinate::edge_attribute_rows;
using coordinate::graph;
using coordinate::graph_rows;
using coordinate::graph_token;

static_assert(score_bias<edge_path<float>, float> && score_bias<edge_path<float>, double>);

constexpr heads three{.query = 3, .key_value = 3, .dim = 1};
constexpr index_t dim = 4;
constexpr edge_attribute_rows blocks{.first = 2, .stride = 5};

table<double> numbers(index_t rows, index_t columns, unsigned seed) {
  auto values = random_values<double>(static_cast<std::size_t>(rows * columns), seed);
  std::fill_n(values.begin(), columns, 0.0);  // row 0 is padding
  return {values, rows, columns};
}
table<double> weights_of(index_t hops, unsigned seed) { return random_table(hops * dim, 3, seed); }

/// The formula: the mean over the first `hops` edges of x_e . w_n.
double by_hand(const graph_rows& rows, index_t i, index_t j, index_t h, const table<double>& features,
               const table<double>& weights, index_t hops) {
  const auto path = rows.paths(0).path(i, j);
  double sum = 0;
  index_t count = 0;
  for (std::size_t n = 0; n + 1 < path.size() && count < hops; ++n, ++count) {
    const auto attributes = rows.of(0).attributes_of(path[n], path[n + 1]);
    for (index_t d = 0; d < dim; ++d) {
      double x = 0;
      for (std::size_t f = 0; f < attributes.size(); ++f) {
        x += features(blocks(static_cast<index_t>(f), attributes[f]), d) / static_cast<double>(attributes.size());
      }
      sum += x * weights(count * dim + d, h);
    }
  }
  return count == 0 ? 0.0 : sum / static_cast<double>(count);
}

TEST_CASE("the edge path is the mean of edge features times the weights of their hop", "[edge_path]") {
  const auto features = numbers(12, dim, 381);
  dice roll(382);
  double largest = 0;
  double most = 0;
  for (int round = 0; round < 12; ++round) {
    const index_t nodes = roll.between(2, 8);
    const graph_rows rows({random_graph(roll, nodes, 0.25)}, graph_token::none());
    const auto order = random_order(roll, nodes);
    const index_t hops = roll.between(1, 4);
    const auto weights = weights_of(hops + 1, 383);
    const edge_path policy(features, weights, rows, {.rows = blocks, .hops = hops, .longer = longer_paths::cut});
    const auto term = policy.compile<double>(call_at(order), three);
    for (index_t i = 0; i < nodes; ++i) {
      for (index_t j = 0; j < nodes; ++j) {
        for (index_t h = 0; h < 3; ++h) {
          const double expected = by_hand(rows, order[static_cast<std::size_t>(i)], order[static_cast<std::size_t>(j)],
                                          h, features, weights, hops);
          largest = std::max(largest,
                             difference(term(batch_index{0}, head_index{h}, query_index{i}, key_index{j}), expected));
          most = std::max(most, std::abs(expected));
        }
      }
    }
  }
  CHECK(largest < 1e-14 * most);
}

TEST_CASE("the path is the chosen one and its direction counts", "[edge_path]") {
  // 0 -> 3 over 1 or 2, both two edges long; the way back is one edge.
  const std::vector<coordinate::graph_edge> edges{{0, 2}, {2, 3}, {0, 1}, {1, 3}, {3, 0}};
  const std::vector<index_t> attributes{0, 1, 2, 3, 4};
  const std::vector<double> features{0, 1, 10, 100, 1000, 10000};
  const std::vector<double> weights{1, 1, 1};
  const graph_rows rows({graph::directed(4, edges, attributes)}, graph_token::none());
  const edge_path policy(table<double>(features, 6, 1), table<double>(weights, 3, 1), rows,
                         {.rows = {.first = 1, .stride = 5}, .hops = 3, .longer = longer_paths::refused});
  const auto term = policy.compile<double>(call_at({0, 3}), heads{});
  const auto at = [&](index_t i, index_t j) {
    return term(batch_index{0}, head_index{0}, query_index{i}, key_index{j});
  };
  CHECK(at(0, 1) == (100.0 + 1000.0) / 2.0);
  CHECK(at(1, 0) == 10000.0);
  CHECK(at(0, 0) == 0.0);
}

TEST_CASE("a path with more edges than hops is cut or adds nothing or is refused", "[edge_path]") {
  const std::vector<coordinate::graph_edge> edges{{0, 1}, {1, 2}, {2, 3}};
  const std::vector<index_t> attributes{0, 1, 2};
  const std::vector<double> features{2, 4, 9};
  const std::vector<double> weights{1, 1};
  const graph_rows rows({graph::directed(5, edges, attributes)}, graph_token::none());
  const auto made = [&](longer_paths longer) {
    return edge_path(table<double>(features, 3, 1), table<double>(weights, 2, 1), rows,
                     {.rows = {.first = 0, .stride = 3}, .hops = 2, .longer = longer});
  };
  const auto value = [&](longer_paths longer, index_t from, index_t to) {
    return made(longer).compile<double>(call_at({from}, {to}), heads{})(batch_index{0}, head_index{0}, query_index{0},
                                                                        key_index{0});
  };
  CHECK(value(longer_paths::cut, 0, 3) == 3.0);
  CHECK(value(longer_paths::cut, 1, 3) == 6.5);
  CHECK(value(longer_paths::nothing, 0, 3) == 0.0);
  CHECK(value(longer_paths::nothing, 1, 3) == 6.5);
  CHECK(value(longer_paths::cut, 0, 4) == 0.0);  // no path
  CHECK(refusal([&] { return made(longer_paths::refused); }).code() == errc::graph_structure);
}

TEST_CASE("the graph token and padding have no edges", "[edge_path]") {
  const std::vector<coordinate::graph_edge> edges{{0, 1}, {1, 0}};
  const std::vector<index_t> attributes{0, 1};
  const std::vector<double> features{3, 5};
  const std::vector<double> weight{1};
  const graph_rows rows({graph::directed(2, edges, attributes)}, graph_token::at(2));
  const edge_path policy(table<double>(features, 2, 1), table<double>(weight, 1, 1), rows,
                         {.rows = {.first = 0, .stride = 2}, .hops = 1, .longer = longer_paths::refused});
  const std::vector<index_t> at{0, 2, 1};
  const std::vector<std::uint8_t> active{1, 1, 0};
  const call::explicit_side side{.positions = at, .active = active, .rows = 3};
  const auto term = policy.compile<double>(call::explicit_positions({.query = side, .key = side}), heads{});
  for (const query_index i : indices<query_index>(3)) {
    for (const key_index j : indices<key_index>(3)) CHECK(term(batch_index{0}, head_index{0}, i, j) == 0.0);
  }
  const auto nodes = policy.compile<double>(call_at({0}, {1}), heads{});
  CHECK(nodes(batch_index{0}, head_index{0}, query_index{0}, key_index{0}) == 3.0);
}

TEST_CASE("edge paths refuse tables and attributes that do not fit", "[edge_path]") {
  dice roll(384);
  const graph_rows rows({random_graph(roll, 5, 0.6)}, graph_token::none());
  const auto features = numbers(12, dim, 385);
  const auto refused = [&](const table<double>& f, const table<double>& w, const graph_rows& graphs,
                           const bias::edge_path_settings& settings) {
    return refusal([&] { return edge_path(f, w, graphs, settings); }).code();
  };
  const bias::edge_path_settings two_hops{.rows = blocks, .hops = 2, .longer = longer_paths::cut};
  CHECK(refused(features, weights_of(1, 386), rows, two_hops) == errc::table_rows);
  CHECK(refused(features, table<double>(random_values<double>(27, 387), 9, 3), rows, two_hops) == errc::table_rows);
  CHECK(refused(features, weights_of(1, 386), rows, {.rows = blocks, .hops = 0, .longer = longer_paths::cut}) ==
        errc::table_rows);
  const table<double> learned_padding(random_values<double>(12 * dim, 388), 12, dim);
  CHECK(refused(learned_padding, weights_of(2, 386), rows, two_hops) == errc::special_row);
  CHECK(refused(numbers(4, dim, 385), weights_of(2, 386), rows, two_hops) == errc::graph_structure);
  const std::vector<coordinate::graph_edge> edges{{0, 1}};
  const graph_rows bare({graph::directed(2, edges)}, graph_token::none());
  CHECK(refused(features, weights_of(2, 386), bare, two_hops) == errc::graph_structure);

  const edge_path policy(features, weights_of(2, 386), rows, two_hops);
  CHECK(refusal([&] { return policy.compile<double>(call_at({0}), heads{}); }).code() == errc::head_count);
  CHECK(refusal([&] { return policy.compile<double>(call_at({5}), three); }).code() == errc::graph_structure);
  auto large = random_values<double>(2 * dim * 3, 386);
  for (double& value : large) value *= 1e39;
  const edge_path wide(features, table<double>(large, 2 * dim, 3), rows, two_hops);
  CHECK(refusal([&] { return wide.compile<float>(call_at({0}), three); }).code() == errc::non_finite);
}

}  // namespace edge_path_test
