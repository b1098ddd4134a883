// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/call/row_space.hpp>
#include <posgeo/manifest/span.hpp>

#include <utility>

namespace posgeo::manifest {

/// The query rows of one batch entry and where they stand.
struct query_entry {
  spans row_indices;
  spans logical_positions;
  static constexpr auto fields() {
    return std::make_tuple(field("row_indices", &query_entry::row_indices),
                           field("logical_positions", &query_entry::logical_positions));
  }
  friend bool operator==(const query_entry&, const query_entry&) noexcept = default;
};

/// Which rows ask. Units: positions of the frame.
struct query_space_record {
  posgeo::coordinate_frame coordinate_frame;
  std::vector<query_entry> entries;
  static constexpr auto fields() {
    return std::make_tuple(field("coordinate_frame", &query_space_record::coordinate_frame),
                           field("entries", &query_space_record::entries, "entry"));
  }
  friend bool operator==(const query_space_record&, const query_space_record&) noexcept = default;
};

/// What the row numbers of a key space count.
enum class key_address { row_indices, cache_slots };
[[nodiscard]] constexpr auto names_of(key_address) noexcept {
  return std::array<std::string_view, 2>{"row_indices", "cache_slots"};
}

/// The key rows of one batch entry and where they stand.
struct key_entry {
  spans rows;
  spans logical_positions;
  static constexpr auto fields() {
    return std::make_tuple(field("rows", &key_entry::rows), field("logical_positions", &key_entry::logical_positions));
  }
  friend bool operator==(const key_entry&, const key_entry&) noexcept = default;
};

/// Which rows are asked. Units: positions of the frame.
struct key_space_record {
  posgeo::coordinate_frame coordinate_frame;
  key_address addressed_by;
  std::vector<key_entry> entries;
  static constexpr auto fields() {
    return std::make_tuple(field("coordinate_frame", &key_space_record::coordinate_frame),
                           field("addressed_by", &key_space_record::addressed_by),
                           field("entries", &key_space_record::entries, "entry"));
  }
  friend bool operator==(const key_space_record&, const key_space_record&) noexcept = default;
};

namespace detail {

inline std::optional<broken_rule> broken_rows(const spans& rows, std::string_view key) {
  for (const span& piece : rows) {
    const index_t lowest = std::min(piece.first, piece.first + (piece.count - 1) * piece.step);
    if (lowest < 0) return broken_rule{key, "rows of at least 0", std::to_string(lowest)};
  }
  return std::nullopt;
}

}  // namespace detail

[[nodiscard]] inline std::optional<broken_rule> broken(const query_entry& entry) {
  return detail::broken_rows(entry.row_indices, "row_indices");
}
[[nodiscard]] inline std::optional<broken_rule> broken(const key_entry& entry) {
  return detail::broken_rows(entry.rows, "rows");
}

/// Where the key rows of a call lie: in the rows of the key tensor, or in slots of a cache that only the caller knows.
class key_rows {
 public:
  [[nodiscard]] static key_rows row_indices() { return {key_address::row_indices, {}}; }
  /// One slot for each key row of each batch entry.
  [[nodiscard]] static key_rows cache_slots(std::vector<std::vector<index_t>> slots) {
    return {key_address::cache_slots, std::move(slots)};
  }
  [[nodiscard]] key_address addressed_by() const noexcept { return address_; }
  [[nodiscard]] const std::vector<std::vector<index_t>>& slots() const noexcept { return slots_; }

 private:
  key_rows(key_address address, std::vector<std::vector<index_t>> slots)
      : address_(address), slots_(std::move(slots)) {}
  key_address address_;
  std::vector<std::vector<index_t>> slots_;
};

}  // namespace posgeo::manifest
