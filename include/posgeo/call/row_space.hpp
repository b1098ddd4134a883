// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/core/entry_list.hpp>
#include <posgeo/core/label.hpp>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace posgeo {

/// The coordinate system that positions of a space belong to. Two spaces may be subtracted only if theirs are equal.
class coordinate_frame {
 public:
  coordinate_frame() : coordinate_frame("sequence") {}
  explicit coordinate_frame(std::string_view name) : name_(name) {}
  [[nodiscard]] std::string_view name() const noexcept { return name_.text(); }
  friend bool operator==(const coordinate_frame&, const coordinate_frame&) noexcept = default;

 private:
  label name_;
};

/// Which stack a space's rows come from.
enum class stream { encoder, decoder, shared };

/// One batch entry whose active rows stand next to each other: storage row r is at position first + r.
struct affine_rows {
  index_t first = 0;         ///< position of storage row 0, be it active or not
  index_t active_begin = 0;  ///< first active storage row
  index_t active_end = 0;    ///< one past the last active storage row
  index_t sequence = 0;      ///< the sequence that owns the active rows
};

/// Every row spelled out. Shapes: three arrays [entries * rows], entry after entry.
struct explicit_rows {
  std::vector<index_t> positions;
  std::vector<index_t> sequences;
  std::vector<std::uint8_t> active;  ///< 1 for a token, 0 for padding
};

/// The rows of one side of a call: who owns each, where it stands, whether it is a token or padding. Immutable.
/// A span of positions is affine (the common case) or explicit, never guessed from a length.
class row_space {
 public:
  row_space() = default;

  /// Every entry affine. With padded_position, rows outside the active range stand there instead of on the line.
  row_space(index_t rows, entry_list<affine_rows> entries, coordinate_frame frame, stream origin,
            std::optional<index_t> padded_position = std::nullopt)
      : rows_(rows),
        entries_(entries.size()),
        frame_(frame),
        stream_(origin),
        affine_(std::move(entries)),
        padded_position_(padded_position) {}

  /// Every row explicit. The arrays must have entries * rows elements; check(call_description) verifies it.
  row_space(index_t entries, index_t rows, explicit_rows spelled, coordinate_frame frame, stream origin)
      : rows_(rows), entries_(entries), frame_(frame), stream_(origin) {
    auto block = std::make_shared<spelled_rows>();
    static_cast<explicit_rows&>(*block) = std::move(spelled);
    if (sizes_agree(*block)) index_sequences(*block);
    explicit_ = std::move(block);
  }

  [[nodiscard]] index_t entries() const noexcept { return entries_; }
  [[nodiscard]] index_t rows() const noexcept { return rows_; }
  [[nodiscard]] const coordinate_frame& frame() const noexcept { return frame_; }
  [[nodiscard]] stream origin() const noexcept { return stream_; }
  [[nodiscard]] bool affine() const noexcept { return explicit_ == nullptr; }
  [[nodiscard]] const entry_list<affine_rows>& affine_entries() const noexcept { return affine_; }
  [[nodiscard]] const explicit_rows& spelled_out() const noexcept { return *explicit_; }
  [[nodiscard]] std::optional<index_t> padded_position() const noexcept { return padded_position_; }

  [[nodiscard]] bool active(index_t b, index_t row) const noexcept {
    if (explicit_) return explicit_->active[flat(b, row)] != 0;
    const affine_rows& entry = affine_[b];
    return row >= entry.active_begin && row < entry.active_end;
  }
  [[nodiscard]] position at(index_t b, index_t row) const noexcept {
    if (explicit_) return position{explicit_->positions[flat(b, row)]};
    if (padded_position_ && !active(b, row)) return position{*padded_position_};
    return position{affine_[b].first + row};
  }
  [[nodiscard]] index_t sequence(index_t b, index_t row) const noexcept {
    return explicit_ ? explicit_->sequences[flat(b, row)] : affine_[b].sequence;
  }

  /// The lowest and the highest position of entry b, padding included; {0, 0} without rows.
  [[nodiscard]] std::pair<index_t, index_t> position_bounds(index_t b) const noexcept {
    if (rows_ == 0) return {0, 0};
    if (explicit_) {
      const auto begin = explicit_->positions.begin() + b * rows_;
      const auto [lowest, highest] = std::minmax_element(begin, begin + rows_);
      return {*lowest, *highest};
    }
    const affine_rows& entry = affine_[b];
    if (!padded_position_) return {entry.first, entry.first + rows_ - 1};
    if (entry.active_begin == entry.active_end) return {*padded_position_, *padded_position_};
    const index_t lowest = entry.first + entry.active_begin;
    const index_t highest = entry.first + entry.active_end - 1;
    if (entry.active_begin == 0 && entry.active_end == rows_) return {lowest, highest};
    return {std::min(lowest, *padded_position_), std::max(highest, *padded_position_)};
  }

  /// Storage rows [first, second) outside of which entry b has no active row of the sequence.
  [[nodiscard]] std::pair<index_t, index_t> sequence_rows(index_t b, index_t sequence) const noexcept {
    if (!explicit_) {
      const affine_rows& entry = affine_[b];
      return entry.sequence == sequence ? std::pair{entry.active_begin, entry.active_end}
                                        : std::pair{index_t{0}, index_t{0}};
    }
    const sequence_extent wanted{b, sequence, 0, 0};
    const auto found = std::lower_bound(explicit_->extents.begin(), explicit_->extents.end(), wanted, in_order);
    if (found == explicit_->extents.end() || in_order(wanted, *found)) return {0, 0};
    return {found->begin, found->end};
  }

  /// Storage rows [first, second) outside of which entry b has only padding.
  [[nodiscard]] std::pair<index_t, index_t> active_rows(index_t b) const noexcept {
    if (!explicit_) return {affine_[b].active_begin, affine_[b].active_end};
    return rows_ == 0 ? std::pair{index_t{0}, index_t{0}} : explicit_->hulls[static_cast<std::size_t>(b)];
  }

  /// Storage rows [first, second) outside of which no row of entry b stands in [lowest, highest].
  [[nodiscard]] std::pair<index_t, index_t> rows_within(index_t b, index_t lowest, index_t highest) const noexcept {
    if (explicit_ || lowest > highest) return {0, explicit_ ? rows_ : 0};
    const affine_rows& entry = affine_[b];
    const index_t on_line_begin = padded_position_ ? entry.active_begin : 0;
    const index_t on_line_end = padded_position_ ? entry.active_end : rows_;
    index_t begin = std::clamp(lowest - entry.first, on_line_begin, on_line_end);
    index_t end = std::clamp(highest - entry.first + 1, on_line_begin, on_line_end);
    if (padded_position_ && *padded_position_ >= lowest && *padded_position_ <= highest) {
      if (entry.active_begin > 0) begin = 0;
      if (entry.active_end < rows_) end = rows_;
    }
    return {begin, end};
  }

  [[nodiscard]] bool has_padding() const noexcept {
    if (explicit_) return std::find(explicit_->active.begin(), explicit_->active.end(), 0) != explicit_->active.end();
    for (index_t b = 0; b < affine_.size(); ++b) {
      if (affine_[b].active_begin > 0 || affine_[b].active_end < rows_) return true;
    }
    return false;
  }

  /// The lowest and the highest sequence among the active rows of entry b, if there are any.
  [[nodiscard]] std::optional<std::pair<index_t, index_t>> sequence_bounds(index_t b) const noexcept {
    if (!explicit_) {
      const affine_rows& entry = affine_[b];
      if (entry.active_begin >= entry.active_end) return std::nullopt;
      return std::pair{entry.sequence, entry.sequence};
    }
    const auto before = [](const sequence_extent& extent, index_t entry) { return extent.entry < entry; };
    const auto first = std::lower_bound(explicit_->extents.begin(), explicit_->extents.end(), b, before);
    const auto last = std::lower_bound(first, explicit_->extents.end(), b + 1, before);
    if (first == last) return std::nullopt;
    return std::pair{first->sequence, std::prev(last)->sequence};
  }

  /// Whether the explicit arrays have one element for each row.
  [[nodiscard]] bool sizes_agree() const noexcept { return !explicit_ || sizes_agree(*explicit_); }

 private:
  struct sequence_extent {
    index_t entry;
    index_t sequence;
    index_t begin;
    index_t end;
  };
  struct spelled_rows : explicit_rows {
    std::vector<sequence_extent> extents;            ///< sorted by entry, then sequence; active rows only
    std::vector<std::pair<index_t, index_t>> hulls;  ///< for each entry, where its active rows lie
  };

  static bool in_order(const sequence_extent& a, const sequence_extent& b) noexcept {
    return std::pair{a.entry, a.sequence} < std::pair{b.entry, b.sequence};
  }
  [[nodiscard]] std::size_t flat(index_t b, index_t row) const noexcept {
    return static_cast<std::size_t>(b * rows_ + row);
  }
  [[nodiscard]] bool sizes_agree(const explicit_rows& spelled) const noexcept {
    if (entries_ < 0 || rows_ < 0) return false;
    const auto holds_all = [this](std::size_t size) {
      return rows_ == 0 ? size == 0
                        : size % static_cast<std::size_t>(rows_) == 0 &&
                              std::cmp_equal(size / static_cast<std::size_t>(rows_), entries_);
    };
    return holds_all(spelled.positions.size()) && holds_all(spelled.sequences.size()) &&
           holds_all(spelled.active.size());
  }
  void index_sequences(spelled_rows& block) const {
    if (rows_ == 0) return;
    std::vector<sequence_extent>& extents = block.extents;
    for (index_t b = 0; b < entries_; ++b) {
      for (index_t row = 0; row < rows_; ++row) {
        if (block.active[flat(b, row)] == 0) continue;
        const index_t sequence = block.sequences[flat(b, row)];
        if (!extents.empty() && extents.back().entry == b && extents.back().sequence == sequence) {
          extents.back().end = row + 1;
        } else {
          extents.push_back({b, sequence, row, row + 1});
        }
      }
    }
    std::stable_sort(extents.begin(), extents.end(), in_order);
    std::size_t kept = 0;
    for (std::size_t n = 1; n < extents.size(); ++n) {
      if (in_order(extents[kept], extents[n])) {
        extents[++kept] = extents[n];
      } else {
        extents[kept].end = std::max(extents[kept].end, extents[n].end);
      }
    }
    if (!extents.empty()) extents.resize(kept + 1);
    block.hulls.assign(static_cast<std::size_t>(entries_), {rows_, 0});
    for (const sequence_extent& extent : extents) {
      auto& hull = block.hulls[static_cast<std::size_t>(extent.entry)];
      hull = {std::min(hull.first, extent.begin), std::max(hull.second, extent.end)};
    }
  }

  index_t rows_ = 0;
  index_t entries_ = 0;
  coordinate_frame frame_;
  stream stream_ = stream::shared;
  entry_list<affine_rows> affine_;
  std::optional<index_t> padded_position_;
  std::shared_ptr<const spelled_rows> explicit_;
};

}  // namespace posgeo
