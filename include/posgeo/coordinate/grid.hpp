// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/call/position_call.hpp>
#include <posgeo/call/row_identity.hpp>
#include <posgeo/call/row_values.hpp>
#include <posgeo/core/description.hpp>
#include <posgeo/core/required.hpp>

#include <algorithm>
#include <variant>

namespace posgeo::coordinate {

/// A place in a rectangle of cells: what a patch is cut from.
using cell = image_cell;

/// A row before the patches: a class or register token.
struct class_row {
  index_t index = 0;
  friend bool operator==(const class_row&, const class_row&) noexcept = default;
};

/// What a row of a grid holds.
using grid_place = std::variant<cell, class_row>;

/// The cell of each row of a call.
using grid_cells = row_column<grid_place>;

/// The order in which a line visits the cells.
enum class traversal {
  row_major,     ///< along each row, from left to right
  column_major,  ///< down each column, from the top
  serpentine,    ///< along the rows, to and fro
};

[[nodiscard]] constexpr std::string_view name_of(traversal order) noexcept {
  if (order == traversal::serpentine) return "serpentine";
  return order == traversal::row_major ? "row_major" : "column_major";
}

struct grid_settings {
  required<index_t> rows;
  required<index_t> columns;
  required<traversal> order;
  index_t class_rows = 0;  ///< rows before the patches: positions 0 .. class_rows - 1
};

/// A flattened rectangle: position class_rows + n is the n-th cell of the traversal.
/// Units:  positions count rows of the flattened grid; cells count from {0, 0}.
/// Throws: errc::grid_bounds for a grid without cells and for a position or cell outside of it; errc::frame_mismatch
///         for rows whose positions do not count in frame().
/// Source: Dosovitskiy et al. 2021, section 3.1 (row_major, one class row).
class grid {
 public:
  explicit grid(const grid_settings& settings) : settings_(settings) {
    constexpr index_t most = index_t{1} << 16;
    const auto expect = [](index_t count, index_t least, std::string_view axis) {
      require(count >= least && count <= most, errc::grid_bounds, "grid", axis, text("from {} to 2^16", least), count);
    };
    expect(settings.rows, 1, "rows");
    expect(settings.columns, 1, "columns");
    expect(settings.class_rows, 0, "class_rows");
  }

  [[nodiscard]] index_t rows() const noexcept { return settings_.rows; }
  [[nodiscard]] index_t columns() const noexcept { return settings_.columns; }
  [[nodiscard]] index_t class_rows() const noexcept { return settings_.class_rows; }
  [[nodiscard]] traversal order() const noexcept { return settings_.order; }
  [[nodiscard]] description describe() const {
    return description("grid")
        .with("rows", rows())
        .with("columns", columns())
        .with("order", name_of(order()))
        .with("class_rows", class_rows());
  }
  /// How many positions there are: class rows and cells.
  [[nodiscard]] index_t positions() const noexcept { return class_rows() + rows() * columns(); }

  /// The frame that positions of this grid count in: another traversal, size or class row is another frame.
  [[nodiscard]] coordinate_frame frame() const {
    return coordinate_frame{fmt::format("{}{}", extents(), traversals[static_cast<std::size_t>(order())])};
  }
  /// Whether a frame is that of a grid of this size and these class rows, in any traversal, or of no grid at all.
  [[nodiscard]] bool admits(const coordinate_frame& of) const {
    const auto is_named = [&](std::string_view order) { return of.name().ends_with(order); };
    return of.name().starts_with(extents()) || std::none_of(std::begin(traversals), std::end(traversals), is_named);
  }

  [[nodiscard]] bool contains(const cell& c) const noexcept {
    return c.row >= 0 && c.row < rows() && c.column >= 0 && c.column < columns();
  }
  [[nodiscard]] bool contains(position p) const noexcept { return p.value() >= 0 && p.value() < positions(); }
  /// Lists a place outside of the grid.
  template <class Axis>
  void expect_inside(const grid_place& place, std::string_view object, const Axis& axis, violations& found) const {
    if (const cell* c = std::get_if<cell>(&place)) {
      found.expect(contains(*c), errc::grid_bounds, object, axis, text("one of {} x {} cells", rows(), columns()),
                   text("row {}, column {}", c->row, c->column));
    } else {
      const index_t index = std::get<class_row>(place).index;
      found.expect(index >= 0 && index < class_rows(), errc::grid_bounds, object, axis,
                   text("one of {} class rows", class_rows()), text("class row {}", index));
    }
  }

  /// What stands at a position.
  [[nodiscard]] grid_place at(position p) const {
    require(contains(p), errc::grid_bounds, "grid", "position",
            text("0..{} ({} class rows, {} x {} cells)", positions() - 1, class_rows(), rows(), columns()), p.value());
    return place_of(p);
  }
  /// The position of a cell or class row.
  [[nodiscard]] position position_of(const grid_place& place) const {
    violations found;
    expect_inside(place, "grid", std::holds_alternative<cell>(place) ? "cell" : "class row", found);
    found.throw_if_any();
    return position{index_of(place)};
  }

  /// As at, of a position that is inside.
  [[nodiscard]] grid_place place_of(position p) const noexcept {
    const index_t n = p.value() - class_rows();
    if (n < 0) return class_row{p.value()};
    if (order() == traversal::column_major) return cell{n % rows(), n / rows()};
    const cell forth{n / columns(), n % columns()};
    return cell{forth.row, turned(forth)};
  }
  /// As position_of, of a place that is inside.
  [[nodiscard]] index_t index_of(const grid_place& place) const noexcept {
    const cell* c = std::get_if<cell>(&place);
    if (c == nullptr) return std::get_if<class_row>(&place)->index;
    if (order() == traversal::column_major) return class_rows() + c->column * rows() + c->row;
    return class_rows() + c->row * columns() + turned(*c);
  }

  /// The cells of rows whose positions count in this grid's frame.
  [[nodiscard]] grid_cells cells_of(const row_space& space) const {
    require(space.frame() == frame(), errc::frame_mismatch, "grid", "coordinate frame", frame().name(),
            space.frame().name());
    std::vector<grid_place> places;
    for (index_t b = 0; b < space.entries(); ++b) {
      for (index_t row = 0; row < space.rows(); ++row) {
        places.push_back(space.active(b, row) ? at(space.at(b, row)) : grid_place{});
      }
    }
    return {row_identity::of(space), std::move(places)};
  }

  /// The self-attention call of `entries` whole grids, each row at its position.
  [[nodiscard]] position_call call(index_t entries) const {
    const entry_list<affine_rows> every(
        entries, [&](index_t b) { return affine_rows{.active_end = positions(), .sequence = b}; });
    const row_space space(positions(), every, frame(), stream::encoder);
    return position_call{{.kind = call_kind::explicit_positions, .query = space, .key = space, .cache = {}}};
  }

 private:
  static constexpr std::string_view traversals[] = {"rowwise", "columnwise", "serpentine"};

  [[nodiscard]] std::string extents() const { return fmt::format("{}x{}+{} ", rows(), columns(), class_rows()); }
  /// The column, or the place along a row that runs backwards.
  [[nodiscard]] index_t turned(const cell& c) const noexcept {
    const bool backwards = order() == traversal::serpentine && c.row % 2 == 1;
    return backwards ? columns() - 1 - c.column : c.column;
  }
  grid_settings settings_;
};

}  // namespace posgeo::coordinate
