// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/visible/visibility.hpp>

#include <limits>

namespace posgeo::visible {

/// How far a query sees, counted in other keys: its own key is always inside.
struct window_reach {
  index_t behind = 0;
  index_t ahead = 0;
};

/// A query sees the keys from `behind` positions before it to `ahead` positions after it.
/// Shapes: one answer for each (batch, query, key).
/// Units:  positions of the call; the own key is not counted. A width that counts it: window::counting_own_key(width).
/// Throws: errc::window_bounds, when built, for a negative reach; errc::frame_mismatch across frames, when compiled.
/// Source: Beltagy, Peters and Cohan 2020, section 3.1 (Longformer).
class window {
 public:
  using family = posgeo::family::visibility;
  static constexpr index_t unbounded = std::numeric_limits<index_t>::max();

  explicit window(const window_reach& reach) : reach_(reach) {
    require(reach.behind >= 0, errc::window_bounds, "window", "behind", "at least 0", reach.behind);
    require(reach.ahead >= 0, errc::window_bounds, "window", "ahead", "at least 0", reach.ahead);
  }

  /// The causal window of `width` keys of which the query's own is one: behind = width - 1, ahead = 0.
  [[nodiscard]] static window counting_own_key(index_t width) {
    require(width >= 1, errc::window_bounds, "window", "width", "at least 1, the own key", width);
    return window{{.behind = width - 1, .ahead = 0}};
  }

  [[nodiscard]] const window_reach& reach() const noexcept { return reach_; }
  [[nodiscard]] hides hidden() const noexcept {
    return reach_.ahead == 0 ? hides::future | hides::by_position : hides::by_position;
  }
  void check(const position_call& call, const heads&, violations& found) const {
    expect_same_frame(call, "window visibility", found);
  }

  class term {
   public:
    term(const window_reach& reach, position_call call) : reach_(reach), call_(std::move(call)) {}
    [[nodiscard]] bool operator()(batch_index b, query_index i, key_index j) const noexcept {
      const index_t offset = call_.offset(b, i, j).value();
      return offset >= -reach_.behind && offset <= reach_.ahead;
    }
    [[nodiscard]] key_range keys(batch_index b, query_index i) const noexcept {
      const index_t at = call_.at(b, i).value();
      const index_t lowest = reach_.behind > at + position_limit ? -position_limit : at - reach_.behind;
      const index_t highest = reach_.ahead > position_limit - at ? position_limit : at + reach_.ahead;
      return to_keys(call_.key_space().rows_within(b.value(), lowest, highest));
    }

   private:
    window_reach reach_;
    position_call call_;
  };

  template <class T>
  [[nodiscard]] term compile(const position_call& call, const heads& layout) const {
    require_fit(*this, call, layout);
    return term{reach_, call};
  }

 private:
  window_reach reach_;
};

}  // namespace posgeo::visible
