// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/bias/score_bias.hpp>
#include <posgeo/coordinate/graph_rows.hpp>
#include <posgeo/core/description.hpp>
#include <posgeo/core/head_parts.hpp>
#include <posgeo/core/narrow.hpp>
#include <posgeo/core/reads.hpp>
#include <posgeo/core/table.hpp>
#include <posgeo/core/table_gradient.hpp>

namespace posgeo::bias {

/// Adds distances[id(shortest path from query to key), h]; where a graph token is one of the two, token[0, h] instead,
/// once, be the other one padding. Any other pair with padding has no distance: nothing is added. Visibility is not
/// decided here.
/// Shapes: distances [ids, query heads], token [1, query heads].
/// Units:  distances in edges; added after the scale.
/// Throws: errc::graph_structure for an id beyond the table, a longest path whose id is that of unreachable pairs, or a
///         token row without a token (and the reverse), errc::table_rows for other than one token row, when built;
///         errc::head_count without one column for each query head and what graph_rows refuses, when compiled.
/// Source: Ying et al. 2021, section 3.1.2, equation 6, and the released GraphAttnBias (virtual node: section 3.2).
template <class Element>
class spatial {
 public:
  using family = posgeo::family::score_bias;

  spatial(table<Element> distances, const coordinate::distance_id& id, coordinate::graph_rows graphs)
      : spatial(std::move(distances), id, std::move(graphs), std::optional<table<Element>>{}) {}
  /// With a row for the graph token.
  spatial(table<Element> distances, const coordinate::distance_id& id, coordinate::graph_rows graphs,
          table<Element> token)
      : spatial(std::move(distances), id, std::move(graphs), std::optional(std::move(token))) {}

  [[nodiscard]] const coordinate::graph_rows& graphs() const noexcept { return graphs_; }
  [[nodiscard]] static constexpr reads positional_reads() noexcept { return reads::name | reads::padding; }
  [[nodiscard]] description describe() const {
    return description("spatial")
        .with("table", described_table(distances_))
        .with("rule", id_.describe())
        .with("token_table", token_ ? std::optional(described_table(*token_)) : std::nullopt)
        .with("graphs", graphs_.describe());
  }
  [[nodiscard]] spatial part(const head_slice& slice) const {
    std::optional<table<Element>> token;
    if (token_) token.emplace(columns_of(*token_, slice, "graph token of the spatial bias"));
    return {columns_of(distances_, slice, "spatial bias"), id_, graphs_, std::move(token)};
  }

  void check(const position_call& call, const heads& layout, violations& found) const {
    const auto expect_columns = [&](const table<Element>& of, std::string_view columns) {
      found.expect(of.columns() == layout.query, errc::head_count, "spatial bias", columns,
                   text("{} query heads", layout.query), of.columns());
    };
    expect_columns(distances_, "table columns");
    if (token_) expect_columns(*token_, "columns of the graph token");
    graphs_.check(call, "spatial bias", found);
  }

  template <class T>
  class term {
   public:
    /// The table row of a pair of nodes; distance_id::padding where there is none.
    [[nodiscard]] index_t id(batch_index b, query_index i, key_index j) const noexcept {
      const auto [from, to] = places(b, i, j);
      constexpr auto node = coordinate::graph_place::kind::node;
      if (from.is != node || to.is != node || from.graph != to.graph) return coordinate::distance_id::padding;
      return policy_.id_(policy_.graphs_.paths(from.graph).distance(from.node, to.node));
    }
    [[nodiscard]] T operator()(batch_index b, head_index h, query_index i, key_index j) const noexcept {
      const auto [from, to] = places(b, i, j);
      constexpr auto token = coordinate::graph_place::kind::token;
      if (from.is == token || to.is == token) return static_cast<T>((*policy_.token_)(0, h.value()));
      const index_t row = id(b, i, j);
      return row == coordinate::distance_id::padding ? T{0} : static_cast<T>(policy_.distances_(row, h.value()));
    }
    [[nodiscard]] table_gradients<T, 2> gradient() const {
      return table_gradients<T, 2>(table_gradient<T>("table", policy_.distances_),
                                   table_gradient<T>("token_table", policy_.token_));
    }
    void add_gradient(batch_index b, head_index h, query_index i, key_index j, T d_score,
                      table_gradients<T, 2>& to) const noexcept {
      const auto [from, to_place] = places(b, i, j);
      constexpr auto token = coordinate::graph_place::kind::token;
      if (from.is == token || to_place.is == token) {
        to[1].add(0, h.value(), d_score);
      } else if (const index_t row = id(b, i, j); row != coordinate::distance_id::padding) {
        to[0].add(row, h.value(), d_score);
      }
    }

   private:
    friend class spatial;
    term(spatial policy, position_call call) : policy_(std::move(policy)), call_(std::move(call)) {}
    [[nodiscard]] std::pair<coordinate::graph_place, coordinate::graph_place> places(batch_index b, query_index i,
                                                                                     key_index j) const noexcept {
      return {policy_.graphs_.place(call_.query_space(), b.value(), i.value()),
              policy_.graphs_.place(call_.key_space(), b.value(), j.value())};
    }
    spatial policy_;
    position_call call_;
  };

  template <class T>
  [[nodiscard]] term<T> compile(const position_call& call, const heads& layout) const {
    require_fit(*this, call, layout);
    require_fits<T>(distances_.values(), "spatial bias");
    if (token_) require_fits<T>(token_->values(), "spatial bias");
    return {*this, call};
  }

 private:
  spatial(table<Element> distances, const coordinate::distance_id& id, coordinate::graph_rows graphs,
          std::optional<table<Element>> token)
      : distances_(std::move(distances)), id_(id), graphs_(std::move(graphs)), token_(std::move(token)) {
    violations found;
    for (index_t g = 0; g < graphs_.count(); ++g) {
      const coordinate::shortest_paths& paths = graphs_.paths(g);
      id_.check(paths, "spatial bias", found);
      const index_t highest = paths.disconnected() ? id_.unreachable() : paths.longest() + 1;
      found.expect(highest < distances_.rows(), errc::graph_structure, "spatial bias",
                   text("distance ids of graph {}", g), text("below {} table rows", distances_.rows()), highest);
    }
    found.expect(token_.has_value() == graphs_.token().position().has_value(), errc::graph_structure, "spatial bias",
                 "row of the graph token", graphs_.token().position() ? "one" : "none: the graphs have no token",
                 token_ ? "one" : "none");
    found.expect(!token_ || token_->rows() == 1, errc::table_rows, "spatial bias", "rows of the graph token", 1,
                 token_ ? token_->rows() : 0);
    found.throw_if_any();
  }

  table<Element> distances_;
  coordinate::distance_id id_;
  coordinate::graph_rows graphs_;
  std::optional<table<Element>> token_;
};

}  // namespace posgeo::bias
