// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/core/description.hpp>
#include <posgeo/visible/visibility.hpp>

namespace posgeo::visible {

/// The caller's own rule: see(call, b, i, j) -> bool. It must not throw. `promise` says what it hides, so that a call
/// with padding or packed sequences, or a bias that looks back only, accepts it; nothing checks the promise.
/// Shapes: one answer for each (batch, query, key).
/// Throws: nothing.
/// Source: none; any mask.
template <class See>
requires std::predicate<const See&, const position_call&, batch_index, query_index, key_index>
class custom {
 public:
  using family = posgeo::family::visibility;

  explicit custom(See see, hides promise = hides::nothing) : see_(std::move(see)), promise_(promise) {}
  /// A function cannot say what it does: `identity` stands for it. Use named{identity, custom}.
  [[nodiscard]] description describe_as(std::string_view identity) const {
    return description("custom").with("identity", identity).with("promise", names_of(promise_));
  }
  [[nodiscard]] hides hidden() const noexcept { return promise_; }

  class term {
   public:
    term(See see, position_call call) : see_(std::move(see)), call_(std::move(call)) {}
    [[nodiscard]] bool operator()(batch_index b, query_index i, key_index j) const noexcept {
      return see_(call_, b, i, j);
    }
    [[nodiscard]] key_range keys(batch_index, query_index) const noexcept {
      return {key_index{0}, key_index{call_.keys()}};
    }

   private:
    See see_;
    position_call call_;
  };

  template <class T>
  [[nodiscard]] term compile(const position_call& call, const heads&) const {
    return term{see_, call};
  }

 private:
  See see_;
  hides promise_;
};

}  // namespace posgeo::visible
