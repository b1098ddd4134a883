// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/bias/score_bias.hpp>
#include <posgeo/coordinate/t5_bucket.hpp>
#include <posgeo/core/description.hpp>
#include <posgeo/core/head_parts.hpp>
#include <posgeo/core/narrow.hpp>
#include <posgeo/core/reads.hpp>
#include <posgeo/core/table.hpp>
#include <posgeo/core/table_gradient.hpp>

namespace posgeo::bias {

/// Adds table[bucket(key - query), h].
/// Shapes: table [num_buckets, query heads]; one score for each (batch, head, query, key).
/// Units:  offsets in tokens; added after the scale (T5 itself has none) and never divided by it.
/// Throws: errc::table_rows, when built, without one row for each bucket; errc::head_count without one column for each
///         query head, errc::frame_mismatch across frames (cross-attention has no such bias), errc::non_finite for a
///         number that the type of the plan cannot hold, when compiled.
/// Source: Raffel et al. 2020, section 2.1.
template <class Element>
class t5 {
 public:
  using family = posgeo::family::score_bias;

  t5(table<Element> weights, coordinate::t5_bucket bucket) : weights_(std::move(weights)), bucket_(std::move(bucket)) {
    require(weights_.rows() == bucket_.num_buckets(), errc::table_rows, "t5 bias", "table rows",
            text("num_buckets {}", bucket_.num_buckets()), weights_.rows());
  }

  [[nodiscard]] const coordinate::t5_bucket& bucket() const noexcept { return bucket_; }
  [[nodiscard]] bool looks_back_only() const noexcept {
    return bucket_.settings().direction == coordinate::bucket_direction::causal;
  }

  [[nodiscard]] static constexpr reads positional_reads() noexcept { return reads::offset; }
  [[nodiscard]] description describe() const {
    return description("t5").with("table", described_table(weights_)).with("rule", bucket_.describe());
  }

  [[nodiscard]] t5 part(const head_slice& slice) const { return {columns_of(weights_, slice, "t5 bias"), bucket_}; }

  void check(const position_call& call, const heads& layout, violations& found) const {
    found.expect(weights_.columns() == layout.query, errc::head_count, "t5 bias", "table columns",
                 text("{} query heads", layout.query), weights_.columns());
    expect_same_frame(call, "t5 bias", found);
  }

  template <class T>
  class term {
   public:
    [[nodiscard]] T operator()(batch_index b, head_index h, query_index i, key_index j) const noexcept {
      return at_offset(h, call_.offset(b, i, j));
    }
    [[nodiscard]] T at_offset(head_index h, relative_offset offset) const noexcept {
      return static_cast<T>(weights_(bucket_(offset), h.value()));
    }
    /// The table row of an offset: its bucket.
    [[nodiscard]] index_t table_row(relative_offset offset) const noexcept { return bucket_(offset); }
    [[nodiscard]] coordinate::offset_bounds constant_beyond() const noexcept { return bucket_.constant_beyond(); }
    [[nodiscard]] table_gradients<T, 1> gradient() const {
      return table_gradients<T, 1>(table_gradient<T>("table", weights_));
    }
    void add_gradient(batch_index b, head_index h, query_index i, key_index j, T d_score,
                      table_gradients<T, 1>& to) const noexcept {
      add_gradient_at(h, call_.offset(b, i, j), d_score, to);
    }
    void add_gradient_at(head_index h, relative_offset offset, T d_score, table_gradients<T, 1>& to) const noexcept {
      to[0].add(table_row(offset), h.value(), d_score);
    }

   private:
    friend class t5;
    term(table<Element> weights, coordinate::t5_bucket bucket, position_call call)
        : weights_(std::move(weights)), bucket_(std::move(bucket)), call_(std::move(call)) {}
    table<Element> weights_;
    coordinate::t5_bucket bucket_;
    position_call call_;
  };

  template <class T>
  [[nodiscard]] term<T> compile(const position_call& call, const heads& layout) const {
    require_fit(*this, call, layout);
    require_fits<T>(weights_.values(), "t5 bias");
    return {weights_, bucket_, call};
  }

 private:
  table<Element> weights_;
  coordinate::t5_bucket bucket_;
};

}  // namespace posgeo::bias
