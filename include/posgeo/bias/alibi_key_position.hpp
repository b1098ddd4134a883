// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/bias/alibi_slopes.hpp>
#include <posgeo/bias/score_bias.hpp>
#include <posgeo/core/head_parts.hpp>
#include <posgeo/core/narrow.hpp>
#include <posgeo/core/reads.hpp>
#include <posgeo/core/table_gradient.hpp>

#include <memory>

namespace posgeo::bias {

/// ALiBi without the query: slope[h] * (position of the key + origin_shift). It differs from -slope * (i - j) by a
/// constant of the row, so causal softmax weights agree in exact arithmetic, but scores, log-sum-exp and anything after
/// a softcap do not. In float the product of slope and position loses digits as positions grow; an origin_shift that
/// brings them near zero keeps them. Shapes: slopes [query heads]; one score for each (batch, head, key). Units:  key
/// positions in tokens; added after the scale. Throws: errc::slope_count without one slope for each query head. When
/// compiled. Source: the released attention_with_linear_biases and BLOOM code (origin_shift 0); MPT ends at 0 instead
///         (origin_shift 1 - keys).
class alibi_key_position {
 public:
  using family = posgeo::family::score_bias;

  explicit alibi_key_position(alibi_slopes slopes, index_t origin_shift)
      : slopes_(std::make_shared<const alibi_slopes>(std::move(slopes))), origin_shift_(origin_shift) {
    require(origin_shift >= -position_limit && origin_shift <= position_limit, errc::position_overflow,
            "alibi_key_position", "origin_shift", "an integer less than 2^62 from zero", origin_shift);
  }

  /// Seen from a query, a later key gains and is never a penalty: only a causal attention may use it.
  [[nodiscard]] bool looks_back_only() const noexcept { return true; }

  [[nodiscard]] static constexpr reads positional_reads() noexcept { return reads::absolute_key; }
  [[nodiscard]] description describe() const {
    return description("alibi_key_position").with("slopes", slopes_->describe()).with("origin_shift", origin_shift_);
  }

  /// The slopes of the given heads of the whole, never those of a model with so many heads.
  [[nodiscard]] alibi_key_position part(const head_slice& slice) const {
    return alibi_key_position(slopes_->part(slice), origin_shift_);
  }

  void check(const position_call& call, const heads& layout, violations& found) const {
    found.expect(slopes_->size() == layout.query, errc::slope_count, "alibi_key_position", "slopes", layout.query,
                 slopes_->size());
    expect_same_frame(call, "alibi_key_position", found);
  }

  template <class T>
  class term {
   public:
    [[nodiscard]] T operator()(batch_index b, head_index h, query_index, key_index j) const noexcept {
      return at_key(h, call_.at(b, j));
    }
    [[nodiscard]] T at_key(head_index h, position key) const noexcept {
      return finite_cast<T>((*slopes_)[h] * static_cast<double>(key.value() + origin_shift_));
    }
    /// Of the slopes: [query heads].
    [[nodiscard]] table_gradients<T, 1> gradient() const {
      return table_gradients<T, 1>(table_gradient<T>("slopes.values", slopes_->size(), 1, {slopes_->size()}));
    }
    void add_gradient(batch_index b, head_index h, query_index, key_index j, T d_score,
                      table_gradients<T, 1>& to) const noexcept {
      to[0].add(h.value(), 0, static_cast<T>(call_.at(b, j).value() + origin_shift_) * d_score);
    }

   private:
    friend class alibi_key_position;
    term(std::shared_ptr<const alibi_slopes> slopes, index_t origin_shift, position_call call)
        : slopes_(std::move(slopes)), origin_shift_(origin_shift), call_(std::move(call)) {}
    std::shared_ptr<const alibi_slopes> slopes_;
    index_t origin_shift_;
    position_call call_;
  };

  template <class T>
  [[nodiscard]] term<T> compile(const position_call& call, const heads& layout) const {
    require_fit(*this, call, layout);
    return {slopes_, origin_shift_, call};
  }

 private:
  std::shared_ptr<const alibi_slopes> slopes_;
  index_t origin_shift_;
};

}  // namespace posgeo::bias
