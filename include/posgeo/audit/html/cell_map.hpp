// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/audit/html/block.hpp>
#include <posgeo/audit/html/scales.hpp>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace posgeo::audit::html {

/// Numbers in rows and columns. Shapes: values [rows, columns]; what is not finite is a pair that is hidden.
struct cell_map {
  std::string title;
  std::string across;  ///< what a column is, with its unit
  std::string down;    ///< what a row is
  std::vector<std::string> column_names;
  std::vector<std::string> row_names;
  std::vector<double> values;
  [[nodiscard]] double at(std::size_t row, std::size_t column) const {
    return values[row * column_names.size() + column];
  }
};

namespace detail {

/// Every how many names one is written, so that they do not touch.
[[nodiscard]] inline std::size_t every(const std::vector<std::string>& names, double room, double of_each_letter) {
  std::size_t longest = 1;
  for (const std::string& name : names) longest = std::max(longest, name.size());
  const double needed = of_each_letter > 0 ? of_each_letter * static_cast<double>(longest) + 5.0 : 12.0;
  return static_cast<std::size_t>(std::max(1.0, std::ceil(needed / room)));
}

/// Where a map is drawn: the side of its cells, and the corner of the first.
struct map_place {
  double cell;
  double left;
  double top;
};
[[nodiscard]] inline map_place place_of(const cell_map& map) {
  std::size_t longest = 1;
  for (const std::string& name : map.row_names) longest = std::max(longest, name.size());
  const double left = 24.0 + 6.2 * static_cast<double>(std::min<std::size_t>(longest, 16));
  const auto most = static_cast<double>(std::max({map.column_names.size(), map.row_names.size(), std::size_t{1}}));
  return {std::clamp(std::floor(2.0 * (330.0 - left) / most) / 2.0, 3.0, 26.0), left, 30.0};
}

}  // namespace detail

/// The names of a map's rows and columns, as many as do not touch.
inline void draw_frame(picture& out, const cell_map& map) {
  const auto [cell, left, top] = detail::place_of(map);
  out.text(left, 11, anchor::start, map.across + " \xE2\x86\x92", "soft");
  out.text(11, top + cell * static_cast<double>(map.row_names.size()) / 2.0, anchor::upright,
           "\xE2\x86\x90 " + map.down, "soft");
  const std::size_t each_column = detail::every(map.column_names, cell, 6.4);
  for (std::size_t c = 0; c < map.column_names.size(); c += each_column) {
    out.text(left + cell * (static_cast<double>(c) + 0.5), top - 5, anchor::middle, map.column_names[c]);
  }
  const std::size_t each_row = detail::every(map.row_names, cell, 0.0);
  for (std::size_t r = 0; r < map.row_names.size(); r += each_row) {
    out.text(left - 5, top + cell * (static_cast<double>(r) + 0.5) + 4, anchor::end, map.row_names[r]);
  }
}

/// A map as a picture: the cell of each number in the colour that the scale gives it, a dot where a pair is hidden. The
/// numbers are written into the cells where all of them have at most three characters.
/// Throws: errc::report unless there is one number for each row and column.
[[nodiscard]] inline picture draw(const cell_map& map, number_range scale) {
  const std::size_t columns = map.column_names.size();
  const std::size_t rows = map.row_names.size();
  require(map.values.size() == rows * columns, errc::report, map.title, "numbers", rows * columns, map.values.size());
  const auto [cell, left, top] = detail::place_of(map);
  const number_range own = range_of(map.values);
  const auto hidden = std::count_if(map.values.begin(), map.values.end(), [](double x) { return !std::isfinite(x); });
  picture out(std::max(left + cell * static_cast<double>(columns) + 12.0, 210.0),
              top + cell * static_cast<double>(rows) + 6.0, map.title,
              fmt::format("{} rows ({}) and {} columns ({}). Numbers from {} to {}; {} pairs are hidden.", rows,
                          map.down, columns, map.across, shown(own.low), shown(own.high), hidden));
  bool short_numbers = cell >= 20.0;
  for (const double x : map.values) short_numbers = short_numbers && (!std::isfinite(x) || shown(x).size() <= 3);
  draw_frame(out, map);
  for (std::size_t r = 0; r < rows; ++r) {
    const double y = top + cell * static_cast<double>(r);
    for (std::size_t c = 0; c < columns; ++c) {
      const double x = left + cell * static_cast<double>(c);
      const double number = map.at(r, c);
      if (!std::isfinite(number)) {
        out.dot(x + cell / 2.0, y + cell / 2.0, std::min(1.3, cell / 5.0), "hidden");
        continue;
      }
      const rgb colour = colour_at(share_of(number, scale));
      out.cell(x, y, cell - (cell > 8.0 ? 1.0 : 0.0), cell - (cell > 8.0 ? 1.0 : 0.0), written(colour));
      if (short_numbers) {
        out.text(x + cell / 2.0 - 0.5, y + cell / 2.0 + 3.5, anchor::middle, shown(number), text_on(colour));
      }
    }
  }
  return out;
}

/// The numbers of a map as a table.
[[nodiscard]] inline table numbers_of(const cell_map& map) {
  table out{map.title, {map.down + " \\ " + map.across}, {}};
  out.columns.insert(out.columns.end(), map.column_names.begin(), map.column_names.end());
  for (std::size_t r = 0; r < map.row_names.size(); ++r) {
    out.rows.push_back({map.row_names[r]});
    for (std::size_t c = 0; c < map.column_names.size(); ++c) {
      const double number = map.at(r, c);
      out.rows.back().push_back(std::isfinite(number) ? shown(number) : "hidden");
    }
  }
  return out;
}

/// Maps of one quantity on one scale, as a block: where each is least and largest, and all numbers.
/// Throws: errc::report for a map that has not one number for each row and column.
[[nodiscard]] inline block draw(const std::string& title, const std::string& words, const std::string& unit,
                                const std::vector<cell_map>& maps) {
  std::vector<double> all;
  for (const cell_map& map : maps) all.insert(all.end(), map.values.begin(), map.values.end());
  const number_range scale = range_of(all);
  block out{title, words, {}, {}, {}, {}};
  table ends{
      "Least and largest of each map", {"map", "least", "at row, column", "largest", "at row, column", "hidden"}, {}};
  bool any_hidden = false;
  for (const cell_map& map : maps) {
    out.pictures.push_back(draw(map, scale));
    out.numbers.push_back(numbers_of(map));
    std::size_t hidden = 0;
    std::optional<std::size_t> least;
    std::optional<std::size_t> largest;
    for (std::size_t n = 0; n < map.values.size(); ++n) {
      if (!std::isfinite(map.values[n])) {
        ++hidden;
        continue;
      }
      if (!least || map.values[n] < map.values[*least]) least = n;
      if (!largest || map.values[n] > map.values[*largest]) largest = n;
    }
    const auto value = [&map](std::optional<std::size_t> n) { return n ? shown(map.values[*n]) : std::string("none"); };
    const auto place = [&map](std::optional<std::size_t> n) {
      if (!n) return std::string("none");
      const std::size_t columns = map.column_names.size();
      return map.row_names[*n / columns] + ", " + map.column_names[*n % columns];
    };
    ends.rows.push_back(
        {map.title, value(least), place(least), value(largest), place(largest), fmt::format("{}", hidden)});
    any_hidden = any_hidden || hidden > 0;
  }
  out.pictures.push_back(scale_bar(scale, unit));
  if (maps.size() > 1) out.width = room::whole;
  if (any_hidden) out.legend.push_back({"hidden", "hidden: no weight at all"});
  out.tables.push_back(std::move(ends));
  return out;
}

}  // namespace posgeo::audit::html
