// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/core/description.hpp>
#include <posgeo/core/error.hpp>
#include <posgeo/core/index.hpp>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

namespace posgeo::transform {

/// Which axis turns which pairs. Released models disagree, so each rule has a name and none is a default.
///
/// Shapes: counts [Axes], in pairs; the ladder [rungs], speeds of one frequency rule.
/// Source: Wang et al. 2024 (Qwen2-VL), section 2.1; Qwen3-VL and Qwen2-VL's image encoder, as released; Heo et al.
///         2024, section 3 (parts of their own).
template <std::size_t Axes>
class axis_sections {
 public:
  enum class rule { blocks, interleaved, repeated, own_parts };
  using counts = std::array<index_t, Axes>;

  /// One ladder of speeds; axis a turns pairs[a] consecutive pairs, behind those of axis a - 1 (Qwen2-VL's
  /// mrope_section).
  static axis_sections blocks(const counts& pairs) { return {rule::blocks, pairs}; }
  /// One ladder of speeds; pair i belongs to axis i mod Axes while that axis has pairs left, else to axis 0 (Qwen3-VL).
  static axis_sections interleaved(const counts& pairs) { return {rule::interleaved, pairs}; }
  /// Every axis has the whole ladder; the pairs of axis a stand behind those of axis a - 1 and are paired over all
  /// dimensions that turn (Qwen2-VL's image encoder).
  static axis_sections repeated() { return {rule::repeated, {}}; }
  /// Every axis has the whole ladder and a part of the head of its own, within which it is paired.
  static axis_sections own_parts() { return {rule::own_parts, {}}; }

  [[nodiscard]] rule how() const noexcept { return rule_; }
  /// Rules that give every axis the whole ladder count no pairs.
  [[nodiscard]] description describe() const {
    constexpr std::array<std::string_view, 4> names{"blocks", "interleaved", "repeated", "own_parts"};
    std::optional<std::vector<index_t>> pairs;
    if (ladders() == 1) pairs.emplace(pairs_.begin(), pairs_.end());
    return description("axis_sections")
        .with("rule", names[static_cast<std::size_t>(rule_)])
        .with("axes", static_cast<index_t>(Axes))
        .with("pairs", pairs);
  }
  /// How often the ladder of speeds stands in a head.
  [[nodiscard]] index_t ladders() const noexcept {
    return rule_ == rule::blocks || rule_ == rule::interleaved ? 1 : static_cast<index_t>(Axes);
  }
  /// The axis of each pair, for a ladder of `rungs` speeds.
  /// Throws: errc::frequency_settings for sections that do not count the pairs, and for more than 2^20 speeds.
  [[nodiscard]] std::vector<std::size_t> axes(index_t rungs) const {
    require(rungs >= 0 && rungs <= index_t{1} << 20, errc::frequency_settings, "axis sections", "speeds",
            "from 0 to 2^20", rungs);
    std::vector<std::size_t> out;
    if (rule_ == rule::interleaved) {
      for (index_t pair = 0; pair < rungs; ++pair) {
        const auto axis = static_cast<std::size_t>(pair) % Axes;
        out.push_back(pair / static_cast<index_t>(Axes) < pairs_[axis] ? axis : 0);
      }
      for (std::size_t axis = 0; axis < Axes; ++axis) {
        const index_t count = std::count(out.begin(), out.end(), axis);
        require(count == pairs_[axis], errc::frequency_settings, "axis sections", text("pairs of axis {}", axis),
                text("{}, which interleaving gives it", count), pairs_[axis]);
      }
    } else {
      for (std::size_t axis = 0; axis < Axes; ++axis) {
        const index_t count = rule_ == rule::blocks ? pairs_[axis] : rungs;
        const index_t left = rungs * ladders() - static_cast<index_t>(out.size());
        require(count >= 0 && count <= left, errc::frequency_settings, "axis sections", text("pairs of axis {}", axis),
                text("from 0 to the {} that are left", left), count);
        out.insert(out.end(), static_cast<std::size_t>(count), axis);
      }
    }
    require(std::cmp_equal(out.size(), rungs * ladders()), errc::frequency_settings, "axis sections",
            "pairs of all axes", rungs * ladders(), out.size());
    return out;
  }

 private:
  axis_sections(rule how, const counts& pairs) : rule_(how), pairs_(pairs) {}
  rule rule_;
  counts pairs_;
};

}  // namespace posgeo::transform
