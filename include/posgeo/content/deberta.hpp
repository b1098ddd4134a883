// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/content/content_term.hpp>
#include <posgeo/content/span_side.hpp>
#include <posgeo/core/described_tables.hpp>
#include <posgeo/core/head_parts.hpp>
#include <posgeo/core/narrow.hpp>
#include <posgeo/core/reads.hpp>
#include <posgeo/core/row_product.hpp>
#include <posgeo/core/table_gradient.hpp>

#include <optional>

namespace posgeo::content {

/// Which row the position-to-content term reads. The paper and its own release disagree.
enum class p2c_index {
  released_code,  ///< that of query - key, as content-to-position does: what checkpoints were trained with
  paper,          ///< that of key - query, delta(j, i)
};

[[nodiscard]] constexpr std::string_view name_of(p2c_index index) noexcept {
  return index == p2c_index::paper ? "paper" : "released_code";
}

/// The position terms of a score, at least one of them. None is an attention without the policy, and
/// position-to-position does not exist here.
class deberta_terms {
 public:
  [[nodiscard]] static constexpr deberta_terms c2p() noexcept { return {true, std::nullopt}; }
  [[nodiscard]] static constexpr deberta_terms p2c(p2c_index index) noexcept { return {false, index}; }
  [[nodiscard]] static constexpr deberta_terms both(p2c_index index) noexcept { return {true, index}; }
  /// The terms of a checkpoint's pos_att_type: "c2p", "p2c", "c2p|p2c" or "p2c|c2p".
  /// Throws: errc::term_set for any other name, a name twice, or none.
  [[nodiscard]] static deberta_terms parse(std::string_view names, p2c_index index) {
    bool has_c2p = false;
    bool has_p2c = false;
    for (std::string_view rest = names;;) {
      const auto bar = rest.find('|');
      const std::string_view name = rest.substr(0, bar);
      require(name == "c2p" || name == "p2c", errc::term_set, "deberta terms", text("name in '{}'", names),
              "c2p or p2c", text("'{}'", name));
      bool& named = name == "c2p" ? has_c2p : has_p2c;
      require(!named, errc::term_set, "deberta terms", text("name in '{}'", names), "each once",
              text("'{}' twice", name));
      named = true;
      if (bar == std::string_view::npos) break;
      rest.remove_prefix(bar + 1);
    }
    return {has_c2p, has_p2c ? std::optional(index) : std::nullopt};
  }

  [[nodiscard]] constexpr bool has_c2p() const noexcept { return c2p_; }
  [[nodiscard]] constexpr bool has_p2c() const noexcept { return p2c_.has_value(); }
  [[nodiscard]] constexpr std::optional<p2c_index> index() const noexcept { return p2c_; }
  [[nodiscard]] constexpr index_t count() const noexcept { return (has_c2p() ? 1 : 0) + (has_p2c() ? 1 : 0); }

 private:
  constexpr deberta_terms(bool c2p, std::optional<p2c_index> p2c) noexcept : c2p_(c2p), p2c_(p2c) {}
  bool c2p_;
  std::optional<p2c_index> p2c_;
};

/// The relative table through the projections of the terms; a term that is not enabled has none.
template <class Element>
struct deberta_tables {
  std::optional<head_tables<Element>> position_keys = std::nullopt;     ///< c2p reads it with the query
  std::optional<head_tables<Element>> position_queries = std::nullopt;  ///< p2c reads it with the key
};

/// Adds q_i . Kpos[row(query - key)] (c2p) and k_j . Qpos[row] (p2c, whose row p2c_index tells).
/// Shapes: tables [1 or query heads, span.rows(), head_dim]. Query head h reads its own tables, with the row of the key
///         head that it shares.
/// Units:  raw score, before the scale: name scale::inverse_sqrt_terms, which counts the enabled terms.
/// Throws: errc::term_set if the tables are not exactly those of the terms, errc::table_rows unless they have 2 * span
///         rows, when built; errc::head_count, errc::shape_mismatch, errc::frame_mismatch and errc::non_finite when
///         compiled.
/// Source: He et al. 2021 (DeBERTa), equations 2 to 4, and the release, disentangled_attention.py.
template <class Element>
class deberta {
 public:
  using family = posgeo::family::content_term;

  deberta(deberta_terms terms, coordinate::deberta_span span, deberta_tables<Element> tables)
      : terms_(terms), span_(std::move(span)), tables_(std::move(tables)) {
    violations found;
    const auto expect_table = [&](bool enabled, const auto& rows, std::string_view name) {
      found.expect(enabled == rows.has_value(), errc::term_set, "deberta", name,
                   enabled ? "a table, since the term is enabled" : "none, since the term is not enabled",
                   enabled ? "none" : "a table");
      if (!rows) return;
      found.expect(rows->rows() == span_.rows(), errc::table_rows, "deberta", text("rows of the {}", name),
                   text("{}, twice the span", span_.rows()), rows->rows());
    };
    expect_table(terms.has_c2p(), tables_.position_keys, "position keys of c2p");
    expect_table(terms.has_p2c(), tables_.position_queries, "position queries of p2c");
    found.throw_if_any();
  }

  [[nodiscard]] const deberta_terms& terms() const noexcept { return terms_; }
  [[nodiscard]] const coordinate::deberta_span& span() const noexcept { return span_; }
  [[nodiscard]] index_t dot_products() const noexcept { return terms_.count(); }

  [[nodiscard]] static constexpr reads positional_reads() noexcept { return reads::offset; }
  /// A term that is not enabled is an absent table.
  [[nodiscard]] description describe() const {
    return description("deberta")
        .with("key_table", described_tables(tables_.position_keys))
        .with("key_table_axes", axes_of(tables_.position_keys))
        .with("query_table", described_tables(tables_.position_queries))
        .with("query_table_axes", axes_of(tables_.position_queries))
        .with("p2c_index", terms_.index() ? std::optional(name_of(*terms_.index())) : std::nullopt)
        .with("rule", span_.describe());
  }

  [[nodiscard]] deberta part(const head_slice& slice) const {
    deberta_tables<Element> tables;
    if (tables_.position_keys) tables.position_keys = tables_of(*tables_.position_keys, slice, "deberta c2p");
    if (tables_.position_queries) tables.position_queries = tables_of(*tables_.position_queries, slice, "deberta p2c");
    return {terms_, span_, std::move(tables)};
  }

  void check(const position_call& call, const heads& layout, violations& found) const {
    if (tables_.position_keys) tables_.position_keys->check(layout.query, layout.dim, "deberta c2p", found);
    if (tables_.position_queries) tables_.position_queries->check(layout.query, layout.dim, "deberta p2c", found);
    expect_same_frame(call, "deberta", found);
  }

  template <class T>
  class term {
   public:
    [[nodiscard]] T operator()(batch_index b, head_index h, query_index i, key_index j, std::span<const T> query,
                               std::span<const T> key) const noexcept {
      const relative_offset offset = call_.offset(b, i, j);
      T sum{0};
      if (const auto c2p = query_side()) sum += row_product(query, c2p->table_row(h, c2p->of(offset)));
      if (const auto p2c = key_side()) sum += row_product(key, p2c->table_row(h, p2c->of(offset)));
      return sum;
    }
    /// c2p, if it is enabled.
    [[nodiscard]] std::optional<span_side<T, Element>> query_side() const noexcept {
      if (!policy_.tables_.position_keys) return std::nullopt;
      return span_side<T, Element>(*policy_.tables_.position_keys, policy_.span_, offset_sign::key_minus_query);
    }
    /// p2c, if it is enabled.
    [[nodiscard]] std::optional<span_side<T, Element>> key_side() const noexcept {
      if (!policy_.tables_.position_queries) return std::nullopt;
      return span_side<T, Element>(
          *policy_.tables_.position_queries, policy_.span_,
          policy_.terms_.index() == p2c_index::paper ? offset_sign::query_minus_key : offset_sign::key_minus_query);
    }
    [[nodiscard]] table_gradients<T, 2> gradient() const {
      return table_gradients<T, 2>(table_gradient<T>("key_table", policy_.tables_.position_keys),
                                   table_gradient<T>("query_table", policy_.tables_.position_queries));
    }
    void add_gradient(batch_index b, head_index h, query_index i, key_index j, std::span<const T> query,
                      std::span<const T> key, T d, std::span<T> d_query, std::span<T> d_key,
                      table_gradients<T, 2>& to) const noexcept {
      const relative_offset offset = call_.offset(b, i, j);
      if (const auto c2p = query_side()) {
        add_scaled(d, c2p->table_row(h, c2p->of(offset)), d_query);
        to[0].add_row(*policy_.tables_.position_keys, h, c2p->of(offset), query, d);
      }
      if (const auto p2c = key_side()) {
        add_scaled(d, p2c->table_row(h, p2c->of(offset)), d_key);
        to[1].add_row(*policy_.tables_.position_queries, h, p2c->of(offset), key, d);
      }
    }

   private:
    friend class deberta;
    term(deberta policy, position_call call) : policy_(std::move(policy)), call_(std::move(call)) {}
    deberta policy_;
    position_call call_;
  };

  template <class T>
  [[nodiscard]] term<T> compile(const position_call& call, const heads& layout) const {
    require_fit(*this, call, layout);
    if (tables_.position_keys) require_fits<T>(tables_.position_keys->values(), "deberta c2p");
    if (tables_.position_queries) require_fits<T>(tables_.position_queries->values(), "deberta p2c");
    return {*this, call};
  }

 private:
  deberta_terms terms_;
  coordinate::deberta_span span_;
  deberta_tables<Element> tables_;
};

}  // namespace posgeo::content
