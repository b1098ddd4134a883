// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/audit/html/cell_map.hpp>
#include <posgeo/audit/html/curves.hpp>
#include <posgeo/core/tensor.hpp>
#include <posgeo/frequency/frequency.hpp>

#include <cmath>
#include <numbers>
#include <string>
#include <vector>

namespace posgeo::audit::html {

/// How the pairs of a rotation turn over positions 0 .. positions - 1: the cosine of the angle, in waves and as a map,
/// and how many positions a turn takes.
/// Units:  radians; positions of the call.
/// Throws: errc::report for fewer than 2 positions.
template <frequency_rule Frequency>
[[nodiscard]] block phases(const Frequency& frequency, index_t positions) {
  require(positions >= 2, errc::report, "phases", "positions", "at least 2", positions);
  const auto pairs = static_cast<std::size_t>(frequency.pairs());
  const auto cosine = [&frequency](std::size_t pair, std::size_t position) {
    return std::cos(frequency.at(static_cast<index_t>(pair)) * static_cast<double>(position));
  };
  const std::vector<std::size_t> drawn = spread(pairs, 4);
  curves waves{"Phases by position", "position", "cosine of the angle", {}, {}, joined::straight};
  const std::vector<std::size_t> places = spread(static_cast<std::size_t>(positions), 257);
  for (const std::size_t p : places) waves.x.push_back(static_cast<double>(p));
  for (const std::size_t pair : drawn) {
    waves.lines.push_back({fmt::format("pair {}", pair), {}});
    for (const std::size_t p : places) waves.lines.back().y.push_back(cosine(pair, p));
  }
  table speeds{"Speed of each pair", {"pair", "radians per position", "positions per turn"}, {}};
  for (std::size_t pair = 0; pair < pairs; ++pair) {
    const double speed = frequency.at(static_cast<index_t>(pair));
    speeds.rows.push_back({fmt::format("{}", pair), shown(speed),
                           speed == 0.0 ? "never turns" : shown(2.0 * std::numbers::pi / std::abs(speed))});
  }
  cell_map map{"cosine of each pair", "position", "pair", {}, {}, {}};
  const std::vector<std::size_t> columns = spread(static_cast<std::size_t>(positions), 28);
  for (const std::size_t p : columns) map.column_names.push_back(fmt::format("{}", p));
  for (const std::size_t pair : spread(pairs, 20)) {
    map.row_names.push_back(fmt::format("{}", pair));
    for (const std::size_t p : columns) map.values.push_back(cosine(pair, p));
  }
  index_t whole = 0;  // pairs that turn at least once
  for (std::size_t pair = 0; pair < pairs; ++pair) {
    const double turned = std::abs(frequency.at(static_cast<index_t>(pair))) * static_cast<double>(positions - 1);
    if (turned >= 2.0 * std::numbers::pi) ++whole;
  }
  block first = draw(waves, fmt::format("{} of {} pairs turn at least once within {} positions. {} pairs are drawn.",
                                        whole, pairs, positions, drawn.size()));
  first.pictures.push_back(draw(map, {-1.0, 1.0}));
  first.pictures.push_back(scale_bar({-1.0, 1.0}, "cosine of the angle"));
  first.numbers.insert(first.numbers.begin(), std::move(speeds));
  first.numbers.push_back(numbers_of(map));
  first.width = room::whole;
  return first;
}

/// What a state encoder adds to the rows at some positions: a map of its numbers, and the waves of some columns.
/// Shapes: states [1, rows, width], one position for each row.
/// Throws: errc::report for another shape, or fewer than one row or column.
[[nodiscard]] inline block encoded_rows(const std::vector<index_t>& positions,
                                        const tensor_view<const double, 3>& states) {
  const auto rows = positions.size();
  require(states.extent(0) == 1 && std::cmp_equal(states.extent(1), rows) && rows >= 1 && states.extent(2) >= 1,
          errc::report, "encoded rows", "states", posgeo::text("1 x {} rows of at least one number", rows),
          posgeo::text("{} x {} x {}", states.extent(0), states.extent(1), states.extent(2)));
  const auto width = static_cast<std::size_t>(states.extent(2));
  const auto at = [&states](std::size_t row, std::size_t column) {
    return states.row(0, static_cast<index_t>(row))[column];
  };
  cell_map map{"what each position adds", "dimension", "position", {}, {}, {}};
  const std::vector<std::size_t> columns = spread(width, 32);
  for (const std::size_t c : columns) map.column_names.push_back(fmt::format("{}", c));
  for (const std::size_t r : spread(rows, 32)) {
    map.row_names.push_back(fmt::format("{}", positions[r]));
    for (const std::size_t c : columns) map.values.push_back(at(r, c));
  }
  curves waves{"some dimensions by position", "position", "number", {}, {}, joined::straight};
  for (const index_t p : positions) waves.x.push_back(static_cast<double>(p));
  for (const std::size_t c : spread(width, 4)) {
    waves.lines.push_back({fmt::format("dimension {}", c), {}});
    for (std::size_t r = 0; r < rows; ++r) waves.lines.back().y.push_back(at(r, c));
  }
  block out = draw("What is added to the states", fmt::format("{} rows of width {}.", rows, width), "number", {map});
  out.width = room::whole;
  out.pictures.push_back(draw(waves));
  const std::vector<legend_entry> legend = legend_of(waves);
  out.legend.insert(out.legend.end(), legend.begin(), legend.end());
  return out;
}

}  // namespace posgeo::audit::html
