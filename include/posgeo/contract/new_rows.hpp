// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/core/error.hpp>
#include <posgeo/core/required.hpp>
#include <posgeo/core/table.hpp>
#include <posgeo/encode/interpolated_grid.hpp>
#include <posgeo/encode/resized_rows.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <random>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

namespace posgeo::contract {

/// What the rows of a resized table start from. There is no default: each is a model of its own, and none has learned
/// anything about the new positions.
namespace new_rows {
/// Fewer rows: there is nothing to make.
struct nothing {};
struct zeros {};
/// Normal numbers with mean 0, the same for the same seed.
struct normal {
  required<double> standard_deviation;
  required<std::uint64_t> seed;
};
/// Old table rows from `first` on, as many as are new.
struct copy_of {
  required<index_t> first;
};
/// Every row after the row offset resampled from all of the old ones: no position keeps its row.
struct interpolated {
  required<encode::resize_sampling> sampling;
};
/// A grid's rows resampled; its class rows stay.
struct interpolated_grid {
  encode::interpolated_grid_settings settings;
};
/// The caller's. Shapes: [new rows, width].
template <class Element>
struct given {
  table<Element> rows;
};
}  // namespace new_rows

template <class Element>
using row_policy = std::variant<new_rows::nothing, new_rows::zeros, new_rows::normal, new_rows::copy_of,
                                new_rows::interpolated, new_rows::interpolated_grid, new_rows::given<Element>>;

/// Whether a policy makes all rows anew.
template <class Element>
[[nodiscard]] bool resamples(const row_policy<Element>& policy) noexcept {
  return std::holds_alternative<new_rows::interpolated>(policy) ||
         std::holds_alternative<new_rows::interpolated_grid>(policy);
}

/// The rows that stay in front of a resampled table.
template <class Element>
[[nodiscard]] index_t kept_rows(const row_policy<Element>& policy, index_t row_offset) noexcept {
  const auto* const grid = std::get_if<new_rows::interpolated_grid>(&policy);
  return grid != nullptr ? index_t{grid->settings.class_rows} : row_offset;
}

/// Lists what keeps a policy from making `added` rows for a table.
template <class Element>
void check_rows(const row_policy<Element>& policy, const table<Element>& old, index_t row_offset, index_t added,
                violations& found) {
  const auto expect = [&found](bool ok, std::string_view axis, const auto& expected, const auto& actual) {
    found.expect(ok, errc::table_migration, "table migration", axis, expected, actual);
  };
  const bool makes_none = std::holds_alternative<new_rows::nothing>(policy);
  expect(makes_none == (added == 0), "policy for new rows",
         added == 0 ? "new_rows::nothing" : "one that says what they start from",
         text("{} for {} new rows", makes_none ? "new_rows::nothing" : "another", added));
  if (const auto* normal = std::get_if<new_rows::normal>(&policy)) {
    const double deviation = normal->standard_deviation;
    expect(std::isfinite(deviation) && deviation > 0.0, "standard deviation", "a finite number above 0", deviation);
  } else if (const auto* copy = std::get_if<new_rows::copy_of>(&policy)) {
    const index_t first = copy->first;
    expect(first >= 0 && first < old.rows() && added <= old.rows() - first, "copied rows",
           text("{} rows within 0..{}", added, old.rows() - 1), text("from {} on", first));
  } else if (const auto* given = std::get_if<new_rows::given<Element>>(&policy)) {
    expect(given->rows.rows() == added && given->rows.columns() == old.columns(), "given rows",
           text("{} x {}", added, old.columns()), text("{} x {}", given->rows.rows(), given->rows.columns()));
  } else if (const auto* grid = std::get_if<new_rows::interpolated_grid>(&policy)) {
    const encode::interpolated_grid_settings& s = grid->settings;
    constexpr index_t most = index_t{1} << 16;  // what encode::interpolated_grid accepts
    const auto small = [](index_t extent) { return extent >= 1 && extent <= most; };
    const bool extents = small(s.from.rows) && small(s.from.columns) && small(s.to.rows) && small(s.to.columns) &&
                         s.class_rows >= 0 && s.class_rows <= most;
    expect(extents, "extents of the grids", "from 1 to 2^16", "others");
    expect(row_offset == 0, "row_offset of a grid", 0, row_offset);
    if (!extents) return;
    expect(old.rows() == s.class_rows + s.from.rows * s.from.columns, "rows of the old grid", old.rows(),
           s.class_rows + s.from.rows * s.from.columns);
    expect(added == s.to.rows * s.to.columns, "rows of the new grid", added, s.to.rows * s.to.columns);
  }
}

namespace detail {

/// Pairs of normal numbers from pairs of uniform ones (Box and Muller): the same with every standard library.
[[nodiscard]] inline std::vector<double> normal_numbers(std::size_t count, const new_rows::normal& policy) {
  std::mt19937_64 engine(policy.seed);
  const auto uniform = [&engine] { return (static_cast<double>(engine() >> 11U) + 0.5) * 0x1p-53; };
  std::vector<double> out;
  while (out.size() < count) {
    const double radius = policy.standard_deviation * std::sqrt(-2.0 * std::log(uniform()));
    const double angle = 2.0 * std::numbers::pi * uniform();
    out.push_back(radius * std::cos(angle));
    if (out.size() < count) out.push_back(radius * std::sin(angle));
  }
  return out;
}

template <class T>
[[nodiscard]] std::vector<double> widened(std::span<const T> values) {
  std::vector<double> out;
  for (const T x : values) out.push_back(static_cast<double>(x));
  return out;
}

}  // namespace detail

/// The numbers of the rows behind the first `kept`, of a table that check_rows accepts.
template <class Element, class T>
[[nodiscard]] std::vector<double> made_rows(const row_policy<Element>& policy, const table<T>& old, index_t kept,
                                            index_t added) {
  const auto count = static_cast<std::size_t>(added * old.columns());
  if (const auto* normal = std::get_if<new_rows::normal>(&policy)) return detail::normal_numbers(count, *normal);
  if (const auto* copy = std::get_if<new_rows::copy_of>(&policy)) {
    return detail::widened(old.values().subspan(static_cast<std::size_t>(copy->first * old.columns()), count));
  }
  if (const auto* whole = std::get_if<new_rows::interpolated>(&policy)) {
    const table<T> positions(old.values().subspan(static_cast<std::size_t>(kept * old.columns())), old.rows() - kept,
                             old.columns());
    return detail::widened(encode::resized_rows(positions, added, whole->sampling).values());
  }
  if (const auto* grid = std::get_if<new_rows::interpolated_grid>(&policy)) {
    return detail::widened(encode::interpolated_grid(old, grid->settings).values().last(count));
  }
  if (const auto* given = std::get_if<new_rows::given<Element>>(&policy)) return detail::widened(given->rows.values());
  return std::vector<double>(count, 0.0);
}

}  // namespace posgeo::contract
