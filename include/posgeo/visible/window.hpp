// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/core/description.hpp>
#include <posgeo/core/reads.hpp>
#include <posgeo/core/required.hpp>
#include <posgeo/visible/visibility.hpp>

#include <optional>

namespace posgeo::visible {

/// A query sees the keys from `behind` positions before it to `ahead` positions after it, its own key included.
/// Shapes: one answer for each (batch, query, key).
/// Units:  positions of the call; the own key is not counted. A width that counts it: window::counting_own_key(width).
/// Throws: errc::window_bounds for a negative reach, errc::frame_mismatch across frames. When compiled.
/// Source: Beltagy, Peters and Cohan 2020, section 3.1 (Longformer).
struct window {
  required<index_t> behind;  ///< other keys before the query
  required<index_t> ahead;   ///< other keys after it

  using family = posgeo::family::visibility;
  static constexpr index_t unbounded = visibility_rule::unbounded;

  /// The causal window of `width` keys of which the query's own is one: behind = width - 1, ahead = 0.
  [[nodiscard]] static window counting_own_key(index_t width) {
    require(width >= 1, errc::window_bounds, "window", "width", "at least 1, the own key", width);
    return {.behind = width - 1, .ahead = 0};
  }

  /// A side without an end is absent.
  [[nodiscard]] description describe() const {
    const auto reach = [](index_t far) { return far == unbounded ? std::nullopt : std::optional(far); };
    return description("window").with("behind", reach(behind)).with("ahead", reach(ahead));
  }

  /// The distance alone, if both sides reach as far; one side alone, if it is all or nothing.
  [[nodiscard]] reads positional_reads() const noexcept {
    if (behind == ahead) return behind == unbounded ? reads::frame : reads::distance;
    if (behind == unbounded && ahead == 0) return reads::ahead;
    if (behind == 0 && ahead == unbounded) return reads::behind;
    return reads::offset;
  }
  [[nodiscard]] hides hidden() const noexcept {
    const bool near = behind != unbounded || (ahead != unbounded && ahead != 0);
    return (ahead == 0 ? hides::future : hides::nothing) | (near ? hides::distant : hides::nothing);
  }
  void check(const position_call& call, const heads&, violations& found) const {
    found.expect(behind >= 0, errc::window_bounds, "window", "behind", "at least 0", index_t{behind});
    found.expect(ahead >= 0, errc::window_bounds, "window", "ahead", "at least 0", index_t{ahead});
    expect_same_frame(call, "window visibility", found);
  }

  class term {
   public:
    term(const window& reach, position_call call)
        : behind_(reach.behind), ahead_(reach.ahead), call_(std::move(call)) {}
    [[nodiscard]] bool operator()(batch_index b, query_index i, key_index j) const noexcept {
      const index_t offset = call_.offset(b, i, j).value();
      return offset >= -behind_ && offset <= ahead_;
    }
    [[nodiscard]] key_range keys(batch_index b, query_index i) const noexcept {
      const index_t at = call_.at(b, i).value();
      const index_t lowest = behind_ > at + position_limit ? -position_limit : at - behind_;
      const index_t highest = ahead_ > position_limit - at ? position_limit : at + ahead_;
      return to_keys(call_.key_space().rows_within(b.value(), lowest, highest));
    }
    [[nodiscard]] visibility_rule rule() const noexcept { return {.behind = behind_, .ahead = ahead_}; }

   private:
    index_t behind_;
    index_t ahead_;
    position_call call_;
  };

  template <class T>
  [[nodiscard]] term compile(const position_call& call, const heads& layout) const {
    require_fit(*this, call, layout);
    return term{*this, call};
  }
};

}  // namespace posgeo::visible
