// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/call/row_space.hpp>
#include <posgeo/core/error.hpp>

#include <concepts>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace posgeo {

/// The logical row that a storage row holds. Padding is no row: all padding is alike.
struct row_name {
  index_t sequence = 0;
  index_t position = 0;
  bool active = true;
  friend bool operator==(const row_name& a, const row_name& b) noexcept {
    return a.active == b.active && (!a.active || (a.sequence == b.sequence && a.position == b.position));
  }
};

/// The logical rows of one side of a call in storage order. What belongs to rows (boxes, times, parents) carries one:
/// equal extents do not make equal rows. Rows under new names remember the first ones, so that two identities are equal
/// only if both agree; a call knows names alone, and is held against those.
/// Shapes: [entries, rows].
/// Throws: errc::row_count if there is not one name for each row.
class row_identity {
 public:
  row_identity(index_t entries, index_t rows, std::vector<row_name> names, coordinate_frame frame = {})
      : entries_(entries), rows_(rows), frame_(frame) {
    constexpr index_t most = index_t{1} << 31;  // so that their product does not overflow
    require(
        entries >= 0 && rows >= 0 && entries <= most && rows <= most && std::cmp_equal(names.size(), entries * rows),
        errc::row_count, "row identity", "names", text("{} entries x {} rows", entries, rows), names.size());
    names_ = std::make_shared<const std::vector<row_name>>(std::move(names));
    first_names_ = names_;
  }

  /// The identity of a call's query or key space.
  [[nodiscard]] static row_identity of(const row_space& space) {
    std::vector<row_name> names;
    for (index_t b = 0; b < space.entries(); ++b) {
      for (index_t row = 0; row < space.rows(); ++row) {
        names.push_back({space.sequence(b, row), space.at(b, row).value(), space.active(b, row)});
      }
    }
    return {space.entries(), space.rows(), std::move(names), space.frame()};
  }
  /// The same rows under new names. Throws: errc::row_count if there is not one name for each row.
  [[nodiscard]] row_identity renamed(std::vector<row_name> names) const {
    row_identity out(entries_, rows_, std::move(names), frame_);
    if (*out.names_ != *first_names_) out.first_names_ = first_names_;
    return out;
  }

  [[nodiscard]] index_t entries() const noexcept { return entries_; }
  [[nodiscard]] index_t rows() const noexcept { return rows_; }
  [[nodiscard]] const coordinate_frame& frame() const noexcept { return frame_; }
  [[nodiscard]] const row_name& name(index_t b, index_t row) const noexcept {
    return (*names_)[static_cast<std::size_t>(b * rows_ + row)];
  }
  /// The name that the row had before it was given others.
  [[nodiscard]] const row_name& first_name(index_t b, index_t row) const noexcept {
    return (*first_names_)[static_cast<std::size_t>(b * rows_ + row)];
  }
  friend bool operator==(const row_identity& a, const row_identity& b) noexcept {
    return a.same_names(b) && (a.first_names_ == b.first_names_ || *a.first_names_ == *b.first_names_);
  }

  /// Refuses other rows than these, naming the first that differs.
  void expect(const row_identity& other, std::string_view object, violations& found) const {
    if (*this == other) return;
    if (!same_names(other)) {
      expect_names(other, object, found);
      return;
    }
    for (index_t b = 0; b < entries_; ++b) {
      for (index_t row = 0; row < rows_; ++row) {
        if (first_name(b, row) == other.first_name(b, row)) continue;
        found.expect(false, errc::row_identity, object, text("row {} of entry {}, before it was renumbered", row, b),
                     said(first_name(b, row)), said(other.first_name(b, row)));
        return;
      }
    }
  }
  /// Refuses a side of a call whose rows have other names than these.
  void expect_of(const row_space& space, std::string_view object, violations& found) const {
    const row_identity other = of(space);
    if (!same_names(other)) expect_names(other, object, found);
  }

 private:
  [[nodiscard]] bool same_names(const row_identity& other) const noexcept {
    return entries_ == other.entries_ && rows_ == other.rows_ && frame_ == other.frame_ &&
           (names_ == other.names_ || *names_ == *other.names_);
  }
  void expect_names(const row_identity& other, std::string_view object, violations& found) const {
    if (frame_ != other.frame_) {
      found.expect(false, errc::row_identity, object, "coordinate frame", frame_.name(), other.frame_.name());
      return;
    }
    if (entries_ != other.entries_ || rows_ != other.rows_) {
      found.expect(false, errc::row_identity, object, "rows", text("{} entries x {} rows", entries_, rows_),
                   text("{} x {}", other.entries_, other.rows_));
      return;
    }
    for (index_t b = 0; b < entries_; ++b) {
      for (index_t row = 0; row < rows_; ++row) {
        if (name(b, row) == other.name(b, row)) continue;
        found.expect(false, errc::row_identity, object, text("row {} of entry {}", row, b), said(name(b, row)),
                     said(other.name(b, row)));
        return;
      }
    }
  }
  static std::string said(const row_name& name) {
    return name.active ? fmt::format("position {} of sequence {}", name.position, name.sequence) : "padding";
  }

  index_t entries_;
  index_t rows_;
  coordinate_frame frame_;
  std::shared_ptr<const std::vector<row_name>> names_;
  std::shared_ptr<const std::vector<row_name>> first_names_;
};

/// One typed value for each row, tied to the rows by their identity.
/// Shapes: [entries, rows]; the value of padding is never read. Truth values are std::uint8_t.
/// Throws: errc::row_count if there is not one value for each row.
template <class Value>
requires(!std::same_as<Value, bool>) class row_column {
 public:
  row_column(row_identity rows, std::vector<Value> values) : rows_(std::move(rows)) {
    require(values.size() == static_cast<std::size_t>(rows_.entries() * rows_.rows()), errc::row_count, "row column",
            "values", text("{} entries x {} rows", rows_.entries(), rows_.rows()), values.size());
    values_ = std::make_shared<const std::vector<Value>>(std::move(values));
  }

  [[nodiscard]] const row_identity& rows() const noexcept { return rows_; }
  [[nodiscard]] const std::vector<Value>& values() const noexcept { return *values_; }
  [[nodiscard]] const Value& at(index_t b, index_t row) const noexcept {
    return (*values_)[static_cast<std::size_t>(b * rows_.rows() + row)];
  }

  /// Refuses a side of a call whose rows are not the column's, in the column's order.
  void expect_of(const row_space& space, std::string_view object, violations& found) const {
    rows_.expect_of(space, object, found);
  }

 private:
  row_identity rows_;
  std::shared_ptr<const std::vector<Value>> values_;
};

}  // namespace posgeo
