// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/content/shaw_key.hpp>
#include <posgeo/core/described_tables.hpp>
#include <posgeo/core/head_parts.hpp>
#include <posgeo/core/positional_range.hpp>
#include <posgeo/core/reads.hpp>

namespace posgeo::content {

/// BERT's rows: query - key + P - 1 in a table of 2P - 1 rows; a distance of P or more is refused, not clipped.
/// Throws: errc::bucket_settings for a P that is not from 1 to 2^31.
[[nodiscard]] inline coordinate::clipped bert_offsets(index_t max_position_embeddings) {
  require(max_position_embeddings >= 1 && max_position_embeddings <= index_t{1} << 31, errc::bucket_settings,
          "relative key", "max_position_embeddings", "from 1 to 2^31", max_position_embeddings);
  const index_t furthest = max_position_embeddings - 1;
  return coordinate::clipped({.behind = furthest,
                              .ahead = furthest,
                              .sign = offset_sign::query_minus_key,
                              .beyond = coordinate::beyond_ends::refused});
}

/// BERT's relative_key: adds query . E[query - key + P - 1].
/// Shapes: E [2P - 1, head_dim], shared by the heads.
/// Units:  offsets in tokens.
/// Throws: see bert_offsets and shaw_key.
/// Source: BertSelfAttention with position_embedding_type = relative_key, in Hugging Face Transformers.
template <class Element>
[[nodiscard]] shaw_key<Element> relative_key(table<Element> distance_embedding, index_t max_position_embeddings) {
  return {head_tables<Element>::shared(std::move(distance_embedding)), bert_offsets(max_position_embeddings)};
}

/// BERT's relative_key_query: adds query . E[query - key + P - 1] + key . E[query - key + P - 1].
/// Shapes: E [2P - 1, head_dim], shared by the heads.
/// Units:  offsets in tokens.
/// Throws: see bert_offsets and shaw_key.
/// Source: BertSelfAttention with position_embedding_type = relative_key_query; Huang et al. 2020, method 4.
template <class Element>
class relative_key_query {
 public:
  using family = posgeo::family::content_term;

  relative_key_query(table<Element> distance_embedding, index_t max_position_embeddings)
      : query_side_(relative_key(std::move(distance_embedding), max_position_embeddings)) {}

  [[nodiscard]] description describe() const {
    return description("relative_key_query")
        .with("table", described_tables(query_side_.rows()))
        .with("table_axes", axes_of(query_side_.rows()))
        .with("rule", query_side_.classes().describe());
  }

  [[nodiscard]] reads positional_reads() const noexcept { return query_side_.positional_reads(); }
  [[nodiscard]] positional_range range() const noexcept { return query_side_.range(); }

  /// Itself: the heads share its table.
  [[nodiscard]] relative_key_query part(const head_slice&) const { return *this; }

  void check(const position_call& call, const heads& layout, violations& found) const {
    query_side_.check(call, layout, found);
  }

  template <class T>
  class term {
   public:
    [[nodiscard]] T operator()(batch_index b, head_index h, query_index i, key_index j, std::span<const T> query,
                               std::span<const T> key) const noexcept {
      const auto row = query_side_.row(b, h, i, j);
      return row_product(query, row) + row_product(key, row);
    }
    [[nodiscard]] auto query_side() const noexcept { return query_side_.query_side(); }
    /// The key meets the rows that the query does.
    [[nodiscard]] auto key_side() const noexcept { return query_side_.query_side(); }
    [[nodiscard]] table_gradients<T, 1> gradient() const { return query_side_.gradient(); }
    /// The table meets the query, and in the same row the key.
    void add_gradient(batch_index b, head_index h, query_index i, key_index j, std::span<const T> query,
                      std::span<const T> key, T d, std::span<T> d_query, std::span<T> d_key,
                      table_gradients<T, 1>& to) const noexcept {
      query_side_.add_gradient(b, h, i, j, query, key, d, d_query, d_key, to);
      query_side_.add_gradient(b, h, i, j, key, query, d, d_key, d_query, to);
    }

   private:
    friend class relative_key_query;
    using query_term = typename shaw_key<Element>::template term<T>;
    explicit term(query_term query_side) : query_side_(std::move(query_side)) {}
    query_term query_side_;
  };

  template <class T>
  [[nodiscard]] term<T> compile(const position_call& call, const heads& layout) const {
    return term<T>(query_side_.template compile<T>(call, layout));
  }

 private:
  shaw_key<Element> query_side_;
};

}  // namespace posgeo::content
