// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/attend/key_stretch.hpp>
#include <posgeo/coordinate/offset_bounds.hpp>

#include <algorithm>
#include <optional>

namespace posgeo {
inline namespace POSGEO_SIMD_ISA {
namespace kernel {

/// log2 e: scores in base 2 are natural ones times it.
template <class T>
inline constexpr T log2_e = static_cast<T>(1.4426950408889634073599);

/// The offsets that a line of numbers has entries for; beyond its ends the end's number holds. Without entries there is
/// no line, and the scalar expression is asked.
struct line_span {
  index_t low = 0;
  index_t count = 0;
};

/// Positions from the first to the last.
using position_bounds = std::pair<index_t, index_t>;

/// The key-minus-query offsets that can be asked for and that a rule lets be seen, cut where a line is level anyhow.
[[nodiscard]] inline line_span span_of(const position_bounds& queries, const position_bounds& keys,
                                       const visibility_rule& rule,
                                       const std::optional<coordinate::offset_bounds>& level) noexcept {
  index_t low = std::max(saturating_subtract(keys.first, queries.second), -rule.behind);
  const index_t high = std::min(saturating_subtract(keys.second, queries.first), rule.ahead);
  low = std::min(low, high);
  line_span span{low, 0};
  index_t end = high;
  if (level) {
    span.low = std::clamp(low, level->lowest.value(), level->highest.value());
    end = std::clamp(high, level->lowest.value(), level->highest.value());
  }
  span.count = saturating_add(saturating_subtract(end, span.low), 1);
  return span;
}

/// The entries that a line may have for a sequence of as many rows: beyond, the scalar expression costs less.
[[nodiscard]] constexpr index_t most_entries(index_t queries, index_t keys) noexcept {
  return 4 * (queries + keys) + 1024;
}

/// A line by offset can be read from a tile before its first entry to a tile behind its last: both ends are level.
template <class T>
inline constexpr index_t line_margin = tile_shape<T>::keys;

/// Memory of a line of `count` entries.
template <class T>
[[nodiscard]] constexpr index_t line_memory(index_t count) noexcept {
  return round_up(count, tile_shape<T>::keys) + 2 * line_margin<T>;
}

/// Write the margins of a line whose entry 0 is at `line`.
template <class T>
inline void level_low(T* line) noexcept {
  std::fill(line - line_margin<T>, line, line[0]);
}
template <class T>
inline void level_high(T* line, index_t count) noexcept {
  std::fill(line + count, line + count + line_margin<T>, line[count - 1]);
}

/// Where a tile reads a line: the entry of its first key, no further out than the margins.
template <class T>
[[nodiscard]] constexpr index_t entry_of(index_t offset, const line_span& span) noexcept {
  return std::clamp(saturating_subtract(offset, span.low), -line_margin<T>, span.count);
}

/// A run of tiles and where it reads its lines.
template <class T>
struct line_run {
  const T* line[tile_shape<T>::rows];  ///< at the run's first tile
  index_t step;                        ///< from tile to tile
  index_t end;                         ///< the run's last tile + 1

  /// How far tiles from `tile` on can go together, if the first of them reads entries from lowest to highest: lines
  /// that all move with the tiles, lines that are all level, or else one tile alone.
  void set_end(index_t lowest, index_t highest, index_t count, index_t tile, index_t last) noexcept {
    constexpr index_t keys = tile_shape<T>::keys;
    step = keys;
    end = tile + 1;
    if (lowest >= -line_margin<T> && highest <= count) {
      end += (count - highest) / keys;
    } else if (highest <= -line_margin<T>) {
      step = 0;
      end = saturating_add(end, saturating_subtract(-line_margin<T>, highest) / keys);
    } else if (lowest >= count) {
      step = 0;
      end = last;
    }
    end = std::min(end, last);
  }
};

}  // namespace kernel
}  // namespace POSGEO_SIMD_ISA
}  // namespace posgeo
