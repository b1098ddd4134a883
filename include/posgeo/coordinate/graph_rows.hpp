// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/call/position_call.hpp>
#include <posgeo/coordinate/shortest_path.hpp>
#include <posgeo/core/description.hpp>

#include <algorithm>

namespace posgeo::coordinate {

/// Where the virtual node stands that is joined to every node of its graph.
class graph_token {
 public:
  /// There is none.
  [[nodiscard]] static graph_token none() noexcept { return graph_token{std::nullopt}; }
  /// The row at this position, which must be no node's number: -1 under padded_positions::contiguous(-1) puts it first.
  [[nodiscard]] static graph_token at(index_t position) noexcept { return graph_token{position}; }
  [[nodiscard]] const std::optional<index_t>& position() const noexcept { return position_; }

 private:
  explicit graph_token(std::optional<index_t> position) : position_(position) {}
  std::optional<index_t> position_;
};

/// What a storage row is: padding, the virtual node, or a node of a graph.
struct graph_place {
  enum class kind { padding, token, node };
  kind is = kind::padding;
  index_t graph = 0;
  index_t node = 0;
};

/// The graphs whose nodes are the rows of a call: the sequence of a row picks the graph, its position is the number of
/// the node. Storage order means nothing, so rows may be permuted as long as their positions go with them.
/// Units:  positions are node numbers.
/// Throws: errc::graph_structure without graphs, for a token at the number of a node and, by check, for a row that is
///         neither; errc::frame_mismatch, by check, across frames.
/// Source: Ying et al. 2021, section 3.2 (the virtual node), and the released collator.
class graph_rows {
 public:
  graph_rows(std::vector<graph> graphs, graph_token token) : token_(token) {
    require(!graphs.empty(), errc::graph_structure, "graph rows", "graphs", "at least 1", 0);
    auto all = std::make_shared<std::vector<entry>>();
    for (graph& one : graphs) {
      shortest_paths paths(one);
      all->push_back({std::move(one), std::move(paths)});
    }
    graphs_ = std::move(all);
    for (index_t g = 0; token.position() && g < count(); ++g) {
      const index_t at = *token.position();
      require(at < 0 || at >= of(g).nodes(), errc::graph_structure, "graph rows", "position of the graph token",
              text("none of the node numbers 0..{} of graph {}", of(g).nodes() - 1, g), at);
    }
  }

  [[nodiscard]] index_t count() const noexcept { return static_cast<index_t>(graphs_->size()); }
  [[nodiscard]] const graph& of(index_t g) const noexcept { return (*graphs_)[static_cast<std::size_t>(g)].of; }
  [[nodiscard]] const shortest_paths& paths(index_t g) const noexcept {
    return (*graphs_)[static_cast<std::size_t>(g)].paths;
  }
  [[nodiscard]] const graph_token& token() const noexcept { return token_; }
  [[nodiscard]] description describe() const {
    std::vector<description> graphs;
    for (const entry& one : *graphs_) graphs.push_back(one.of.describe());
    return description("graph_rows").with("graphs", graphs).with("token", token_.position());
  }
  friend bool operator==(const graph_rows& a, const graph_rows& b) noexcept {
    const auto same = [](const entry& x, const entry& y) { return x.of == y.of; };
    return a.token_.position() == b.token_.position() &&
           (a.graphs_ == b.graphs_ ||
            std::equal(a.graphs_->begin(), a.graphs_->end(), b.graphs_->begin(), b.graphs_->end(), same));
  }

  /// Lists the active rows that are neither a node nor the token.
  void check(const row_space& space, std::string_view object, violations& found) const {
    for (index_t b = 0; b < space.entries(); ++b) {
      for (index_t row = 0; row < space.rows(); ++row) {
        if (!space.active(b, row)) continue;
        const index_t g = space.sequence(b, row);
        const index_t at = space.at(b, row).value();
        found.expect(g >= 0 && g < count(), errc::graph_structure, object,
                     text("sequence of row {} in entry {}", row, b), text("one of {} graphs", count()), g);
        if (g < 0 || g >= count() || at == token_.position()) continue;
        found.expect(at >= 0 && at < of(g).nodes(), errc::graph_structure, object,
                     text("position of row {} in entry {}", row, b),
                     text("a node {} of graph {}, or the graph token", detail::node_numbers(of(g).nodes()), g), at);
      }
    }
  }
  /// The same for both sides of a call, which must count in one frame.
  void check(const position_call& call, std::string_view object, violations& found) const {
    expect_same_frame(call, object, found);
    check(call.query_space(), object, found);
    check(call.key_space(), object, found);
  }

  /// What the row of a checked space is.
  [[nodiscard]] graph_place place(const row_space& space, index_t b, index_t row) const noexcept {
    if (!space.active(b, row)) return {};
    const index_t at = space.at(b, row).value();
    const auto is = at == token_.position() ? graph_place::kind::token : graph_place::kind::node;
    return {is, space.sequence(b, row), at};
  }

 private:
  struct entry {
    graph of;
    shortest_paths paths;
  };
  std::shared_ptr<const std::vector<entry>> graphs_;
  graph_token token_;
};

}  // namespace posgeo::coordinate
