// SPDX-License-Identifier: MIT
#include <posgeo/coordinate/graph.hpp>

#include <string>

#include "support/catch.hpp"
#include "support/refusal.hpp"

namespace graph_test {

using namespace posgeo;
using namespace posgeo::test;
using coordinate::graph;
using edges = std::vector<coordinate::graph_edge>;
using numbers = std::vector<index_t>;

numbers attributes_of(const graph& g, index_t from, index_t to) {
  const auto values = g.attributes_of(from, to);
  return {values.begin(), values.end()};
}

TEST_CASE("a directed edge leads one way and has its own attributes", "[graph]") {
  const graph g = graph::directed(4, edges{{3, 1}, {0, 1}, {1, 3}, {2, 2}}, numbers{7, 0, 4, 4, 1, 9, 5, 6});
  CHECK(g.nodes() == 4);
  CHECK(g.attributes() == 2);
  CHECK(attributes_of(g, 3, 1) == numbers{7, 0});
  CHECK(attributes_of(g, 1, 3) == numbers{1, 9});
  CHECK(attributes_of(g, 0, 1) == numbers{4, 4});
  CHECK(attributes_of(g, 1, 0).empty());
  CHECK_FALSE(g.has_edge(1, 0));
  const auto degrees = [&](index_t node) { return std::pair{g.in_degree(node), g.out_degree(node)}; };
  CHECK(degrees(0) == std::pair<index_t, index_t>{0, 1});
  CHECK(degrees(1) == std::pair<index_t, index_t>{2, 1});
  CHECK(degrees(2) == std::pair<index_t, index_t>{1, 1});  // from the node to itself
  CHECK(degrees(3) == std::pair<index_t, index_t>{1, 1});
}

TEST_CASE("an undirected edge leads both ways with the same attributes", "[graph]") {
  const graph g = graph::undirected(3, edges{{2, 0}, {1, 1}}, numbers{5, 8});
  CHECK(attributes_of(g, 0, 2) == numbers{5});
  CHECK(attributes_of(g, 2, 0) == numbers{5});
  CHECK(g.in_degree(2) == 1);
  CHECK(g.out_degree(0) == 1);
  CHECK(g.in_degree(1) == 1);
  CHECK(graph::undirected(2, edges{{0, 1}}).attributes() == 0);
  CHECK(graph::directed(0, {}).nodes() == 0);
}

TEST_CASE("a graph refuses edges that are none of its own", "[graph]") {
  const auto refused = [](const edges& given, const numbers& attributes = {}) {
    return refusal([&] { return graph::undirected(3, given, attributes); }).code();
  };
  CHECK(refused({{0, 3}}) == errc::graph_structure);
  CHECK(refused({{-1, 2}}) == errc::graph_structure);
  CHECK(refused({{0, 2}, {2, 0}}) == errc::graph_structure);  // both ways is once too often
  CHECK(refused({{0, 2}, {1, 0}}, {4, -1}) == errc::graph_structure);
  CHECK(refused({{0, 2}, {1, 0}}, {4, 1, 1}) == errc::row_count);
  CHECK(refused({}, {1}) == errc::row_count);
  CHECK_NOTHROW(graph::directed(3, edges{{0, 2}, {2, 0}}));
  CHECK(refusal([] { return graph::directed(3, edges{{0, 2}, {0, 2}}); }).code() == errc::graph_structure);
  for (const index_t nodes : {index_t{-1}, (index_t{1} << 20) + 1}) {
    CHECK(refusal([&] { return graph::directed(nodes, {}); }).code() == errc::graph_structure);
  }
  const error empty = refusal([] { return graph::directed(0, edges{{0, 0}}); });
  CHECK(std::string(empty.what()).find("expected none, as there are no nodes, got 0") != std::string::npos);
}

}  // namespace graph_test
