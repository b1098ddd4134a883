// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/call/padded_batch.hpp>
#include <posgeo/call/row_pairs.hpp>
#include <posgeo/call/row_values.hpp>

#include <array>
#include <map>
#include <set>
#include <span>

namespace posgeo {

/// Where rows stand after some of them were dropped, repeated or joined.
enum class row_numbers {
  kept,       ///< each where it stood
  restarted,  ///< each sequence of an entry counts its rows from 0, in storage order
};

/// What becomes of a row whose parent was dropped.
enum class orphans {
  refused,
  detached,  ///< it has no parent any more
  kept,      ///< it goes on naming the row that is gone, as a part of a longer trace does
};

/// Which time a resampled row carries.
class row_times {
 public:
  /// That of the row it was taken from: frames were dropped or repeated.
  [[nodiscard]] static row_times kept() { return {}; }
  /// The n-th row of its sequence starts at start + n * step and lasts for step, in seconds: the rate was changed.
  /// Throws: errc::missing_value unless both are finite and the step is positive.
  [[nodiscard]] static row_times evenly(double start, double step) {
    require(start - start == 0 && step - step == 0 && step > 0, errc::missing_value, "row times", "start and step",
            "a finite start and a positive step", text("{} and {}", start, step));
    row_times times;
    times.step_ = step;
    times.start_ = start;
    return times;
  }

  [[nodiscard]] media_time operator()(const media_time& source, index_t n) const noexcept {
    return step_ > 0 ? media_time{start_ + static_cast<double>(n) * step_, step_} : source;
  }

 private:
  row_times() = default;
  double start_ = 0;
  double step_ = 0;
};

/// Where padding goes, and where it stands.
struct row_padding {
  required<call::padding_side> side;
  required<index_t> position;
};

/// In a list of storage rows: padding instead of a row.
inline constexpr index_t no_row = -1;

namespace detail {

template <class Column>
inline constexpr bool has_parents = false;
template <names_parent Value>
inline constexpr bool has_parents<row_column<Value>> = true;
template <class Column>
inline constexpr bool has_pairs = false;
template <class Value>
inline constexpr bool has_pairs<row_pairs<Value>> = true;

/// For each row of the result the storage row that it takes, or no_row.
struct row_selection {
  index_t rows = 0;
  std::vector<index_t> take;  ///< [entries * rows]
  index_t padded_position = 0;
  row_numbers numbers = row_numbers::kept;
  posgeo::orphans parents = orphans::refused;
  row_times times = row_times::kept();

  [[nodiscard]] index_t source(index_t b, index_t row) const { return take[static_cast<std::size_t>(b * rows + row)]; }
};

/// Calls visit(name, n) for each active row, n being how many rows of its sequence and entry came before it.
template <class Names, class Visit>
void count_rows(Names& names, index_t rows, const Visit& visit) {
  std::map<index_t, index_t> counted;
  for (std::size_t at = 0; at < names.size(); ++at) {
    if (rows > 0 && static_cast<index_t>(at) % rows == 0) counted.clear();
    if (names[at].active) visit(at, counted[names[at].sequence]++);
  }
}

inline row_identity numbered(index_t entries, index_t rows, std::vector<row_name> names, row_numbers numbers,
                             const coordinate_frame& frame) {
  if (numbers == row_numbers::restarted) {
    count_rows(names, rows, [&](std::size_t at, index_t n) { names[at].position = n; });
  }
  return {entries, rows, std::move(names), frame};
}

inline row_identity select(const row_identity& from, const row_selection& s) {
  std::vector<row_name> names;
  for (index_t b = 0; b < from.entries(); ++b) {
    for (index_t row = 0; row < s.rows; ++row) {
      const index_t source = s.source(b, row);
      names.push_back(source == no_row ? row_name{0, s.padded_position, false} : from.name(b, source));
    }
  }
  return numbered(from.entries(), s.rows, std::move(names), s.numbers, from.frame());
}

/// The orders of the active rows of each entry and sequence; refuses one that is there twice.
template <names_parent Value>
std::set<std::array<index_t, 3>> orders_of(const row_identity& rows, const std::vector<Value>& values,
                                           violations& found) {
  std::set<std::array<index_t, 3>> orders;
  for (index_t b = 0; b < rows.entries(); ++b) {
    for (index_t row = 0; row < rows.rows(); ++row) {
      if (!rows.name(b, row).active) continue;
      const index_t order = values[static_cast<std::size_t>(b * rows.rows() + row)].order;
      const bool first = orders.insert({b, rows.name(b, row).sequence, order}).second;
      found.expect(first, errc::row_identity, "event rows", text("order in sequence {}", rows.name(b, row).sequence),
                   "each once", text("{} twice", order));
    }
  }
  return orders;
}

template <class Value>
row_column<Value> select(const row_column<Value>& from, const row_identity& to, const row_selection& s) {
  std::vector<Value> values;
  std::vector<row_name> names;
  for (index_t b = 0; b < to.entries(); ++b) {
    for (index_t row = 0; row < s.rows; ++row) {
      const index_t source = s.source(b, row);
      values.push_back(source == no_row ? Value{} : from.at(b, source));
      names.push_back(to.name(b, row));
    }
  }
  if constexpr (std::same_as<Value, media_time>) {
    count_rows(names, s.rows, [&](std::size_t at, index_t n) { values[at] = s.times(values[at], n); });
  }
  if constexpr (names_parent<Value>) {
    violations found;
    const auto before = orders_of(from.rows(), from.values(), found);
    const auto after = orders_of(to, values, found);
    for (std::size_t at = 0; at < values.size(); ++at) {
      if (!names[at].active || !values[at].parent || s.parents == orphans::kept) continue;
      const std::array<index_t, 3> parent{static_cast<index_t>(at) / s.rows, names[at].sequence, *values[at].parent};
      if (!before.contains(parent) || after.contains(parent)) continue;
      found.expect(s.parents == orphans::detached, errc::missing_value, "event rows",
                   text("parent of event {} of sequence {}", values[at].order, names[at].sequence),
                   text("event {} among the rows that are kept", *values[at].parent), "a dropped row");
      values[at].parent.reset();
    }
    found.throw_if_any();
  }
  return {to, std::move(values)};
}

template <class Value>
row_pairs<Value> select(const row_pairs<Value>& from, const row_identity& to, const row_selection& s) {
  std::vector<Value> values;
  for (index_t b = 0; b < to.entries(); ++b) {
    for (index_t row = 0; row < s.rows; ++row) {
      for (index_t other = 0; other < s.rows; ++other) {
        const index_t i = s.source(b, row);
        const index_t j = s.source(b, other);
        values.push_back(i == no_row || j == no_row ? Value{} : from.at(b, i, j));
      }
    }
  }
  return {to, std::move(values)};
}

}  // namespace detail
}  // namespace posgeo
