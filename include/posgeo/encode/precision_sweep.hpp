// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/encode/sinusoidal.hpp>

#include <limits>
#include <map>
#include <optional>
#include <utility>

namespace posgeo::encode {

/// Two positions, the earlier first.
using position_pair = std::pair<position, position>;

/// The first two neighbouring integers from `first` on that are one number in the format, below `last`.
/// A table whose positions pass through the format cannot tell them apart in any column.
[[nodiscard]] inline std::optional<position_pair> first_alias(precision format, position first, position last) {
  for (index_t p = first.value(); p < last.value(); ++p) {
    if (round_to(format, static_cast<double>(p)) == round_to(format, static_cast<double>(p + 1))) {
      return position_pair{position{p}, position{p + 1}};
    }
  }
  return std::nullopt;
}

/// What a table kept in a format can tell apart.
struct precision_report {
  std::optional<position_pair> first_collision;  ///< the first pair of equal rows, ordered by the later position
  position_pair closest;                         ///< the two neighbouring rows that are nearest to each other
  double closest_distance = std::numeric_limits<double>::infinity();  ///< their Euclidean distance
};

/// Builds the rows of positions [first, last), keeps each in the storage format and compares them.
/// A measurement over a finite range, not a proof of uniqueness.
/// Throws: errc::row_count for fewer than two positions; errc::position_precision for one not exact in double.
/// Source: the finite-precision analysis of sinusoidal coordinates in docs/mechanisms/sinusoidal.md.
[[nodiscard]] inline precision_report sweep_precision(const sinusoidal& encoder, precision storage, position first,
                                                      position last) {
  const index_t count = saturating_subtract(last.value(), first.value());
  require(count >= 2, errc::row_count, "precision sweep", "positions", "at least 2", count);
  violations found;
  const index_t offset = encoder.settings().offset;
  for (const index_t end : {saturating_add(first.value(), offset), saturating_add(last.value() - 1, offset)}) {
    encoder.expect_distinct(end, "precision sweep", found);
  }
  found.throw_if_any();

  precision_report report;
  std::map<std::vector<double>, index_t> seen;
  std::vector<double> previous;
  for (index_t p = first.value(); p < last.value(); ++p) {
    std::vector<double> row(static_cast<std::size_t>(encoder.width()));
    encoder.for_each_column(static_cast<double>(p + offset), [&](index_t column, double value) {
      row[static_cast<std::size_t>(column)] = round_to(storage, value);
    });
    if (!previous.empty()) {
      double squares = 0.0;
      for (std::size_t c = 0; c < row.size(); ++c) squares += (row[c] - previous[c]) * (row[c] - previous[c]);
      if (std::sqrt(squares) < report.closest_distance) {
        report.closest_distance = std::sqrt(squares);
        report.closest = {position{p - 1}, position{p}};
      }
    }
    const auto [at, is_new] = seen.emplace(row, p);
    if (!is_new && !report.first_collision) report.first_collision = {position{at->second}, position{p}};
    previous = std::move(row);
  }
  return report;
}

}  // namespace posgeo::encode
