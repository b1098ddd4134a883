// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/call/row_identity.hpp>

#include <algorithm>
#include <array>
#include <memory>
#include <span>
#include <variant>
#include <vector>

namespace posgeo::coordinate {

/// Where one row stands on each of several axes.
template <std::size_t Axes>
using axis_positions = std::array<index_t, Axes>;

/// Time, height, width: the axes of a multimodal prompt.
using thw = axis_positions<3>;

/// Consecutive text tokens.
struct text_run {
  index_t tokens = 0;
};

/// The merged cells of an image or a video, frame after frame, each frame row by row.
struct cell_grid {
  std::vector<index_t> frames;  ///< offset of each frame on the time axis; {0} for an image
  index_t rows = 0;
  index_t columns = 0;
};

using prompt_part = std::variant<text_run, cell_grid>;

/// Text at p: (p, p, p). Cell of a grid that starts at p: (p + frame offset, p + row, p + column). The part behind it
/// starts at 1 + the largest position of any axis so far. A token behind the prompt: its index + delta on every axis.
/// Units:  positions in merged cells and tokens; frame offsets in the positions that the model gives a frame.
/// Throws: errc::row_count for a negative text run or more than 2^24 tokens; errc::grid_bounds for an empty grid, an
///         extent or a frame offset beyond 2^30, or a frame before the grid.
/// Source: Wang et al. 2024 (Qwen2-VL), section 2.1, M-RoPE, and its released get_rope_index.
class multi_axis_layout {
 public:
  explicit multi_axis_layout(std::span<const prompt_part> parts) {
    auto prompt = std::make_shared<std::vector<thw>>();
    for (const prompt_part& part : parts) {
      std::visit([&](const auto& known) { append(known, *prompt); }, part);
    }
    prompt_ = std::move(prompt);
  }
  multi_axis_layout(std::initializer_list<prompt_part> parts)
      : multi_axis_layout(std::span<const prompt_part>(parts.begin(), parts.size())) {}

  [[nodiscard]] index_t prompt_tokens() const noexcept { return static_cast<index_t>(prompt_->size()); }
  /// What is added to the index of every token behind the prompt.
  [[nodiscard]] index_t delta() const noexcept { return next_ - prompt_tokens(); }
  /// The position of a token, by its index (at least 0) in the sequence: of the prompt or decoded after it.
  [[nodiscard]] thw at(index_t token) const {
    require(token >= 0, errc::position_rule, "multi-axis layout", "token index", "at least 0", token);
    if (token < prompt_tokens()) return (*prompt_)[static_cast<std::size_t>(token)];
    const index_t p = token + delta();
    return {p, p, p};
  }

 private:
  static constexpr index_t most = index_t{1} << 30;
  static constexpr index_t most_tokens = index_t{1} << 24;

  void append(const text_run& text, std::vector<thw>& prompt) {
    require_room(text.tokens, prompt);
    for (index_t n = 0; n < text.tokens; ++n, ++next_) prompt.push_back({next_, next_, next_});
  }
  void append(const cell_grid& grid, std::vector<thw>& prompt) {
    const auto require_extent = [](index_t extent, std::string_view axis) {
      require(extent > 0 && extent <= most, errc::grid_bounds, "cell grid", axis, "from 1 to 2^30", extent);
    };
    require_extent(static_cast<index_t>(grid.frames.size()), "frames");
    require_extent(grid.rows, "rows");
    require_extent(grid.columns, "columns");
    for (const index_t frame : grid.frames) {
      require(frame >= 0 && frame <= most, errc::grid_bounds, "cell grid", "frame offset", "from 0 to 2^30", frame);
    }
    const index_t cells = grid.rows * grid.columns;
    require_room(cells, prompt);
    require_room(cells * static_cast<index_t>(grid.frames.size()), prompt);
    index_t reach = std::max(grid.rows, grid.columns);
    for (const index_t frame : grid.frames) {
      for (index_t c = 0; c < cells; ++c) {
        prompt.push_back({next_ + frame, next_ + c / grid.columns, next_ + c % grid.columns});
      }
      reach = std::max(reach, frame + 1);
    }
    next_ += reach;
  }
  static void require_room(index_t tokens, const std::vector<thw>& prompt) {
    const auto before = static_cast<index_t>(prompt.size());
    require(tokens >= 0 && tokens <= most_tokens - before, errc::row_count, "multi-axis layout", "tokens",
            text("from 0 to {} more", most_tokens - before), tokens);
  }

  index_t next_ = 0;
  std::shared_ptr<const std::vector<thw>> prompt_;
};

/// The positions of a side of a call whose own positions are token indices: layout s is that of sequence s.
/// Shapes: [entries, rows].
/// Throws: errc::missing_value for an active row of a sequence without a layout; errc::position_rule for one whose
///         position is negative, and so no token index.
[[nodiscard]] inline row_column<thw> positions_of(const row_space& space, std::span<const multi_axis_layout> layouts) {
  std::vector<thw> values;
  for (index_t b = 0; b < space.entries(); ++b) {
    for (index_t row = 0; row < space.rows(); ++row) {
      values.push_back({});
      if (!space.active(b, row)) continue;
      const index_t sequence = space.sequence(b, row);
      const index_t token = space.at(b, row).value();
      const auto where = text("row {} of entry {}", row, b);
      require(sequence >= 0 && std::cmp_less(sequence, layouts.size()), errc::missing_value, "multi-axis positions",
              where, text("a sequence with one of the {} layouts", layouts.size()), text("sequence {}", sequence));
      require(token >= 0, errc::position_rule, "multi-axis positions", where, "a token index of at least 0", token);
      values.back() = layouts[static_cast<std::size_t>(sequence)].at(token);
    }
  }
  return {row_identity::of(space), std::move(values)};
}

/// The same where sequence 0 is the only one.
[[nodiscard]] inline row_column<thw> positions_of(const row_space& space, const multi_axis_layout& layout) {
  return positions_of(space, {&layout, 1});
}

}  // namespace posgeo::coordinate
