// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/core/description.hpp>
#include <posgeo/core/reads.hpp>
#include <posgeo/visible/visibility.hpp>

namespace posgeo::visible {

/// A query sees the active keys of its own sequence and of no other.
/// Shapes: one answer for each (batch, query, key).
/// Throws: nothing.
/// Source: Raffel et al. 2020, packing as in mesh-tensorflow; Krell et al. 2021.
class segments {
 public:
  using family = posgeo::family::visibility;
  [[nodiscard]] static constexpr reads positional_reads() noexcept { return reads::padding | reads::sequence; }
  [[nodiscard]] description describe() const { return description("segments"); }
  [[nodiscard]] hides hidden() const noexcept { return hides::other_segments | hides::padding; }

  /// Itself: what it hides does not depend on where rows stand.
  [[nodiscard]] segments unmasked() const noexcept { return {}; }

  class term {
   public:
    explicit term(position_call call) : call_(std::move(call)) {}
    [[nodiscard]] bool operator()(batch_index b, query_index i, key_index j) const noexcept {
      return call_.active(b, j) && call_.sequence(b, i) == call_.sequence(b, j);
    }
    [[nodiscard]] key_range keys(batch_index b, query_index i) const noexcept {
      return to_keys(call_.key_space().sequence_rows(b.value(), call_.sequence(b, i)));
    }
    [[nodiscard]] visibility_rule rule() const noexcept { return {.rows = hides::padding | hides::other_segments}; }

   private:
    position_call call_;
  };

  template <class T>
  [[nodiscard]] term compile(const position_call& call, const heads&) const {
    return term{call};
  }
};

}  // namespace posgeo::visible
