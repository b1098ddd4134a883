// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/coordinate/grid.hpp>
#include <posgeo/core/description.hpp>
#include <posgeo/core/positional_range.hpp>
#include <posgeo/core/reads.hpp>

namespace posgeo::coordinate {

/// Swin's relative index of two cells of a window of R x C: (dy + R - 1) * (2C - 1) + (dx + C - 1), with dy and dx the
/// query's row and column minus the key's.
/// Shapes: (2R - 1)(2C - 1) classes, one table row each; every offset of two cells has its own.
/// Units:  positions count in the window's frame, cells in patches.
/// Throws: errc::grid_bounds for a position outside the window or on a class row; errc::frame_mismatch for positions
///         that count in another frame. When compiled.
/// Source: Liu et al. 2021, section 3.2, and the released relative_position_index.
class window_index {
 public:
  explicit window_index(const grid& window) : window_(window) {}

  [[nodiscard]] const grid& window() const noexcept { return window_; }
  [[nodiscard]] index_t classes() const noexcept { return (2 * window_.rows() - 1) * stride(); }

  [[nodiscard]] description describe() const {
    return description("window_index")
        .with("window", window_.describe())
        .with("sign", name_of(offset_sign::query_minus_key));
  }

  /// Two equal offsets of positions may be different ones of cells.
  [[nodiscard]] static constexpr reads positional_reads() noexcept { return reads::absolute; }
  [[nodiscard]] positional_range range() const noexcept {
    return {.lowest_position = window_.class_rows(), .highest_position = window_.positions() - 1};
  }

  /// The table row of two cells of the window.
  [[nodiscard]] index_t operator()(const cell& query, const cell& key) const noexcept {
    const index_t dy = query.row - key.row;
    const index_t dx = query.column - key.column;
    return (dy + window_.rows() - 1) * stride() + dx + window_.columns() - 1;
  }
  /// The table row of a pair of a call that check accepts.
  [[nodiscard]] index_t operator()(const position_call& call, batch_index b, query_index i,
                                   key_index j) const noexcept {
    return (*this)(cell_of(call.at(b, i)), cell_of(call.at(b, j)));
  }

  /// Lists what keeps a call's rows from being cells of the window.
  void check(const position_call& call, std::string_view object, violations& found) const {
    for (const row_space* space : {&call.query_space(), &call.key_space()}) {
      found.expect(space->frame() == window_.frame(), errc::frame_mismatch, object, "coordinate frame",
                   window_.frame().name(), space->frame().name());
      for (index_t b = 0; b < space->entries(); ++b) {
        const auto [lowest, highest] = space->position_bounds(b);
        const bool inside = lowest >= window_.class_rows() && highest < window_.positions();
        found.expect(inside || space->rows() == 0, errc::grid_bounds, object, text("positions of entry {}", b),
                     text("cells of the window, {}..{}", window_.class_rows(), window_.positions() - 1),
                     text("{}..{}", lowest, highest));
      }
    }
  }

 private:
  [[nodiscard]] index_t stride() const noexcept { return 2 * window_.columns() - 1; }
  [[nodiscard]] cell cell_of(position p) const noexcept {
    const grid_place place = window_.place_of(p);
    return *std::get_if<cell>(&place);
  }
  grid window_;
};

}  // namespace posgeo::coordinate
