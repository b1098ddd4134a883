// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/bias/score_bias.hpp>
#include <posgeo/coordinate/attribute_rows.hpp>
#include <posgeo/coordinate/graph_rows.hpp>
#include <posgeo/core/description.hpp>
#include <posgeo/core/head_parts.hpp>
#include <posgeo/core/narrow.hpp>
#include <posgeo/core/reads.hpp>
#include <posgeo/core/table.hpp>
#include <posgeo/core/table_gradient.hpp>

#include <map>

namespace posgeo::bias {

/// What a path with more edges than there are weights adds.
enum class longer_paths {
  refused,  ///< every edge has a weight (the paper)
  cut,      ///< the mean over its first edges (the release's multi_hop)
  nothing,  ///< 0
};

[[nodiscard]] constexpr std::string_view name_of(longer_paths longer) noexcept {
  if (longer == longer_paths::nothing) return "nothing";
  return longer == longer_paths::refused ? "refused" : "cut";
}

struct edge_path_settings {
  coordinate::edge_attribute_rows rows;  ///< where the attribute values of an edge lie in the feature table
  required<index_t> hops;                ///< edges of a path that are read
  required<longer_paths> longer;
};

/// The gradients of an edge path: first of the mean of each pair of nodes, [nodes, nodes, heads] of each graph; those
/// become the gradients of the two tables at the end.
template <class T>
struct edge_path_gradient : table_gradients<T, 2> {
  using table_gradients<T, 2>::table_gradients;
  std::vector<std::vector<T>> of_means;
};

/// Adds the mean over the edges e_1 .. e_N of the shortest path from query to key of x_e . w_n, where x_e is the mean
/// of the feature rows of the edge's attributes and w_n the weights of hop n; 0 for a node and itself, for pairs
/// without a path, with padding and with the graph token. An edge from a node to itself lies on no path: its attributes
/// are neither read nor checked.
///
/// Shapes: features [ids, dim]; weights [hops or more * dim, query heads], hop after hop. Held: [nodes, nodes, heads].
/// Units:  hops in edges; added after the scale.
/// Throws: errc::table_rows for weights that are no whole hops or too few, errc::graph_structure for an edge without
///         attributes, an attribute without a row, or a path that is refused as too long, errc::special_row for a
///         padding row 0 that is not zero, when built; errc::head_count, errc::non_finite and what graph_rows refuses,
///         when compiled.
/// Source: Ying et al. 2021, section 3.1.3, equation 7 (dim: that of the features), and the released GraphAttnBias
///         (dim: the number of heads; a matrix for each hop).
template <class Element>
class edge_path {
 public:
  using family = posgeo::family::score_bias;

  edge_path(const table<Element>& features, const table<Element>& weights, coordinate::graph_rows graphs,
            const edge_path_settings& settings)
      : features_(features),
        weights_(weights),
        settings_(settings),
        graphs_(std::move(graphs)),
        heads_(weights.columns()) {
    require(settings.hops > 0 && weights.rows() % features.columns() == 0 &&
                weights.rows() / features.columns() >= settings.hops,
            errc::table_rows, "edge path", "weight rows",
            text("at least {} hops of {} rows each", settings.hops, features.columns()), weights.rows());
    for (const Element value : features.row(0)) {
      require(settings.rows.first <= 0 || static_cast<double>(value) == 0.0, errc::special_row, "edge path",
              "feature row 0, that of padding", "zeros", static_cast<double>(value));
    }
    auto all = std::make_shared<std::vector<std::vector<double>>>();
    for (index_t g = 0; g < graphs_.count(); ++g) all->push_back(means(features, weights, g, settings));
    means_ = std::move(all);
  }

  [[nodiscard]] const coordinate::graph_rows& graphs() const noexcept { return graphs_; }
  [[nodiscard]] static constexpr reads positional_reads() noexcept { return reads::name | reads::padding; }
  [[nodiscard]] description describe() const {
    return description("edge_path")
        .with("feature_table", described_table(features_))
        .with("weight_table", described_table(weights_))
        .with("rows", settings_.rows.describe())
        .with("hops", index_t{settings_.hops})
        .with("longer", name_of(settings_.longer))
        .with("graphs", graphs_.describe());
  }
  [[nodiscard]] edge_path part(const head_slice& slice) const {
    return {features_, columns_of(weights_, slice, "edge path"), graphs_, settings_};
  }

  void check(const position_call& call, const heads& layout, violations& found) const {
    found.expect(heads_ == layout.query, errc::head_count, "edge path", "weight columns",
                 text("{} query heads", layout.query), heads_);
    graphs_.check(call, "edge path", found);
  }

  template <class T>
  class term {
   public:
    [[nodiscard]] T operator()(batch_index b, head_index h, query_index i, key_index j) const noexcept {
      const auto from = policy_.graphs_.place(call_.query_space(), b.value(), i.value());
      const auto to = policy_.graphs_.place(call_.key_space(), b.value(), j.value());
      constexpr auto node = coordinate::graph_place::kind::node;
      if (from.is != node || to.is != node || from.graph != to.graph) return T{0};
      const index_t pair = from.node * policy_.graphs_.of(from.graph).nodes() + to.node;
      const auto& means = (*policy_.means_)[static_cast<std::size_t>(from.graph)];
      return static_cast<T>(means[static_cast<std::size_t>(pair * policy_.heads_ + h.value())]);
    }
    [[nodiscard]] edge_path_gradient<T> gradient() const {
      edge_path_gradient<T> zero(table_gradient<T>("feature_table", policy_.features_),
                                 table_gradient<T>("weight_table", policy_.weights_));
      for (const auto& means : *policy_.means_) zero.of_means.emplace_back(means.size());
      return zero;
    }
    void add_gradient(batch_index b, head_index h, query_index i, key_index j, T d_score,
                      edge_path_gradient<T>& to) const noexcept {
      const auto from = policy_.graphs_.place(call_.query_space(), b.value(), i.value());
      const auto at = policy_.graphs_.place(call_.key_space(), b.value(), j.value());
      constexpr auto node = coordinate::graph_place::kind::node;
      if (from.is != node || at.is != node || from.graph != at.graph) return;
      const index_t pair = from.node * policy_.graphs_.of(from.graph).nodes() + at.node;
      to.of_means[static_cast<std::size_t>(from.graph)][static_cast<std::size_t>(pair * policy_.heads_ + h.value())] +=
          d_score;
    }
    /// Hands the gradients of the means to the two tables; the means are zero afterwards.
    void finish_gradient(edge_path_gradient<T>& to) const {
      for (index_t g = 0; g < policy_.graphs_.count(); ++g) {
        std::vector<T>& means = to.of_means[static_cast<std::size_t>(g)];
        policy_.each_edge_of_paths(
            g, [&](index_t pair, index_t hop, index_t read, std::span<const index_t> attributes) {
              for (index_t h = 0; h < policy_.heads_; ++h) {
                const T d = means[static_cast<std::size_t>(pair * policy_.heads_ + h)] / static_cast<T>(read);
                if (d != T{0}) policy_.add_edge(hop, h, attributes, d, to);
              }
            });
        std::fill(means.begin(), means.end(), T{0});
      }
    }

   private:
    friend class edge_path;
    term(edge_path policy, position_call call) : policy_(std::move(policy)), call_(std::move(call)) {}
    edge_path policy_;
    position_call call_;
  };

  template <class T>
  [[nodiscard]] term<T> compile(const position_call& call, const heads& layout) const {
    require_fit(*this, call, layout);
    for (const auto& means : *means_) require_fits<T>(std::span<const double>(means), "edge path");
    return {*this, call};
  }

 private:
  /// x_e . w_n of one edge. Shapes: [hops, heads].
  static std::vector<double> projected(const table<Element>& features, const table<Element>& weights,
                                       std::span<const index_t> attributes, const edge_path_settings& settings) {
    violations found;
    found.expect(!attributes.empty(), errc::graph_structure, "edge path", "attributes of an edge", "at least 1", 0);
    settings.rows.check(attributes, features.rows(), "edge path", found);
    found.throw_if_any();
    std::vector<double> x(static_cast<std::size_t>(features.columns()));
    for (std::size_t f = 0; f < attributes.size(); ++f) {
      const auto row = features.row(settings.rows(static_cast<index_t>(f), attributes[f]));
      for (std::size_t d = 0; d < x.size(); ++d) x[d] += static_cast<double>(row[d]);
    }
    std::vector<double> out;
    for (index_t hop = 0; hop < settings.hops; ++hop) {
      for (index_t h = 0; h < weights.columns(); ++h) {
        double sum = 0;
        for (std::size_t d = 0; d < x.size(); ++d) {
          sum += x[d] * static_cast<double>(weights(hop * features.columns() + static_cast<index_t>(d), h));
        }
        out.push_back(sum / static_cast<double>(attributes.size()));
      }
    }
    return out;
  }

  /// Shapes: [nodes, nodes, heads].
  [[nodiscard]] std::vector<double> means(const table<Element>& features, const table<Element>& weights, index_t g,
                                          const edge_path_settings& settings) const {
    const coordinate::graph& of = graphs_.of(g);
    std::map<std::pair<index_t, index_t>, std::vector<double>> edges;
    std::vector<double> out(static_cast<std::size_t>(of.nodes() * of.nodes() * heads_));
    for (index_t i = 0; i < of.nodes(); ++i) {
      for (index_t j = 0; j < of.nodes(); ++j) {
        const auto nodes = graphs_.paths(g).path(i, j);
        const auto length = nodes.empty() ? index_t{0} : static_cast<index_t>(nodes.size()) - 1;
        require(length <= settings.hops || settings.longer != longer_paths::refused, errc::graph_structure, "edge path",
                text("path from node {} to node {} of graph {}", i, j, g),
                text("at most {} hops (or longer_paths::cut)", settings.hops), length);
        if (length > settings.hops && settings.longer == longer_paths::nothing) continue;
        const index_t read = std::min(length, index_t{settings.hops});
        for (index_t hop = 0; hop < read; ++hop) {
          const std::pair edge{nodes[static_cast<std::size_t>(hop)], nodes[static_cast<std::size_t>(hop + 1)]};
          auto known = edges.find(edge);
          if (known == edges.end()) {
            const auto attributes = of.attributes_of(edge.first, edge.second);
            known = edges.emplace(edge, projected(features, weights, attributes, settings)).first;
          }
          for (index_t h = 0; h < heads_; ++h) {
            out[static_cast<std::size_t>((i * of.nodes() + j) * heads_ + h)] +=
                known->second[static_cast<std::size_t>(hop * heads_ + h)];
          }
        }
        for (index_t h = 0; h < heads_ && read > 0; ++h) {
          out[static_cast<std::size_t>((i * of.nodes() + j) * heads_ + h)] /= static_cast<double>(read);
        }
      }
    }
    return out;
  }

  /// Calls visit(pair, hop, edges read, attributes) for every edge that the mean of a pair reads.
  template <class Visit>
  void each_edge_of_paths(index_t g, const Visit& visit) const {
    const coordinate::graph& of = graphs_.of(g);
    for (index_t pair = 0; pair < of.nodes() * of.nodes(); ++pair) {
      const auto nodes = graphs_.paths(g).path(pair / of.nodes(), pair % of.nodes());
      const auto length = nodes.empty() ? index_t{0} : static_cast<index_t>(nodes.size()) - 1;
      if (length > settings_.hops && settings_.longer == longer_paths::nothing) continue;
      const index_t read = std::min(length, index_t{settings_.hops});
      for (index_t hop = 0; hop < read; ++hop) {
        const auto at = static_cast<std::size_t>(hop);
        const auto attributes = of.attributes_of(nodes[at], nodes[at + 1]);
        visit(pair, hop, read, std::span<const index_t>(attributes));
      }
    }
  }
  /// What d, the gradient of x_e . w_hop of one head, gives the features of the edge and the weights of the hop.
  template <class T>
  void add_edge(index_t hop, index_t h, std::span<const index_t> attributes, T d, table_gradients<T, 2>& to) const {
    const T share = d / static_cast<T>(attributes.size());
    for (std::size_t f = 0; f < attributes.size(); ++f) {
      const index_t row = settings_.rows(static_cast<index_t>(f), attributes[f]);
      for (index_t c = 0; c < features_.columns(); ++c) {
        const index_t weight = hop * features_.columns() + c;
        to[0].add(row, c, share * static_cast<T>(weights_(weight, h)));
        to[1].add(weight, h, share * static_cast<T>(features_(row, c)));
      }
    }
  }

  table<Element> features_;
  table<Element> weights_;
  edge_path_settings settings_;
  coordinate::graph_rows graphs_;
  index_t heads_;
  std::shared_ptr<const std::vector<std::vector<double>>> means_;
};

}  // namespace posgeo::bias
