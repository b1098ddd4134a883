// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/core/description.hpp>
#include <posgeo/core/reads.hpp>
#include <posgeo/visible/visibility.hpp>

namespace posgeo::visible {

/// Padded keys are seen by nobody. (What a padded query sees is up to the other policies; its output means nothing.)
/// Shapes: one answer for each (batch, query, key).
/// Throws: nothing.
/// Source: Vaswani et al. 2017, padding masks of the released tensor2tensor code.
class active {
 public:
  using family = posgeo::family::visibility;
  [[nodiscard]] static constexpr reads positional_reads() noexcept { return reads::padding; }
  [[nodiscard]] description describe() const { return description("active"); }
  [[nodiscard]] hides hidden() const noexcept { return hides::padding; }

  /// Itself: what it hides does not depend on where rows stand.
  [[nodiscard]] active unmasked() const noexcept { return {}; }

  class term {
   public:
    explicit term(position_call call) : call_(std::move(call)) {}
    [[nodiscard]] bool operator()(batch_index b, query_index, key_index j) const noexcept { return call_.active(b, j); }
    [[nodiscard]] key_range keys(batch_index b, query_index) const noexcept {
      return to_keys(call_.key_space().active_rows(b.value()));
    }
    [[nodiscard]] visibility_rule rule() const noexcept { return {.rows = hides::padding}; }

   private:
    position_call call_;
  };

  template <class T>
  [[nodiscard]] term compile(const position_call& call, const heads&) const {
    return term{call};
  }
};

}  // namespace posgeo::visible
