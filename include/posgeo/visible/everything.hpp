// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/core/description.hpp>
#include <posgeo/visible/visibility.hpp>

namespace posgeo::visible {

/// Every query sees every key.
/// Shapes: one answer for each (batch, query, key).
/// Throws: nothing; a call with padding or packed sequences is refused by the attention.
/// Source: Vaswani et al. 2017, encoder self-attention.
class everything {
 public:
  using family = posgeo::family::visibility;
  [[nodiscard]] description describe() const { return description("everything"); }
  [[nodiscard]] hides hidden() const noexcept { return hides::nothing; }

  class term {
   public:
    explicit term(index_t keys) : keys_(keys) {}
    [[nodiscard]] bool operator()(batch_index, query_index, key_index) const noexcept { return true; }
    [[nodiscard]] key_range keys(batch_index, query_index) const noexcept { return {key_index{0}, key_index{keys_}}; }
    [[nodiscard]] visibility_rule rule() const noexcept { return {}; }

   private:
    index_t keys_;
  };

  template <class T>
  [[nodiscard]] term compile(const position_call& call, const heads&) const {
    return term{call.keys()};
  }
};

}  // namespace posgeo::visible
