// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/coordinate/graph_rows.hpp>
#include <posgeo/core/description.hpp>
#include <posgeo/core/reads.hpp>
#include <posgeo/core/required.hpp>
#include <posgeo/visible/visibility.hpp>

namespace posgeo::visible {

/// Whether two nodes without a path between them see each other.
enum class unreachable_pairs { hidden, seen };

[[nodiscard]] constexpr std::string_view name_of(unreachable_pairs pairs) noexcept {
  return pairs == unreachable_pairs::hidden ? "hidden" : "seen";
}

struct within_hops_settings {
  required<index_t> most;  ///< edges of the longest path along which a node is seen
  required<unreachable_pairs> unreachable;

  /// The release: hidden are pairs whose distance, 510 if there is none, is at least spatial_pos_max.
  [[nodiscard]] static within_hops_settings graphormer(index_t spatial_pos_max) {
    return {.most = saturating_subtract(spatial_pos_max, 1),
            .unreachable = spatial_pos_max <= 510 ? unreachable_pairs::hidden : unreachable_pairs::seen};
  }
  /// Transformers compares distance + 1, and so hides one hop earlier.
  [[nodiscard]] static within_hops_settings transformers(index_t spatial_pos_max) {
    return graphormer(saturating_subtract(spatial_pos_max, 1));
  }
};

/// A node sees the nodes of its graph that a path of at most `most` edges leads to. The graph token sees all and is
/// seen by all. Padding and other graphs are the matter of visible::active and visible::segments.
/// Shapes: one answer for each (batch, query, key).
/// Units:  edges.
/// Throws: errc::window_bounds for a negative reach, when built; what graph_rows refuses, when compiled.
/// Source: the released Graphormer collator (spatial_pos_max), which adds -infinity instead.
class within_hops {
 public:
  using family = posgeo::family::visibility;

  within_hops(coordinate::graph_rows graphs, const within_hops_settings& settings)
      : graphs_(std::move(graphs)), settings_(settings) {
    require(settings.most >= 0, errc::window_bounds, "within_hops", "most", "at least 0", index_t{settings.most});
  }

  [[nodiscard]] const coordinate::graph_rows& graphs() const noexcept { return graphs_; }
  [[nodiscard]] static constexpr reads positional_reads() noexcept { return reads::name | reads::padding; }
  [[nodiscard]] description describe() const {
    return description("within_hops")
        .with("most", index_t{settings_.most})
        .with("unreachable", name_of(settings_.unreachable))
        .with("graphs", graphs_.describe());
  }
  [[nodiscard]] hides hidden() const noexcept { return hides::distant; }
  void check(const position_call& call, const heads&, violations& found) const {
    graphs_.check(call, "within_hops", found);
  }

  class term {
   public:
    term(coordinate::graph_rows graphs, const within_hops_settings& settings, position_call call)
        : graphs_(std::move(graphs)), settings_(settings), call_(std::move(call)) {}
    [[nodiscard]] bool operator()(batch_index b, query_index i, key_index j) const noexcept {
      const auto from = graphs_.place(call_.query_space(), b.value(), i.value());
      const auto to = graphs_.place(call_.key_space(), b.value(), j.value());
      constexpr auto node = coordinate::graph_place::kind::node;
      if (from.is != node || to.is != node || from.graph != to.graph) return true;
      const auto distance = graphs_.paths(from.graph).distance(from.node, to.node);
      return distance ? *distance <= settings_.most : settings_.unreachable == unreachable_pairs::seen;
    }
    [[nodiscard]] key_range keys(batch_index, query_index) const noexcept {
      return {key_index{0}, key_index{call_.keys()}};
    }

   private:
    coordinate::graph_rows graphs_;
    within_hops_settings settings_;
    position_call call_;
  };

  template <class T>
  [[nodiscard]] term compile(const position_call& call, const heads& layout) const {
    require_fit(*this, call, layout);
    return term{graphs_, settings_, call};
  }

 private:
  coordinate::graph_rows graphs_;
  within_hops_settings settings_;
};

}  // namespace posgeo::visible
