// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/core/narrow.hpp>
#include <posgeo/core/positional_range.hpp>
#include <posgeo/core/reads.hpp>
#include <posgeo/core/required.hpp>
#include <posgeo/core/table.hpp>
#include <posgeo/encode/state_encoder.hpp>

namespace posgeo::encode {

struct learned_absolute_settings {
  required<index_t> row_offset;  ///< table row = position + row_offset (BERT: 0; BART, OPT: 2)
  padded_rows padding = padded_rows::by_position();
};

/// Adds table row position + row_offset.
/// Shapes: table [rows, width]; states [batch, rows of the call, width].
/// Units:  positions in tokens.
/// Throws: errc::table_rows when built with an offset or padding row outside the table; errc::position_out_of_table
/// when
///         compiled for a position without a row.
/// Source: Devlin et al. 2019, section 3 (BERT); row offsets: the fairseq, RoBERTa and OPT releases.
template <class Element>
class learned_absolute {
 public:
  using family = posgeo::family::state_encoder;

  explicit learned_absolute(table<Element> rows, const learned_absolute_settings& settings)
      : table_(std::move(rows)), settings_(settings) {
    violations found;
    found.expect(settings.row_offset >= 0 && settings.row_offset < table_.rows(), errc::table_rows, "learned_absolute",
                 "row_offset", text("a row below {}", table_.rows()), settings.row_offset);
    const bool own_row = settings.padding.how() == padded_rows::rule::table_row;
    const index_t row = settings.padding.row();
    found.expect(!own_row || (row >= 0 && row < table_.rows()), errc::table_rows, "learned_absolute", "padding row",
                 text("a row below {}", table_.rows()), row);
    found.throw_if_any();
  }

  /// How many positions have a row: 0 .. capacity() - 1.
  [[nodiscard]] index_t capacity() const noexcept { return table_.rows() - settings_.row_offset; }
  [[nodiscard]] index_t width() const noexcept { return table_.columns(); }
  [[nodiscard]] reads positional_reads() const noexcept {
    const bool told = settings_.padding.how() != padded_rows::rule::by_position;
    return reads::absolute | (told ? reads::padding : reads::nothing);
  }
  [[nodiscard]] positional_range range() const noexcept {
    return {.lowest_position = 0, .highest_position = capacity() - 1};
  }
  [[nodiscard]] description describe() const {
    return description("learned_absolute")
        .with("table", described_table(table_))
        .with("row_offset", index_t{settings_.row_offset})
        .with("padding", settings_.padding.describe());
  }

  template <class T>
  class term {
   public:
    [[nodiscard]] index_t width() const noexcept { return policy_.width(); }
    /// The table row that a storage row reads, or -1 for none.
    [[nodiscard]] index_t table_row(batch_index b, query_index i) const noexcept {
      return policy_.table_row(call_, b, i);
    }
    void add_to(batch_index b, query_index i, std::span<T> row) const noexcept {
      const index_t r = table_row(b, i);
      if (r < 0) return;
      const auto learned = policy_.table_.row(r);
      for (std::size_t c = 0; c < learned.size(); ++c) row[c] += static_cast<T>(learned[c]);
    }
    [[nodiscard]] table_gradients<T, 1> gradient() const {
      return table_gradients<T, 1>(table_gradient<T>("table", policy_.table_));
    }
    /// A position that stands in several rows sums what they get.
    void add_gradient(batch_index b, query_index i, std::span<const T> d_row,
                      table_gradients<T, 1>& to) const noexcept {
      const index_t r = table_row(b, i);
      if (r >= 0) to[0].add_row(r, d_row, T{1});
    }

   private:
    friend class learned_absolute;
    term(learned_absolute policy, position_call call) : policy_(std::move(policy)), call_(std::move(call)) {}
    learned_absolute policy_;
    position_call call_;
  };

  void check(const position_call& call, violations& found) const {
    for (const batch_index b : indices<batch_index>(call.batch())) {
      for (const query_index i : indices<query_index>(call.queries())) {
        if (settings_.padding.how() != padded_rows::rule::by_position && !call.active(b, i)) continue;
        const index_t at = call.at(b, i).value();
        found.expect(at >= 0 && at < capacity(), errc::position_out_of_table, "learned_absolute",
                     text("position of row {} in entry {}", i.value(), b.value()),
                     text("0..{} ({} rows, row_offset {})", capacity() - 1, table_.rows(), settings_.row_offset), at);
      }
    }
  }

  template <class T>
  [[nodiscard]] term<T> compile(const position_call& call) const {
    violations found;
    check(call, found);
    found.throw_if_any();
    require_fits<T>(table_.values(), "learned_absolute");
    return {*this, call};
  }

 private:
  [[nodiscard]] index_t table_row(const position_call& call, batch_index b, query_index i) const noexcept {
    if (!call.active(b, i)) {
      if (settings_.padding.how() == padded_rows::rule::untouched) return -1;
      if (settings_.padding.how() == padded_rows::rule::table_row) return settings_.padding.row();
    }
    return call.at(b, i).value() + settings_.row_offset;
  }

  table<Element> table_;
  learned_absolute_settings settings_;
};

}  // namespace posgeo::encode
