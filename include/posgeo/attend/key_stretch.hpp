// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/attend/online_softmax.hpp>
#include <posgeo/attend/workspace.hpp>
#include <posgeo/call/position_call.hpp>
#include <posgeo/visible/visibility.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <optional>
#include <tuple>
#include <utility>

namespace posgeo {
inline namespace POSGEO_SIMD_ISA {
namespace kernel {

/// What the visibilities of a plan say as one rule; policies without a rule only hide more.
template <class Plan>
[[nodiscard]] visibility_rule rule_of(const Plan& plan) noexcept {
  visibility_rule rule;
  const auto join = [&rule](const auto& term) {
    if constexpr (ruled_visibility<std::remove_cvref_t<decltype(term)>>) rule = rule & term.rule();
  };
  std::apply([&](const auto&... term) { (join(term), ...); }, plan.visibilities());
  return rule;
}
/// Key rows [begin, end) of an entry.
struct row_stretch {
  index_t begin;
  index_t end;
  [[nodiscard]] index_t size() const noexcept { return end - begin; }
  friend bool operator==(row_stretch, row_stretch) noexcept = default;
};

/// The rows that the keys of a query of the sequence lie in. Blocks and tiles of keys are counted from its first row,
/// so that they are the same wherever a sequence stands in its entry.
[[nodiscard]] inline row_stretch stretch_of(const position_call& call, const visibility_rule& rule, batch_index b,
                                            index_t sequence) noexcept {
  const row_space& keys = call.key_space();
  std::pair<index_t, index_t> rows{0, keys.rows()};
  if (includes(rule.rows, hides::other_segments)) {
    rows = keys.sequence_rows(b.value(), sequence);
  } else if (includes(rule.rows, hides::padding)) {
    rows = keys.active_rows(b.value());
  }
  return {rows.first, std::max(rows.first, rows.second)};
}

/// Where the keys of a stretch stand, by their number in it. A straight stretch has each key one position after the one
/// before, and every key belongs. Any other is spelled out, if its positions are no more than `widest` apart; it is
/// ordered if every key belongs and none stands before the one before it.
template <class T>
class key_positions {
 public:
  static constexpr index_t tile_keys = tile_shape<T>::keys;
  static constexpr index_t widest = index_t{1} << 23;  // exact in float, with room for a rule's reach

  key_positions() = default;
  key_positions(detail::memory_parts& memory, index_t keys) {
    const index_t padded = round_up(keys, tile_keys);
    relative_ = memory.take<std::int32_t>(padded);
    wide_ = memory.take<T>(padded);
    belongs_ = memory.take<seen_bits>(padded / tile_keys);
    lowest_ = memory.take<T>(padded / tile_keys);
    highest_ = memory.take<T>(padded / tile_keys);
    in_line_ = memory.take<std::uint8_t>(padded / tile_keys);
  }

  void bind(const position_call& call, const visibility_rule& rule, batch_index b, index_t sequence,
            row_stretch stretch) noexcept {
    const row_space& keys = call.key_space();
    size_ = stretch.size();
    first_ = 0;
    last_ = 0;
    spelled_ = true;
    straight_ = true;
    ordered_ = false;
    if (size_ == 0) return;
    first_ = keys.at(b.value(), stretch.begin).value();
    last_ = first_ + size_ - 1;
    const auto belongs = [&](index_t row) {
      return (!includes(rule.rows, hides::padding) || keys.active(b.value(), row)) &&
             (!includes(rule.rows, hides::other_segments) || keys.sequence(b.value(), row) == sequence);
    };
    if (keys.affine() && !keys.padded_position()) {
      const affine_rows& entry = keys.affine_entries()[b.value()];
      straight_ = !includes(rule.rows, hides::padding) ||
                  (stretch.begin >= entry.active_begin && stretch.end <= entry.active_end);
    } else {
      for (index_t n = 0; n < size_ && straight_; ++n) {
        straight_ = keys.at(b.value(), stretch.begin + n).value() == first_ + n && belongs(stretch.begin + n);
      }
    }
    if (straight_) return;
    index_t low = first_;
    index_t high = first_;
    for (index_t n = 0; n < size_; ++n) {
      if (!belongs(stretch.begin + n)) continue;
      const index_t p = keys.at(b.value(), stretch.begin + n).value();
      low = std::min(low, p);
      high = std::max(high, p);
    }
    first_ = low;
    last_ = high;
    spelled_ = high - low <= widest;
    ordered_ = spelled_;
    if (!spelled_) return;
    for (index_t tile = 0; tile * tile_keys < size_; ++tile) {
      seen_bits bits = 0;
      T lowest = T{widest};
      T highest = T{0};
      bool in_line = true;
      for (index_t k = 0; k < tile_keys; ++k) {
        const index_t n = tile * tile_keys + k;
        const bool here = n < size_ && belongs(stretch.begin + n);
        const index_t p = here ? keys.at(b.value(), stretch.begin + n).value() - first_ : 0;
        if (n < size_) ordered_ = ordered_ && here && (n == 0 || p >= relative_[n - 1]);
        in_line = in_line && here && (k == 0 || p == relative_[n - 1] + 1);
        relative_[n] = static_cast<std::int32_t>(p);
        wide_[n] = static_cast<T>(p);
        if (!here) continue;
        bits |= seen_bits{1} << k;
        lowest = std::min(lowest, wide_[n]);
        highest = std::max(highest, wide_[n]);
      }
      for (index_t k = 0; k < tile_keys; ++k) {  // others stand where one of them does: a line can be read for all
        if ((bits >> k & 1U) == 0) relative_[tile * tile_keys + k] = bits == 0 ? 0 : static_cast<std::int32_t>(lowest);
      }
      belongs_[tile] = bits;
      in_line_[tile] = in_line ? 1 : 0;
      lowest_[tile] = lowest;
      highest_[tile] = highest;
    }
  }

  [[nodiscard]] index_t size() const noexcept { return size_; }
  [[nodiscard]] index_t tiles() const noexcept { return round_up(size_, tile_keys) / tile_keys; }
  [[nodiscard]] bool straight() const noexcept { return straight_; }
  /// Whether what a rule lets a query see are all keys of its reach.
  [[nodiscard]] bool ordered() const noexcept { return straight_ || ordered_; }
  /// Whether positions are known as small numbers: straight, or spelled out.
  [[nodiscard]] bool known() const noexcept { return straight_ || spelled_; }
  /// The position of key 0 of a straight stretch; else the lowest one.
  [[nodiscard]] index_t first() const noexcept { return first_; }
  /// The highest position.
  [[nodiscard]] index_t last() const noexcept { return last_; }
  /// Positions after first(), of a stretch that is spelled out. Shapes: [keys].
  [[nodiscard]] const std::int32_t* relative() const noexcept { return relative_; }

  /// Where the first key of a tile stands if the others follow one position after the other.
  [[nodiscard]] std::optional<index_t> line_of_tile(index_t tile) const noexcept {
    if (straight_) return first_ + tile * tile_keys;
    if (in_line_[tile] == 0) return std::nullopt;
    return first_ + relative_[tile * tile_keys];
  }

  /// Keys outside of which a query at the position sees none, by the rule.
  [[nodiscard]] row_stretch reach(const visibility_rule& rule, index_t query) const noexcept {
    if (!ordered()) return {0, size_};
    if (!straight_) {
      const auto end = relative_ + size_;
      const auto first = std::lower_bound(relative_, end, static_cast<std::int32_t>(lowest_seen(rule, query)));
      const auto last = std::upper_bound(first, end, static_cast<std::int32_t>(highest_seen(rule, query)));
      return {first - relative_, last - relative_};
    }
    const index_t low = saturating_subtract(saturating_subtract(query, rule.behind), first_);
    const index_t high = saturating_subtract(saturating_add(query, rule.ahead), first_);
    const index_t begin = std::clamp<index_t>(low, 0, size_);
    return {begin, std::max(begin, std::clamp<index_t>(saturating_add(high, 1), 0, size_))};
  }

  /// Which keys of a tile the rule lets a query see; `reach` is the query's.
  [[nodiscard]] seen_bits seen(const visibility_rule& rule, index_t query, row_stretch reach,
                               index_t tile) const noexcept {
    const index_t at = tile * tile_keys;
    if (ordered()) return below(reach.end - at) & ~below(reach.begin - at);
    const T low = static_cast<T>(lowest_seen(rule, query));
    const T high = static_cast<T>(highest_seen(rule, query));
    if (low <= lowest_[tile] && highest_[tile] <= high) return belongs_[tile];
    if (high < lowest_[tile] || highest_[tile] < low) return 0;
    seen_bits bits = 0;
    for (index_t n = 0; n < tile_keys; n += simd::pack<T>::lanes) {
      const auto p = simd::load(wide_ + at + n);
      const auto within = simd::at_most(simd::broadcast<T>(low), p) & simd::at_most(p, simd::broadcast<T>(high));
      bits |= seen_bits{simd::bits(within)} << n;
    }
    return bits & belongs_[tile];
  }

  /// The key nearest to a query among those that the rule lets it see; -1 if there is none. `reach` is the query's.
  [[nodiscard]] index_t nearest(const visibility_rule& rule, index_t query, row_stretch reach) const noexcept {
    if (reach.size() == 0) return -1;
    if (straight_) return std::clamp(saturating_subtract(query, first_), reach.begin, reach.end - 1);
    if (ordered_) return nearest_in_order(static_cast<std::int32_t>(near(saturating_subtract(query, first_))), reach);
    const T at = static_cast<T>(std::clamp<index_t>(saturating_subtract(query, first_), -widest, 2 * widest));
    T least = std::numeric_limits<T>::infinity();
    index_t found = -1;
    const auto gap = [&](index_t tile) { return std::max(lowest_[tile] - at, at - highest_[tile]); };
    const auto look = [&](index_t tile) {
      for (seen_bits bits = seen(rule, query, reach, tile); bits != 0; bits &= bits - 1) {
        const index_t n = tile * tile_keys + std::countr_zero(bits);
        const T distance = std::abs(wide_[n] - at);
        if (distance > least || (distance == least && n > found)) continue;
        least = distance;
        found = n;
      }
    };
    index_t closest = 0;
    for (index_t tile = 1; tile < tiles(); ++tile) closest = gap(tile) < gap(closest) ? tile : closest;
    look(closest);
    for (index_t tile = 0; tile < tiles(); ++tile) {
      if (tile != closest && gap(tile) <= least) look(tile);
    }
    return found;
  }

  /// The lowest and the highest position of a tile, after first(); lowest > highest where nothing belongs.
  [[nodiscard]] std::pair<index_t, index_t> bounds_of_tile(index_t tile) const noexcept {
    return {static_cast<index_t>(lowest_[tile]), static_cast<index_t>(highest_[tile])};
  }

 private:
  /// The key of a stretch in order that is nearest to a position after first(): the first such one.
  [[nodiscard]] index_t nearest_in_order(std::int32_t at, row_stretch reach) const noexcept {
    const std::int32_t* const begin = relative_ + reach.begin;
    const std::int32_t* const end = relative_ + reach.end;
    const std::int32_t* const above = std::lower_bound(begin, end, at);
    if (above == begin) return reach.begin;
    const std::int32_t* const below = std::lower_bound(begin, above, above[-1]);
    return (above == end || at - *below <= *above - at ? below : above) - relative_;
  }
  /// The lowest n bits, for any n.
  [[nodiscard]] static constexpr seen_bits below(index_t n) noexcept {
    if (n <= 0) return 0;
    return n >= tile_keys ? (seen_bits{1} << tile_keys) - 1 : (seen_bits{1} << n) - 1;
  }
  /// Positions after first() between which a rule lets a query see, no further out than any key.
  [[nodiscard]] index_t lowest_seen(const visibility_rule& rule, index_t query) const noexcept {
    return near(saturating_subtract(saturating_subtract(query, rule.behind), first_));
  }
  [[nodiscard]] index_t highest_seen(const visibility_rule& rule, index_t query) const noexcept {
    return near(saturating_subtract(saturating_add(query, rule.ahead), first_));
  }
  [[nodiscard]] static index_t near(index_t relative) noexcept { return std::clamp<index_t>(relative, -1, 2 * widest); }

  index_t size_ = 0;
  index_t first_ = 0;
  index_t last_ = 0;
  bool straight_ = true;
  bool spelled_ = true;
  bool ordered_ = false;
  std::int32_t* relative_ = nullptr;
  T* wide_ = nullptr;
  seen_bits* belongs_ = nullptr;
  T* lowest_ = nullptr;
  T* highest_ = nullptr;
  std::uint8_t* in_line_ = nullptr;
};

}  // namespace kernel
}  // namespace POSGEO_SIMD_ISA
}  // namespace posgeo
