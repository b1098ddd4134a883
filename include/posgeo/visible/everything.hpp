// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/core/description.hpp>
#include <posgeo/core/reads.hpp>
#include <posgeo/visible/visibility.hpp>

namespace posgeo::visible {

/// Every query sees every key.
/// Shapes: one answer for each (batch, query, key).
/// Throws: nothing; a call with padding or packed sequences is refused by the attention.
/// Source: Vaswani et al. 2017, encoder self-attention.
class everything {
 public:
  using family = posgeo::family::visibility;
  [[nodiscard]] static constexpr reads positional_reads() noexcept { return reads::nothing; }
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

/// The policy without what it hides by where rows stand: its unmasked(), or, where it has none, everything. What a
/// policy without unmasked() promised to hide beside that is hidden no more.
template <visibility P>
[[nodiscard]] auto without_mask([[maybe_unused]] const P& policy) {
  if constexpr (requires { policy.unmasked(); }) {
    return policy.unmasked();
  } else {
    return everything{};
  }
}

}  // namespace posgeo::visible
