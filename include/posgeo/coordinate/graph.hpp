// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/core/description.hpp>
#include <posgeo/core/error.hpp>
#include <posgeo/core/index.hpp>

#include <algorithm>
#include <memory>
#include <span>
#include <vector>

namespace posgeo::coordinate {

struct graph_edge {
  index_t from;
  index_t to;
};

namespace detail {

/// The numbers that nodes have, for a message.
[[nodiscard]] inline std::string node_numbers(index_t nodes) {
  return nodes > 0 ? fmt::format("0..{}", nodes - 1) : "none, as there are no nodes";
}

}  // namespace detail

/// A graph whose edges may carry attribute values. Immutable, cheap to copy.
/// Shapes: nodes are 0 .. nodes - 1; attributes [edges, attributes of an edge].
/// Throws: errc::graph_structure for a node outside, an edge given twice or a negative attribute; errc::row_count for
///         attributes that do not fill the edges.
/// Source: Ying et al. 2021, section 3.1 (nodes, edges and their features).
class graph {
 public:
  /// Each edge leads one way. An edge from a node to itself counts in its degrees and lies on no path.
  [[nodiscard]] static graph directed(index_t nodes, std::span<const graph_edge> edges,
                                      std::span<const index_t> attributes = {}) {
    return {nodes, edges, attributes, false};
  }
  /// Each edge, given once, leads both ways with the same attributes.
  [[nodiscard]] static graph undirected(index_t nodes, std::span<const graph_edge> edges,
                                        std::span<const index_t> attributes = {}) {
    return {nodes, edges, attributes, true};
  }

  [[nodiscard]] index_t nodes() const noexcept { return data_->nodes; }
  /// How many attributes an edge has.
  [[nodiscard]] index_t attributes() const noexcept { return data_->width; }
  [[nodiscard]] index_t in_degree(index_t node) const noexcept { return data_->in[static_cast<std::size_t>(node)]; }
  [[nodiscard]] index_t out_degree(index_t node) const noexcept { return data_->out[static_cast<std::size_t>(node)]; }
  /// The edges, each direction of an undirected one, in ascending order: from, to, and the attributes of each.
  [[nodiscard]] description describe() const {
    std::vector<index_t> from;
    std::vector<index_t> to;
    std::vector<index_t> attributes;
    for (const arc& edge : data_->arcs) {
      from.push_back(edge.from);
      to.push_back(edge.to);
      const auto values = attributes_of(edge.from, edge.to);
      attributes.insert(attributes.end(), values.begin(), values.end());
    }
    return description("graph")
        .with("nodes", nodes())
        .with("from", from)
        .with("to", to)
        .with("attributes_of_an_edge", data_->width)
        .with("attributes", attributes);
  }
  friend bool operator==(const graph& a, const graph& b) noexcept { return a.data_ == b.data_ || *a.data_ == *b.data_; }
  [[nodiscard]] bool has_edge(index_t from, index_t to) const noexcept { return find(from, to) != nullptr; }
  /// The attributes of an edge; empty if there is no such edge.
  [[nodiscard]] std::span<const index_t> attributes_of(index_t from, index_t to) const noexcept {
    const arc* const found = find(from, to);
    if (found == nullptr) return {};
    const std::size_t first = found->attributes * static_cast<std::size_t>(data_->width);
    return std::span<const index_t>(data_->values).subspan(first, static_cast<std::size_t>(data_->width));
  }

 private:
  struct arc {
    index_t from;
    index_t to;
    std::size_t attributes;  ///< the edge whose attributes it has
    friend bool operator==(const arc&, const arc&) = default;
    [[nodiscard]] bool before(const arc& other) const noexcept {
      return from != other.from ? from < other.from : to < other.to;
    }
  };
  struct contents {
    index_t nodes = 0;
    index_t width = 0;
    std::vector<arc> arcs;  ///< sorted
    std::vector<index_t> values;
    std::vector<index_t> in;
    std::vector<index_t> out;
    friend bool operator==(const contents&, const contents&) = default;
  };

  graph(index_t nodes, std::span<const graph_edge> edges, std::span<const index_t> attributes, bool both_ways) {
    constexpr index_t most = index_t{1} << 20;
    require(nodes >= 0 && nodes <= most, errc::graph_structure, "graph", "nodes", "from 0 to 2^20", nodes);
    require(attributes.empty() || (!edges.empty() && attributes.size() % edges.size() == 0), errc::row_count, "graph",
            "edge attributes", text("a multiple of {} edges", edges.size()), attributes.size());
    auto data = std::make_shared<contents>();
    data->nodes = nodes;
    data->width = edges.empty() ? 0 : static_cast<index_t>(attributes.size() / edges.size());
    data->values.assign(attributes.begin(), attributes.end());
    for (const index_t value : attributes) {
      require(value >= 0, errc::graph_structure, "graph", "edge attribute", "at least 0", value);
    }
    for (std::size_t n = 0; n < edges.size(); ++n) {
      for (const index_t end : {edges[n].from, edges[n].to}) {
        require(
            end >= 0 && end < nodes, errc::graph_structure, "graph", text("node of edge {}", n),
            [nodes] { return detail::node_numbers(nodes); }, end);
      }
      data->arcs.push_back({edges[n].from, edges[n].to, n});
      if (both_ways && edges[n].from != edges[n].to) data->arcs.push_back({edges[n].to, edges[n].from, n});
    }
    const auto in_order = [](const arc& a, const arc& b) { return a.before(b); };
    std::sort(data->arcs.begin(), data->arcs.end(), in_order);
    const auto twice = std::adjacent_find(data->arcs.begin(), data->arcs.end(),
                                          [](const arc& a, const arc& b) { return !a.before(b) && !b.before(a); });
    if (twice != data->arcs.end()) {
      require(false, errc::graph_structure, "graph", text("edge from {} to {}", twice->from, twice->to), "given once",
              "twice");
    }
    data->in.resize(static_cast<std::size_t>(nodes));
    data->out.resize(static_cast<std::size_t>(nodes));
    for (const arc& edge : data->arcs) {
      ++data->out[static_cast<std::size_t>(edge.from)];
      ++data->in[static_cast<std::size_t>(edge.to)];
    }
    data_ = std::move(data);
  }

  [[nodiscard]] const arc* find(index_t from, index_t to) const noexcept {
    const arc wanted{from, to, 0};
    const auto at = std::lower_bound(data_->arcs.begin(), data_->arcs.end(), wanted,
                                     [](const arc& a, const arc& b) { return a.before(b); });
    return at != data_->arcs.end() && !wanted.before(*at) ? &*at : nullptr;
  }

  std::shared_ptr<const contents> data_;
};

}  // namespace posgeo::coordinate
