// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/coordinate/graph.hpp>
#include <posgeo/core/description.hpp>

#include <optional>

namespace posgeo::coordinate {

/// All shortest paths of a graph. Where several are equally short, the one is chosen that the Floyd-Warshall loop
/// finds: intermediate nodes k in ascending order, replaced by strict improvement only.
///
/// Shapes: [nodes, nodes].
/// Units:  edges.
/// Throws: errc::graph_structure for more than 2^12 nodes.
/// Source: the released Graphormer function algos.floyd_warshall.
class shortest_paths {
 public:
  explicit shortest_paths(const graph& of) : nodes_(of.nodes()) {
    constexpr index_t most = index_t{1} << 12;
    require(nodes_ <= most, errc::graph_structure, "shortest paths", "nodes", "at most 2^12", nodes_);
    pairs all(static_cast<std::size_t>(nodes_ * nodes_), pair{nodes_, none});
    const auto at = [&](index_t i, index_t j) -> pair& { return all[static_cast<std::size_t>(i * nodes_ + j)]; };
    for (index_t i = 0; i < nodes_; ++i) {
      for (index_t j = 0; j < nodes_; ++j) {
        if (of.has_edge(i, j)) at(i, j).distance = 1;
      }
      at(i, i).distance = 0;
    }
    for (index_t k = 0; k < nodes_; ++k) {
      for (index_t i = 0; i < nodes_; ++i) {
        for (index_t j = 0; j < nodes_; ++j) {
          const index_t through = at(i, k).distance + at(k, j).distance;
          if (at(i, j).distance > through) at(i, j) = {through, k};
        }
      }
    }
    pairs_ = std::make_shared<const pairs>(std::move(all));
  }

  [[nodiscard]] index_t nodes() const noexcept { return nodes_; }
  /// Edges on the path; none if there is no path. A node is 0 away from itself.
  [[nodiscard]] std::optional<index_t> distance(index_t from, index_t to) const noexcept {
    const index_t d = at(from, to).distance;
    return d < nodes_ || from == to ? std::optional{d} : std::nullopt;
  }
  /// The node at which the path was put together; none for an edge, for a node and itself, and without a path.
  [[nodiscard]] std::optional<index_t> middle(index_t from, index_t to) const noexcept {
    const index_t k = at(from, to).middle;
    return k == none ? std::nullopt : std::optional{k};
  }
  /// The nodes of the path, both ends included; empty if there is none.
  [[nodiscard]] std::vector<index_t> path(index_t from, index_t to) const {
    std::vector<index_t> nodes;
    if (!distance(from, to)) return nodes;
    nodes.push_back(from);
    if (from != to) append(from, to, nodes);
    return nodes;
  }
  /// The longest distance between any two connected nodes.
  [[nodiscard]] index_t longest() const noexcept {
    index_t most = 0;
    for (index_t i = 0; i < nodes_; ++i) {
      for (index_t j = 0; j < nodes_; ++j) most = std::max(most, distance(i, j).value_or(0));
    }
    return most;
  }
  /// Whether some pair has no path.
  [[nodiscard]] bool disconnected() const noexcept {
    for (index_t i = 0; i < nodes_; ++i) {
      for (index_t j = 0; j < nodes_; ++j) {
        if (!distance(i, j)) return true;
      }
    }
    return false;
  }

 private:
  static constexpr index_t none = -1;
  struct pair {
    index_t distance;  ///< `nodes`, longer than every path, where there is none
    index_t middle;
  };
  using pairs = std::vector<pair>;

  [[nodiscard]] const pair& at(index_t from, index_t to) const noexcept {
    return (*pairs_)[static_cast<std::size_t>(from * nodes_ + to)];
  }
  /// The nodes after `from`, up to `to`.
  void append(index_t from, index_t to, std::vector<index_t>& nodes) const {
    const index_t k = at(from, to).middle;
    if (k == none) {
      nodes.push_back(to);
      return;
    }
    append(from, k, nodes);
    append(k, to, nodes);
  }

  index_t nodes_;
  std::shared_ptr<const pairs> pairs_;
};

/// The table row of a distance: distance + 1, a row of its own for pairs without a path, and 0 for padding only.
/// Units:  edges.
/// Throws: errc::graph_structure unless unreachable_id is positive.
/// Source: Ying et al. 2021, section 3.1.2, and the released collator (unreachable: 510 + 1).
class distance_id {
 public:
  static constexpr index_t padding = 0;

  explicit distance_id(index_t unreachable_id) : unreachable_(unreachable_id) {
    require(unreachable_id > 0, errc::graph_structure, "distance id", "unreachable_id", "at least 1", unreachable_id);
  }
  /// The release: unreachable pairs have id 511.
  [[nodiscard]] static distance_id graphormer() { return distance_id(511); }

  [[nodiscard]] index_t unreachable() const noexcept { return unreachable_; }
  [[nodiscard]] description describe() const { return description("distance_id").with("unreachable", unreachable_); }
  [[nodiscard]] index_t operator()(std::optional<index_t> distance) const noexcept {
    return distance ? *distance + 1 : unreachable_;
  }
  /// Lists a graph whose longest path would share its id with the pairs that have none, or exceed it.
  void check(const shortest_paths& paths, std::string_view object, violations& found) const {
    found.expect(paths.longest() + 1 < unreachable_, errc::graph_structure, object, "longest path",
                 text("an id below that of unreachable pairs, {}", unreachable_), paths.longest() + 1);
  }

 private:
  index_t unreachable_;
};

}  // namespace posgeo::coordinate
