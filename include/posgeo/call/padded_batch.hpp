// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/call/position_call.hpp>
#include <posgeo/core/required.hpp>

#include <span>

namespace posgeo::call {

/// At which end of an entry its padding stands.
enum class padding_side { left, right };

/// Which position each row of a padded batch has. Models disagree, so the rule is always named.
class padded_positions {
 public:
  enum class rule { contiguous, fixed, compressed };

  /// Storage row r is at first + r, padding or not (BERT).
  static padded_positions contiguous(index_t first = 0) { return {rule::contiguous, first, 0}; }
  /// Active row r is at first + r; every padded row is at `padded`.
  static padded_positions fixed(index_t first, index_t padded) { return {rule::fixed, first, padded}; }
  /// The k-th active row is at first + k; every padded row is at `padded` (RoBERTa: first = padded + 1).
  static padded_positions compressed(index_t first, index_t padded) { return {rule::compressed, first, padded}; }

  [[nodiscard]] rule how() const noexcept { return rule_; }
  [[nodiscard]] index_t first() const noexcept { return first_; }
  [[nodiscard]] index_t padded() const noexcept { return padded_; }

 private:
  padded_positions(rule how, index_t first, index_t padded) : rule_(how), first_(first), padded_(padded) {}
  rule rule_;
  index_t first_;
  index_t padded_;
};

/// Self-attention over a rectangle [entries, rows] with padding at one end.
struct padded_batch_spec {
  std::span<const index_t> lengths;  ///< active rows of each entry
  index_t rows = 0;                  ///< storage rows of every entry
  required<padding_side> side;
  padded_positions positions;
  coordinate_frame frame = {};
  stream origin = stream::shared;
};

/// Self-attention over a rectangle [entries, rows] with padding anywhere, given by a mask.
struct masked_batch_spec {
  std::span<const std::uint8_t> active;  ///< [entries * rows], 1 for a token and 0 for padding
  index_t entries = 0;
  index_t rows = 0;
  padded_positions positions;
  coordinate_frame frame = {};
  stream origin = stream::shared;
};

[[nodiscard]] inline call_description describe(const padded_batch_spec& spec) {
  const auto entry = [&](index_t b) {
    const index_t length = spec.lengths[static_cast<std::size_t>(b)];
    const index_t begin = spec.side == padding_side::left ? saturating_subtract(spec.rows, length) : 0;
    const index_t skipped = spec.positions.how() == padded_positions::rule::compressed ? begin : 0;
    return affine_rows{saturating_subtract(spec.positions.first(), skipped), begin, saturating_add(begin, length), b};
  };
  const auto padded = spec.positions.how() == padded_positions::rule::contiguous
                          ? std::nullopt
                          : std::optional{spec.positions.padded()};
  const row_space space{spec.rows, {static_cast<index_t>(spec.lengths.size()), entry}, spec.frame, spec.origin, padded};
  return {.kind = call_kind::padded_batch, .query = space, .key = space, .cache = {}};
}

[[nodiscard]] inline call_description describe(const masked_batch_spec& spec) {
  explicit_rows spelled;
  spelled.active.assign(spec.active.begin(), spec.active.end());
  index_t row = 0;
  index_t entry = 0;
  index_t counted = 0;
  for (const std::uint8_t active : spec.active) {
    const index_t along = spec.positions.how() == padded_positions::rule::compressed ? counted : row;
    const bool on_line = active != 0 || spec.positions.how() == padded_positions::rule::contiguous;
    spelled.positions.push_back(on_line ? saturating_add(spec.positions.first(), along) : spec.positions.padded());
    spelled.sequences.push_back(entry);
    counted += active != 0 ? 1 : 0;
    if (++row == spec.rows) {
      ++entry;
      row = counted = 0;
    }
  }
  const row_space space{spec.entries, spec.rows, std::move(spelled), spec.frame, spec.origin};
  return {.kind = call_kind::padded_batch, .query = space, .key = space, .cache = {}};
}

/// The call of a padded batch. Throws: see position_call.
[[nodiscard]] inline position_call padded_batch(const padded_batch_spec& spec) { return position_call{describe(spec)}; }
[[nodiscard]] inline position_call padded_batch(const masked_batch_spec& spec) { return position_call{describe(spec)}; }

}  // namespace posgeo::call
