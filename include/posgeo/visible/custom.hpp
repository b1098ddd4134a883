// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/core/description.hpp>
#include <posgeo/core/reads.hpp>
#include <posgeo/visible/visibility.hpp>

#include <optional>

namespace posgeo::visible {

/// The caller's own rule: see(call, b, i, j) -> bool. It must not throw. `promise` says what it hides, so that a call
/// with padding or packed sequences, or a bias that looks back only, accepts it; `what` says what it reads of a call,
/// all of it unless something else is said. Nothing checks either.
/// Shapes: one answer for each (batch, query, key).
/// Throws: errc::frame_mismatch across frames for a function that was said to read where rows stand. When compiled.
/// Source: none; any mask.
template <class See>
requires std::predicate<const See&, const position_call&, batch_index, query_index, key_index>
class custom {
 public:
  using family = posgeo::family::visibility;

  explicit custom(See see, hides promise = hides::nothing) : see_(std::move(see)), promise_(promise) {}
  custom(See see, hides promise, reads what) : see_(std::move(see)), promise_(promise), said_(what) {}
  /// A function cannot say what it does: `identity` stands for it. Use named{identity, custom}.
  [[nodiscard]] description describe_as(std::string_view identity) const {
    return description("custom").with("identity", identity).with("promise", names_of(promise_));
  }
  [[nodiscard]] reads positional_reads() const noexcept { return said_.value_or(read_by_function); }
  [[nodiscard]] hides hidden() const noexcept { return promise_; }
  void check(const position_call& call, const heads&, violations& found) const {
    if (said_ && includes_any(*said_, reads::offset | reads::absolute)) expect_same_frame(call, "custom", found);
  }

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
  [[nodiscard]] term compile(const position_call& call, const heads& layout) const {
    require_fit(*this, call, layout);
    return term{see_, call};
  }

 private:
  See see_;
  hides promise_;
  std::optional<reads> said_;
};

}  // namespace posgeo::visible
