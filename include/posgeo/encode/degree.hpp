// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/coordinate/graph_rows.hpp>
#include <posgeo/core/narrow.hpp>
#include <posgeo/core/reads.hpp>
#include <posgeo/core/required.hpp>
#include <posgeo/core/table.hpp>
#include <posgeo/encode/state_encoder.hpp>

namespace posgeo::encode {

/// Which edges the two degrees of a node count.
enum class degree_count {
  by_direction,       ///< in-degree: edges that arrive; out-degree: edges that leave (the paper)
  outgoing_for_both,  ///< both count the edges that leave (the release, made for undirected graphs)
};

[[nodiscard]] constexpr std::string_view name_of(degree_count count) noexcept {
  return count == degree_count::by_direction ? "by_direction" : "outgoing_for_both";
}

/// What a degree beyond the last table row does.
enum class high_degree { refused, last_row };

[[nodiscard]] constexpr std::string_view name_of(high_degree beyond) noexcept {
  return beyond == high_degree::refused ? "refused" : "last_row";
}

struct degree_settings {
  required<index_t> row_offset;  ///< table row = degree + row_offset (release: 1, row 0 being padding)
  required<degree_count> count;
  high_degree beyond = high_degree::refused;
};

/// A row for each number of edges that arrive at a node, and one for each that leave it.
template <class Element>
struct degree_tables {
  table<Element> in;
  table<Element> out;
};

/// Adds in_table[in-degree + row_offset] and out_table[out-degree + row_offset] to the row of a node; nothing to
/// padding and nothing to the graph token.
///
/// Shapes: tables [rows, width]; states [batch, rows of the call, width].
/// Units:  edges.
/// Throws: errc::shape_mismatch for tables of different widths, errc::table_rows for an offset outside,
///         errc::graph_structure for a degree beyond the tables, when built; errc::non_finite for rows or a sum of rows
///         that T cannot hold and what graph_rows refuses, when compiled.
/// Source: Ying et al. 2021, section 3.1.1, equation 5 (centrality encoding).
template <class Element>
class degree {
 public:
  using family = posgeo::family::state_encoder;

  degree(degree_tables<Element> tables, coordinate::graph_rows graphs, const degree_settings& settings)
      : in_(std::move(tables.in)), out_(std::move(tables.out)), graphs_(std::move(graphs)), settings_(settings) {
    violations found;
    found.expect(in_.columns() == out_.columns(), errc::shape_mismatch, "degree", "width of the out-degree table",
                 in_.columns(), out_.columns());
    const index_t rows = std::min(in_.rows(), out_.rows());
    found.expect(settings.row_offset >= 0 && settings.row_offset < rows, errc::table_rows, "degree", "row_offset",
                 text("from 0 to below {}", rows), settings.row_offset);
    found.throw_if_any();
    for (index_t g = 0; g < graphs_.count() && settings.beyond == high_degree::refused; ++g) {
      for (index_t node = 0; node < graphs_.of(g).nodes(); ++node) {
        const auto expect_row = [&](index_t d, const table<Element>& of, std::string_view which) {
          found.expect(d < of.rows() - settings.row_offset, errc::graph_structure, "degree",
                       text("{} of node {} in graph {}", which, node, g),
                       text("at most {} (or high_degree::last_row)", of.rows() - settings.row_offset - 1), d);
        };
        expect_row(in_degree(g, node), in_, "in-degree");
        expect_row(graphs_.of(g).out_degree(node), out_, "out-degree");
      }
    }
    found.throw_if_any();
  }

  [[nodiscard]] index_t width() const noexcept { return in_.columns(); }
  [[nodiscard]] static constexpr reads positional_reads() noexcept { return reads::name | reads::padding; }
  [[nodiscard]] description describe() const {
    return description("degree")
        .with("in_table", described_table(in_))
        .with("out_table", described_table(out_))
        .with("row_offset", index_t{settings_.row_offset})
        .with("count", name_of(settings_.count))
        .with("beyond", name_of(settings_.beyond))
        .with("graphs", graphs_.describe());
  }

  template <class T>
  class term {
   public:
    [[nodiscard]] index_t width() const noexcept { return policy_.width(); }
    void add_to(batch_index b, query_index i, std::span<T> row) const noexcept {
      const auto place = policy_.graphs_.place(call_.query_space(), b.value(), i.value());
      if (place.is != coordinate::graph_place::kind::node) return;
      const auto in = policy_.row(policy_.in_, policy_.in_degree(place.graph, place.node));
      const auto out = policy_.row(policy_.out_, policy_.graphs_.of(place.graph).out_degree(place.node));
      for (std::size_t c = 0; c < in.size(); ++c) {
        row[c] += static_cast<T>(static_cast<double>(in[c]) + static_cast<double>(out[c]));
      }
    }
    [[nodiscard]] table_gradients<T, 2> gradient() const {
      return table_gradients<T, 2>(table_gradient<T>("in_table", policy_.in_),
                                   table_gradient<T>("out_table", policy_.out_));
    }
    void add_gradient(batch_index b, query_index i, std::span<const T> d_row,
                      table_gradients<T, 2>& to) const noexcept {
      const auto place = policy_.graphs_.place(call_.query_space(), b.value(), i.value());
      if (place.is != coordinate::graph_place::kind::node) return;
      to[0].add_row(policy_.row_number(policy_.in_, policy_.in_degree(place.graph, place.node)), d_row, T{1});
      to[1].add_row(policy_.row_number(policy_.out_, policy_.graphs_.of(place.graph).out_degree(place.node)), d_row,
                    T{1});
    }

   private:
    friend class degree;
    term(degree policy, position_call call) : policy_(std::move(policy)), call_(std::move(call)) {}
    degree policy_;
    position_call call_;
  };

  void check(const position_call& call, violations& found) const { graphs_.check(call.query_space(), "degree", found); }

  template <class T>
  [[nodiscard]] term<T> compile(const position_call& call) const {
    violations found;
    check(call, found);
    found.throw_if_any();
    require_fits<T>(in_.values(), "degree");
    require_fits<T>(out_.values(), "degree");
    require_sums_fit<T>(in_.values(), out_.values(), "degree");
    return {*this, call};
  }

 private:
  [[nodiscard]] index_t in_degree(index_t g, index_t node) const noexcept {
    const coordinate::graph& of = graphs_.of(g);
    return settings_.count == degree_count::by_direction ? of.in_degree(node) : of.out_degree(node);
  }
  [[nodiscard]] index_t row_number(const table<Element>& of, index_t d) const noexcept {
    return std::min(d + settings_.row_offset, of.rows() - 1);
  }
  [[nodiscard]] std::span<const Element> row(const table<Element>& of, index_t d) const noexcept {
    return of.row(row_number(of, d));
  }

  table<Element> in_;
  table<Element> out_;
  coordinate::graph_rows graphs_;
  degree_settings settings_;
};

}  // namespace posgeo::encode
