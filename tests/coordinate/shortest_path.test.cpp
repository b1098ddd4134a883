// SPDX-License-Identifier: MIT
#include <posgeo/coordinate/shortest_path.hpp>

#include <set>

#include "support/catch.hpp"
#include "support/random_graphs.hpp"
#include "support/refusal.hpp"

namespace shortest_path_test {

using namespace posgeo;
using namespace posgeo::test;
using coordinate::distance_id;
using coordinate::graph;
using coordinate::shortest_paths;
using edges = std::vector<coordinate::graph_edge>;
using numbers = std::vector<index_t>;

/// Distances from one node, level by level.
std::vector<std::optional<index_t>> by_levels(const graph& g, index_t from) {
  std::vector<std::optional<index_t>> out(static_cast<std::size_t>(g.nodes()));
  std::set<index_t> level{from};
  for (index_t distance = 0; !level.empty(); ++distance) {
    std::set<index_t> next;
    for (const index_t node : level) out[static_cast<std::size_t>(node)] = distance;
    for (const index_t node : level) {
      for (index_t to = 0; to < g.nodes(); ++to) {
        if (g.has_edge(node, to) && !out[static_cast<std::size_t>(to)]) next.insert(to);
      }
    }
    level = next;
  }
  return out;
}

TEST_CASE("distances are those of a search by levels and paths have their length", "[shortest_path]") {
  dice roll(351);
  index_t unreachable = 0;
  for (int round = 0; round < 60; ++round) {
    const graph g = random_graph(roll, roll.between(1, 11), 0.2);
    const shortest_paths paths(g);
    index_t longest = 0;
    for (index_t i = 0; i < g.nodes(); ++i) {
      const auto expected = by_levels(g, i);
      for (index_t j = 0; j < g.nodes(); ++j) {
        const auto distance = paths.distance(i, j);
        REQUIRE(distance == expected[static_cast<std::size_t>(j)]);
        const numbers path = paths.path(i, j);
        unreachable += distance ? 0 : 1;
        REQUIRE(static_cast<index_t>(path.size()) == distance.value_or(-1) + 1);
        if (!distance) continue;
        longest = std::max(longest, *distance);
        REQUIRE(path.front() == i);
        REQUIRE(path.back() == j);
        for (std::size_t n = 1; n < path.size(); ++n) REQUIRE(g.has_edge(path[n - 1], path[n]));
      }
    }
    CHECK(paths.longest() == longest);
  }
  CHECK(unreachable > 100);
}

TEST_CASE("of equally short paths the first intermediate node wins", "[shortest_path]") {
  // 0 -> 4 over 1, 2 or 3; the loop reaches 1 first whatever the order of the edges.
  const shortest_paths paths(graph::directed(5, edges{{0, 3}, {3, 4}, {2, 4}, {0, 2}, {1, 4}, {0, 1}}));
  CHECK(paths.path(0, 4) == numbers{0, 1, 4});
  CHECK(paths.middle(0, 4) == 1);
  CHECK_FALSE(paths.middle(0, 1));
  CHECK_FALSE(paths.middle(4, 0));
  CHECK_FALSE(paths.middle(2, 2));

  // A longer way over 1 is found first and replaced by the shorter one over 4.
  const shortest_paths replaced(graph::directed(5, edges{{0, 2}, {2, 1}, {1, 3}, {0, 4}, {4, 3}}));
  CHECK(replaced.path(0, 3) == numbers{0, 4, 3});
  CHECK(replaced.middle(0, 3) == 4);
}

TEST_CASE("direction counts and an edge from a node to itself does not", "[shortest_path]") {
  const shortest_paths paths(graph::directed(3, edges{{0, 1}, {1, 2}, {1, 1}}));
  CHECK(paths.distance(0, 2) == 2);
  CHECK_FALSE(paths.distance(2, 0));
  CHECK(paths.distance(1, 1) == 0);
  CHECK(paths.path(1, 1) == numbers{1});
  CHECK(paths.path(2, 0).empty());
  CHECK(paths.disconnected());
  CHECK_FALSE(shortest_paths(graph::undirected(3, edges{{0, 1}, {1, 2}})).disconnected());
  CHECK(shortest_paths(graph::directed(1, {})).distance(0, 0) == 0);
}

TEST_CASE("unreachable pairs have an id that no distance has and padding has 0", "[shortest_path]") {
  const distance_id id = distance_id::graphormer();
  CHECK(id(index_t{0}) == 1);
  CHECK(id(index_t{19}) == 20);
  CHECK(id(std::nullopt) == 511);
  CHECK(distance_id::padding == 0);

  const shortest_paths line(graph::directed(4, edges{{0, 1}, {1, 2}, {2, 3}}));
  const auto found_for = [&](index_t unreachable_id) {
    violations found;
    distance_id(unreachable_id).check(line, "bias", found);
    return codes(found);
  };
  CHECK(found_for(5).empty());
  CHECK(found_for(4) == std::vector{errc::graph_structure});  // the longest path has id 4
  CHECK(found_for(2) == std::vector{errc::graph_structure});
  CHECK(refusal([] { return distance_id(0); }).code() == errc::graph_structure);
}

TEST_CASE("too many nodes for all pairs are refused", "[shortest_path]") {
  const graph huge = graph::directed((index_t{1} << 12) + 1, {});
  CHECK(refusal([&] { return shortest_paths(huge); }).code() == errc::graph_structure);
}

}  // namespace shortest_path_test
