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

/// Rows that start at start + n * step and last for step. Units: seconds.
struct even_times {
  required<double> start;
  required<double> step;
};

/// Which time a resampled row carries.
class row_times {
 public:
  /// That of the row it was taken from: frames were dropped or repeated.
  [[nodiscard]] static row_times kept() { return {}; }
  /// The n-th row of its sequence starts at start + n * step and lasts for step, in seconds: the rate was changed.
  /// Throws: errc::missing_value unless both are finite and the step is positive.
  [[nodiscard]] static row_times evenly(const even_times& how) {
    const double start = how.start;
    const double step = how.step;
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

/// The names of rows that were put together from others, and the first names of the same rows.
struct gathered_names {
  std::vector<row_name> now;
  std::vector<row_name> first;

  void push(const row_identity& from, index_t b, index_t row) {
    now.push_back(from.name(b, row));
    first.push_back(from.first_name(b, row));
  }
};

inline row_identity numbered(index_t entries, index_t rows, gathered_names names, row_numbers numbers,
                             const coordinate_frame& frame) {
  if (numbers == row_numbers::restarted) {
    count_rows(names.now, rows, [&](std::size_t at, index_t n) { names.now[at].position = n; });
  }
  return row_identity(entries, rows, std::move(names.first), frame).renamed(std::move(names.now));
}

inline row_identity select(const row_identity& from, const row_selection& s) {
  gathered_names names;
  for (index_t b = 0; b < from.entries(); ++b) {
    for (index_t row = 0; row < s.rows; ++row) {
      const index_t source = s.source(b, row);
      if (source == no_row) {
        names.now.push_back({0, s.padded_position, false});
        names.first.push_back(names.now.back());
      } else {
        names.push(from, b, source);
      }
    }
  }
  return numbered(from.entries(), s.rows, std::move(names), s.numbers, from.frame());
}

/// Entry, sequence and order of each active row, with its parent's order.
using parents_by_order = std::map<std::array<index_t, 3>, std::optional<index_t>>;

/// Refuses rows that descend from themselves. A row that is its own parent is the matter of the value's check.
inline void refuse_cycles(const parents_by_order& orders, violations& found) {
  std::map<std::array<index_t, 3>, std::size_t> visited;  // in which walk
  std::size_t walk = 0;
  for (const auto& [start, unused] : orders) {
    ++walk;
    auto at = orders.find(start);
    while (at != orders.end() && visited.emplace(at->first, walk).second && at->second) {
      const std::array<index_t, 3> parent{at->first[0], at->first[1], *at->second};
      if (parent == at->first) break;
      at = orders.find(parent);
      if (at == orders.end()) break;
      const auto seen = visited.find(parent);
      found.expect(seen == visited.end() || seen->second != walk, errc::graph_structure, "event rows",
                   text("ancestors of event {} of sequence {}", parent[2], parent[1]), "other events",
                   "the event itself");
    }
  }
}

/// The active rows by entry, sequence and order; refuses an order that is there twice and parents in a circle.
template <names_parent Value>
parents_by_order orders_of(const row_identity& rows, const std::vector<Value>& values, violations& found) {
  parents_by_order orders;
  for (index_t b = 0; b < rows.entries(); ++b) {
    for (index_t row = 0; row < rows.rows(); ++row) {
      if (!rows.name(b, row).active) continue;
      const Value& value = values[static_cast<std::size_t>(b * rows.rows() + row)];
      const index_t order = value.order;
      const bool first = orders.insert({{b, rows.name(b, row).sequence, order}, value.parent}).second;
      found.expect(first, errc::row_identity, "event rows", text("order in sequence {}", rows.name(b, row).sequence),
                   "each once", text("{} twice", order));
    }
  }
  refuse_cycles(orders, found);
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
