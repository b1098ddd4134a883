// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/core/error.hpp>
#include <posgeo/core/index.hpp>

#include <concepts>
#include <optional>
#include <string_view>

// What a row can be besides a place in a sequence: the values that row_column carries. A value with
// `check(object, axis, found)` is checked for every active row when it joins its content.
// Source: the coordinates of a row that are no token index: patches, pages, recordings and traces of tools.
namespace posgeo {

namespace detail {

/// Lists a count of what lies in a picture or document that is negative or beyond 2^31.
template <class Axis>
void expect_counted(index_t at, std::string_view object, const Axis& axis, violations& found) {
  found.expect(at >= 0 && at <= index_t{1} << 31, errc::grid_bounds, object, axis, "numbers from 0 to 2^31", at);
}

}  // namespace detail

/// The cell of an image grid that a patch was cut from. Units: patches, from the top left one, {0, 0}.
struct image_cell {
  index_t row = 0;
  index_t column = 0;
  friend bool operator==(const image_cell&, const image_cell&) noexcept = default;

  template <class Axis>
  void check(std::string_view object, const Axis& axis, violations& found) const {
    for (const index_t at : {row, column}) detail::expect_counted(at, object, axis, found);
  }
};

/// Where an element lies on its page or screen. Units: those of the page, x to the right, y down; x0 <= x1, y0 <= y1.
struct document_box {
  double x0 = 0;
  double y0 = 0;
  double x1 = 0;
  double y1 = 0;
  friend bool operator==(const document_box&, const document_box&) noexcept = default;

  template <class Axis>
  void check(std::string_view object, const Axis& axis, violations& found) const {
    for (const double edge : {x0, y0, x1, y1}) {
      found.expect(edge - edge == 0, errc::non_finite, object, axis, "finite edges", edge);
    }
    found.expect(!(x1 < x0) && !(y1 < y0), errc::grid_bounds, object, axis, "x0 <= x1 and y0 <= y1",
                 text("{} .. {} and {} .. {}", x0, x1, y0, y1));
  }
};

/// Units: pages and elements, both counted from 0; reading order is counted within the page.
struct page_place {
  index_t page = 0;
  index_t reading_order = 0;
  friend bool operator==(const page_place&, const page_place&) noexcept = default;

  template <class Axis>
  void check(std::string_view object, const Axis& axis, violations& found) const {
    for (const index_t at : {page, reading_order}) detail::expect_counted(at, object, axis, found);
  }
};

/// When an audio or video frame is heard or seen. Units: seconds from the start of the recording.
struct media_time {
  double start = 0;
  double duration = 0;
  friend bool operator==(const media_time&, const media_time&) noexcept = default;

  template <class Axis>
  void check(std::string_view object, const Axis& axis, violations& found) const {
    for (const double seconds : {start, duration}) {
      found.expect(seconds - seconds == 0, errc::non_finite, object, axis, "finite seconds", seconds);
    }
    found.expect(!(duration < 0), errc::negative_offset, object, axis, "a duration of at least 0", duration);
  }
};

enum class event_status { pending, succeeded, failed, cancelled };

/// A tool call, its result, or another event of a trace. `order` is its number in its sequence and the name by which
/// its children call it, wherever they are stored.
struct event {
  index_t order = 0;
  std::optional<double> timestamp = {};  ///< seconds from the origin of the trace; none if it is not known
  std::optional<index_t> parent = {};    ///< the order of the event that caused it
  event_status status = event_status::pending;
  friend bool operator==(const event&, const event&) noexcept = default;

  template <class Axis>
  void check(std::string_view object, const Axis& axis, violations& found) const {
    const double seconds = timestamp.value_or(0.0);
    found.expect(seconds - seconds == 0, errc::non_finite, object, axis, "a finite timestamp or none", seconds);
    found.expect(parent != order, errc::graph_structure, object, axis, "another event for a parent",
                 text("event {} itself", order));
  }
};

/// A value that names another row of its sequence.
template <class Value>
concept names_parent = requires(Value& value) {
  { value.order } -> std::convertible_to<index_t>;
  { value.parent } -> std::same_as<std::optional<index_t>&>;
};

}  // namespace posgeo
