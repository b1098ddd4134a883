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

/// What ALiBi says about keys after the query.
enum class alibi_direction {
  causal,     ///< nothing: the attention must not show them
  symmetric,  ///< the same as about keys as far before it
};

[[nodiscard]] constexpr std::string_view name_of(alibi_direction direction) noexcept {
  return direction == alibi_direction::causal ? "causal" : "symmetric";
}

/// Adds a penalty that grows with distance: -slope[h] * |i - j|.
/// Shapes: slopes [query heads]; one score for each (batch, head, query, key).
/// Units:  distance in tokens, formed in integers; added after the scale and never divided by it.
/// Throws: errc::slope_count without one slope for each query head; errc::frame_mismatch across frames. When compiled.
/// Source: Press, Smith and Lewis 2022, section 3. The paper defines the causal form; the symmetric one is the field's.
class alibi {
 public:
  using family = posgeo::family::score_bias;

  alibi(alibi_slopes slopes, alibi_direction direction)
      : slopes_(std::make_shared<const alibi_slopes>(std::move(slopes))), direction_(direction) {}

  [[nodiscard]] const alibi_slopes& slopes() const noexcept { return *slopes_; }
  [[nodiscard]] bool looks_back_only() const noexcept { return direction_ == alibi_direction::causal; }

  [[nodiscard]] reads positional_reads() const noexcept {
    return direction_ == alibi_direction::causal ? reads::offset : reads::distance;
  }
  [[nodiscard]] description describe() const {
    return description("alibi").with("slopes", slopes_->describe()).with("direction", name_of(direction_));
  }

  /// The slopes of the given heads of the whole, never those of a model with so many heads.
  [[nodiscard]] alibi part(const head_slice& slice) const { return {slopes_->part(slice), direction_}; }

  void check(const position_call& call, const heads& layout, violations& found) const {
    found.expect(slopes_->size() == layout.query, errc::slope_count, "alibi", "slopes", layout.query, slopes_->size());
    expect_same_frame(call, "alibi", found);
  }

  template <class T>
  class term {
   public:
    [[nodiscard]] T operator()(batch_index b, head_index h, query_index i, key_index j) const noexcept {
      return at_offset(h, call_.offset(b, i, j));
    }
    [[nodiscard]] T at_offset(head_index h, relative_offset offset) const noexcept {
      const index_t ahead = offset.value();
      return finite_cast<T>(-(*slopes_)[h] * static_cast<double>(ahead < 0 ? -ahead : ahead));
    }
    /// Of the slopes: [query heads].
    [[nodiscard]] table_gradients<T, 1> gradient() const {
      return table_gradients<T, 1>(table_gradient<T>("slopes.values", slopes_->size(), 1, {slopes_->size()}));
    }
    void add_gradient(batch_index b, head_index h, query_index i, key_index j, T d_score,
                      table_gradients<T, 1>& to) const noexcept {
      add_gradient_at(h, call_.offset(b, i, j), d_score, to);
    }
    void add_gradient_at(head_index h, relative_offset offset, T d_score, table_gradients<T, 1>& to) const noexcept {
      const index_t ahead = offset.value();
      to[0].add(h.value(), 0, -static_cast<T>(ahead < 0 ? -ahead : ahead) * d_score);
    }

   private:
    friend class alibi;
    term(std::shared_ptr<const alibi_slopes> slopes, position_call call)
        : slopes_(std::move(slopes)), call_(std::move(call)) {}
    std::shared_ptr<const alibi_slopes> slopes_;
    position_call call_;
  };

  template <class T>
  [[nodiscard]] term<T> compile(const position_call& call, const heads& layout) const {
    require_fit(*this, call, layout);
    return {slopes_, call};
  }

 private:
  std::shared_ptr<const alibi_slopes> slopes_;
  alibi_direction direction_;
};

}  // namespace posgeo::bias
