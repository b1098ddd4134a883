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

#include <optional>

namespace posgeo::bias {

struct tupe_relative_settings {
  required<position> cls;  ///< where [CLS] stands
};

/// Adds table[bucket, h], where a [CLS] query has bucket num_buckets / 2 (which no offset has) for every key, its own
/// included; else a [CLS] key has the extra bucket num_buckets; else it is T5's bucket of key - query. With
/// content::tupe this is TUPE-R. Without a rule for [CLS] the bias is bias::t5.
/// Shapes: table [num_buckets + 1, query heads].
/// Units:  offsets in tokens; added after the scale.
/// Throws: errc::bucket_settings unless the buckets are bidirectional, errc::table_rows without the extra row, when
///         built; errc::head_count, errc::frame_mismatch and errc::non_finite when compiled.
/// Source: Ke, He and Liu 2021 (TUPE), equation 8 and section 3.2, and the release, transformer_sentence_encoder.py.
template <class Element>
class tupe_relative {
 public:
  using family = posgeo::family::score_bias;

  tupe_relative(table<Element> weights, coordinate::t5_bucket bucket, const tupe_relative_settings& settings)
      : weights_(std::move(weights)), bucket_(std::move(bucket)), cls_(settings.cls) {
    require(bucket_.settings().direction == coordinate::bucket_direction::bidirectional, errc::bucket_settings,
            "tupe relative bias", "direction of the buckets", "bidirectional", "causal");
    require(weights_.rows() == bucket_.num_buckets() + 1, errc::table_rows, "tupe relative bias", "table rows",
            text("num_buckets {} and one for [CLS]", bucket_.num_buckets()), weights_.rows());
  }

  [[nodiscard]] const coordinate::t5_bucket& bucket() const noexcept { return bucket_; }
  /// An attention refuses policies whose [CLS] stands at different places.
  [[nodiscard]] std::optional<position> cls() const noexcept { return cls_; }

  [[nodiscard]] static constexpr reads positional_reads() noexcept { return reads::offset | reads::absolute; }
  [[nodiscard]] description describe() const {
    return description("tupe_relative")
        .with("table", described_table(weights_))
        .with("rule", bucket_.describe())
        .with("cls", cls_.value());
  }

  [[nodiscard]] tupe_relative part(const head_slice& slice) const {
    return {columns_of(weights_, slice, "tupe relative bias"), bucket_, {.cls = cls_}};
  }

  void check(const position_call& call, const heads& layout, violations& found) const {
    found.expect(weights_.columns() == layout.query, errc::head_count, "tupe relative bias", "table columns",
                 text("{} query heads", layout.query), weights_.columns());
    expect_same_frame(call, "tupe relative bias", found);
  }

  template <class T>
  class term {
   public:
    [[nodiscard]] std::optional<position> cls() const noexcept { return policy_.cls(); }
    /// The table row of a pair.
    [[nodiscard]] index_t row(batch_index b, query_index i, key_index j) const noexcept {
      const index_t buckets = policy_.bucket_.num_buckets();
      if (call_.at(b, i) == policy_.cls_) return buckets / 2;
      if (call_.at(b, j) == policy_.cls_) return buckets;
      return policy_.bucket_(call_.offset(b, i, j));
    }
    [[nodiscard]] T operator()(batch_index b, head_index h, query_index i, key_index j) const noexcept {
      return number(row(b, i, j), h);
    }
    [[nodiscard]] T at_offset(head_index h, relative_offset offset) const noexcept {
      return number(policy_.bucket_(offset), h);
    }
    [[nodiscard]] T at_cls_query(head_index h) const noexcept { return number(policy_.bucket_.num_buckets() / 2, h); }
    [[nodiscard]] T at_cls_key(head_index h) const noexcept { return number(policy_.bucket_.num_buckets(), h); }
    [[nodiscard]] coordinate::offset_bounds constant_beyond() const noexcept {
      return policy_.bucket_.constant_beyond();
    }
    [[nodiscard]] table_gradients<T, 1> gradient() const {
      return table_gradients<T, 1>(table_gradient<T>("table", policy_.weights_));
    }
    void add_gradient(batch_index b, head_index h, query_index i, key_index j, T d_score,
                      table_gradients<T, 1>& to) const noexcept {
      to[0].add(row(b, i, j), h.value(), d_score);
    }

   private:
    friend class tupe_relative;
    term(tupe_relative policy, position_call call) : policy_(std::move(policy)), call_(std::move(call)) {}
    [[nodiscard]] T number(index_t row, head_index h) const noexcept {
      return static_cast<T>(policy_.weights_(row, h.value()));
    }
    tupe_relative policy_;
    position_call call_;
  };

  template <class T>
  [[nodiscard]] term<T> compile(const position_call& call, const heads& layout) const {
    require_fit(*this, call, layout);
    require_fits<T>(weights_.values(), "tupe relative bias");
    return {*this, call};
  }

 private:
  table<Element> weights_;
  coordinate::t5_bucket bucket_;
  position cls_;
};

}  // namespace posgeo::bias
