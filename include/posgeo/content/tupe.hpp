// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/content/content_term.hpp>
#include <posgeo/core/described_tables.hpp>
#include <posgeo/core/head_parts.hpp>
#include <posgeo/core/head_tables.hpp>
#include <posgeo/core/narrow.hpp>
#include <posgeo/core/positional_range.hpp>
#include <posgeo/core/reads.hpp>
#include <posgeo/core/table_gradient.hpp>

#include <algorithm>
#include <cmath>
#include <optional>

namespace posgeo::content {

/// What becomes of the position product of the [CLS] row. There is no default.
class tupe_cls {
 public:
  /// Nothing: [CLS] is a row like any other, and position t reads table row t.
  [[nodiscard]] static constexpr tupe_cls untouched() noexcept { return tupe_cls{std::nullopt}; }
  /// The release's: position t reads table row t + 1. Every query reads the product P[1, 1] for the [CLS] key; then the
  /// [CLS] query reads P[0, 0] for every key, its own included. A call in which no row stands at `cls` has neither.
  [[nodiscard]] static constexpr tupe_cls released(position cls) noexcept { return tupe_cls{cls}; }

  [[nodiscard]] constexpr index_t row_offset() const noexcept { return cls_ ? 1 : 0; }
  [[nodiscard]] constexpr bool is_cls(position p) const noexcept { return cls_ == p; }
  /// Where [CLS] stands, if there is a rule for it.
  [[nodiscard]] constexpr std::optional<position> cls() const noexcept { return cls_; }

 private:
  constexpr explicit tupe_cls(std::optional<position> cls) noexcept : cls_(cls) {}
  std::optional<position> cls_;
};

/// The position table through the projections of TUPE's own.
/// Shapes: each [1 or query heads, rows, head_dim], as content::projected_rows leaves it.
template <class Element>
struct tupe_tables {
  head_tables<Element> queries;  ///< through W_Q (pos_q_linear)
  head_tables<Element> keys;     ///< through W_K (pos_k_linear)
};

/// Adds P[i, j] = (p_i W_Q) . (p_j W_K), whatever the content: TUPE-A. The position rows are projected once; every copy
/// of the policy, one for each layer, shares them. It is 0 for padding keys, and for padding queries without a row.
/// Shapes: position queries and keys [1 or query heads, rows, head_dim].
/// Units:  raw score, before the scale: name scale::inverse_sqrt_terms, which gives 1 / sqrt(2 * head_dim).
/// Throws: errc::table_rows if the two tables differ in rows, or have too few for the rule, errc::special_row for a
///         [CLS] without a row, when built; errc::position_out_of_table for a token without a row, errc::head_count,
///         errc::shape_mismatch, errc::frame_mismatch and errc::non_finite, also for a product, when compiled.
/// Source: Ke, He and Liu 2021 (TUPE), equation 7 and section 3.2, and the release, transformer_sentence_encoder.py.
template <class Element>
class tupe {
 public:
  using family = posgeo::family::content_term;

  tupe(tupe_tables<Element> positions, tupe_cls cls)
      : queries_(std::move(positions.queries)), keys_(std::move(positions.keys)), cls_(cls) {
    require(queries_.rows() == keys_.rows(), errc::table_rows, "tupe", "rows of the position keys",
            text("{}, as the position queries", queries_.rows()), keys_.rows());
    require(queries_.rows() > cls.row_offset(), errc::table_rows, "tupe", "rows of the position queries",
            "2 or more where [CLS] has a row of its own", queries_.rows());
    const index_t at = cls.cls().value_or(position{0}).value();
    require(at >= 0 && at < capacity(), errc::special_row, "tupe", "position of [CLS]",
            text("0..{} ({} rows)", capacity() - 1, queries_.rows()), at);
  }

  [[nodiscard]] const head_tables<Element>& position_queries() const noexcept { return queries_; }
  [[nodiscard]] const head_tables<Element>& position_keys() const noexcept { return keys_; }
  /// How many positions have a row: 0 .. capacity() - 1.
  [[nodiscard]] index_t capacity() const noexcept { return queries_.rows() - cls_.row_offset(); }
  [[nodiscard]] index_t dot_products() const noexcept { return 1; }
  /// An attention refuses policies whose [CLS] stands at different places.
  [[nodiscard]] std::optional<position> cls() const noexcept { return cls_.cls(); }

  [[nodiscard]] static constexpr posgeo::reads positional_reads() noexcept {
    return posgeo::reads::absolute | posgeo::reads::padding;
  }
  [[nodiscard]] positional_range range() const noexcept {
    return {.lowest_position = 0, .highest_position = capacity() - 1};
  }

  /// Where [CLS] is a row like any other, it is absent.
  [[nodiscard]] description describe() const {
    return description("tupe")
        .with("query_table", described_tables(queries_))
        .with("query_table_axes", axes_of(queries_))
        .with("key_table", described_tables(keys_))
        .with("key_table_axes", axes_of(keys_))
        .with("cls", cls() ? std::optional(cls()->value()) : std::nullopt);
  }

  [[nodiscard]] tupe part(const head_slice& slice) const {
    return {{.queries = tables_of(queries_, slice, "tupe position queries"),
             .keys = tables_of(keys_, slice, "tupe position keys")},
            cls_};
  }

  void check(const position_call& call, const heads& layout, violations& found) const {
    queries_.check(layout.query, layout.dim, "tupe position queries", found);
    keys_.check(layout.query, layout.dim, "tupe position keys", found);
    expect_same_frame(call, "tupe", found);
    for (const batch_index b : indices<batch_index>(call.batch())) {
      for (const query_index i : indices<query_index>(call.queries())) {
        if (call.active(b, i)) expect_row(call.at(b, i), "query", b, found);
      }
      for (const key_index j : indices<key_index>(call.keys())) {
        if (call.active(b, j)) expect_row(call.at(b, j), "key", b, found);
      }
    }
  }

  template <class T>
  class term {
   public:
    [[nodiscard]] T operator()(batch_index b, head_index h, query_index i, key_index j, std::span<const T>,
                               std::span<const T>) const noexcept {
      if (!policy_.reads(call_, b, i, j)) return T{0};
      return static_cast<T>(policy_.product(h, call_.at(b, i), call_.at(b, j)));
    }
    [[nodiscard]] std::optional<position> cls() const noexcept { return policy_.cls(); }
    /// Summed in T: where the tables hold numbers near its largest, partial sums may not fit.
    [[nodiscard]] index_t appended_dim() const noexcept { return policy_.keys_.dim() + (policy_.cls() ? 2 : 0); }
    [[nodiscard]] index_t append_tables() const noexcept { return policy_.keys_.tables(); }
    void append_query(batch_index b, head_index h, query_index i, std::span<T> out) const noexcept {
      const position p = call_.at(b, i);
      std::fill(out.begin(), out.end(), T{0});
      if (!policy_.has_row(p)) return;
      const auto width = static_cast<std::size_t>(policy_.keys_.dim());
      if (policy_.cls_.is_cls(p)) {
        out[width + 1] = finite_cast<T>(policy_.product_of_rows(h, 0, 0));  // meets every key
        return;
      }
      coordinate::write_row(policy_.queries_.row(h, p.value() + policy_.cls_.row_offset()), out);
      if (policy_.cls()) out[width] = finite_cast<T>(policy_.product_of_rows(h, 1, 1));  // meets the [CLS] key
    }
    void append_key(batch_index b, head_index h, key_index j, std::span<T> out) const noexcept {
      const position p = call_.at(b, j);
      std::fill(out.begin(), out.end(), T{0});
      if (!call_.active(b, j)) return;
      const auto width = static_cast<std::size_t>(policy_.keys_.dim());
      if (policy_.cls()) out[width + 1] = T{1};
      if (policy_.cls_.is_cls(p)) {
        out[width] = T{1};
        return;
      }
      coordinate::write_row(policy_.keys_.row(h, p.value() + policy_.cls_.row_offset()), out);
    }
    [[nodiscard]] table_gradients<T, 2> gradient() const {
      return table_gradients<T, 2>(table_gradient<T>("query_table", policy_.queries_),
                                   table_gradient<T>("key_table", policy_.keys_));
    }
    /// Of the two position rows that the pair reads, be it for [CLS]; the content gets nothing.
    void add_gradient(batch_index b, head_index h, query_index i, key_index j, std::span<const T>, std::span<const T>,
                      T d, std::span<T>, std::span<T>, table_gradients<T, 2>& to) const noexcept {
      if (!policy_.reads(call_, b, i, j)) return;
      const auto [query, key] = policy_.rows_of_pair(call_.at(b, i), call_.at(b, j));
      to[0].add_row(policy_.queries_, h, query, policy_.keys_.row(h, key), d);
      to[1].add_row(policy_.keys_, h, key, policy_.queries_.row(h, query), d);
    }

   private:
    friend class tupe;
    term(tupe policy, position_call call) : policy_(std::move(policy)), call_(std::move(call)) {}
    tupe policy_;
    position_call call_;
  };

  template <class T>
  [[nodiscard]] term<T> compile(const position_call& call, const heads& layout) const {
    require_fit(*this, call, layout);
    require_fits<T>(queries_.values(), "tupe position queries");
    require_fits<T>(keys_.values(), "tupe position keys");
    const double most = largest(queries_) * largest(keys_) * static_cast<double>(layout.dim);
    if (!fits<T>(2.0 * most)) require_products<T>(call, layout);
    return {*this, call};
  }

 private:
  [[nodiscard]] bool has_row(position p) const noexcept { return p.value() >= 0 && p.value() < capacity(); }
  /// Whether a pair has a product: padding may stand outside the table, and as a key nobody sees it.
  [[nodiscard]] bool reads(const position_call& call, batch_index b, query_index i, key_index j) const noexcept {
    return call.active(b, j) && has_row(call.at(b, i));
  }
  void expect_row(position p, std::string_view side, batch_index b, violations& found) const {
    found.expect(has_row(p), errc::position_out_of_table, "tupe", text("{} position in entry {}", side, b.value()),
                 text("0..{} ({} rows)", capacity() - 1, queries_.rows()), p.value());
  }

  [[nodiscard]] static double largest(const head_tables<Element>& rows) noexcept {
    double most = 0.0;
    for (const Element value : rows.values()) most = std::max(most, std::abs(static_cast<double>(value)));
    return most;
  }
  /// Asks each product of a call, for tables whose products need not all fit.
  template <class T>
  void require_products(const position_call& call, const heads& layout) const {
    for (const batch_index b : indices<batch_index>(call.batch())) {
      for (const head_index h : indices<head_index>(layout.query)) {
        for (const query_index i : indices<query_index>(call.queries())) {
          for (const key_index j : indices<key_index>(call.keys())) {
            if (!reads(call, b, i, j)) continue;
            const double value = product(h, call.at(b, i), call.at(b, j));
            require(fits<T>(value), errc::non_finite, "tupe",
                    text("product of positions {} and {}, head {}", call.at(b, i).value(), call.at(b, j).value(),
                         h.value()),
                    "a number that the type of the plan can hold", value);
          }
        }
      }
    }
  }

  [[nodiscard]] double product(head_index h, position query, position key) const noexcept {
    const auto [query_row, key_row] = rows_of_pair(query, key);
    return product_of_rows(h, query_row, key_row);
  }
  /// The table rows whose product a pair reads.
  [[nodiscard]] std::pair<index_t, index_t> rows_of_pair(position query, position key) const noexcept {
    if (cls_.is_cls(query)) return {0, 0};
    if (cls_.is_cls(key)) return {1, 1};
    return {query.value() + cls_.row_offset(), key.value() + cls_.row_offset()};
  }
  [[nodiscard]] double product_of_rows(head_index h, index_t query_row, index_t key_row) const noexcept {
    const auto query = queries_.row(h, query_row);
    const auto key = keys_.row(h, key_row);
    double sum = 0.0;
    for (std::size_t d = 0; d < query.size(); ++d) sum += static_cast<double>(query[d]) * static_cast<double>(key[d]);
    return sum;
  }

  head_tables<Element> queries_;
  head_tables<Element> keys_;
  tupe_cls cls_;
};

}  // namespace posgeo::content
