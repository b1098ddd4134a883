// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/core/description.hpp>
#include <posgeo/core/reads.hpp>
#include <posgeo/visible/visibility.hpp>

namespace posgeo::visible {

/// A query sees the keys that stand at its position or before: by position, never by the corner of the score matrix.
/// Shapes: one answer for each (batch, query, key).
/// Units:  positions of the call.
/// Throws: errc::frame_mismatch across frames. When compiled.
/// Source: Vaswani et al. 2017, section 3.2.3.
class causal {
 public:
  using family = posgeo::family::visibility;
  [[nodiscard]] static constexpr reads positional_reads() noexcept { return reads::ahead; }
  [[nodiscard]] description describe() const { return description("causal"); }
  [[nodiscard]] hides hidden() const noexcept { return hides::future; }
  void check(const position_call& call, const heads&, violations& found) const {
    expect_same_frame(call, "causal visibility", found);
  }

  class term {
   public:
    explicit term(position_call call) : call_(std::move(call)) {}
    [[nodiscard]] bool operator()(batch_index b, query_index i, key_index j) const noexcept {
      return call_.at(b, j) <= call_.at(b, i);
    }
    [[nodiscard]] key_range keys(batch_index b, query_index i) const noexcept {
      return to_keys(call_.key_space().rows_within(b.value(), -position_limit, call_.at(b, i).value()));
    }
    [[nodiscard]] visibility_rule rule() const noexcept { return {.ahead = 0}; }

   private:
    position_call call_;
  };

  template <class T>
  [[nodiscard]] term compile(const position_call& call, const heads& layout) const {
    require_fit(*this, call, layout);
    return term{call};
  }
};

}  // namespace posgeo::visible
