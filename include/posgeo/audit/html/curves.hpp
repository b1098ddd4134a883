// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/audit/html/block.hpp>
#include <posgeo/audit/html/scales.hpp>
#include <posgeo/audit/html/style.hpp>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

namespace posgeo::audit::html {

/// One line of numbers over the common axis.
struct curve {
  std::string name;
  std::vector<double> y;
};

/// How the points of a curve are joined: by straight lines, or each number holds until the next.
enum class joined { straight, stepped };

/// Lines over one axis. Shapes: each y has one number for each x; what is not finite is left out.
struct curves {
  std::string title;
  std::string across;  ///< what x is, with its unit
  std::string up;      ///< what y is
  std::vector<double> x;
  std::vector<curve> lines;
  joined how = joined::straight;
};

/// Where a diagram is drawn.
struct diagram {
  static constexpr double left = 50, top = 24, width = 290, height = 170;
  number_range x;
  number_range y;
  [[nodiscard]] double across(double value) const noexcept { return left + width * share_of(value, x); }
  [[nodiscard]] double up(double value) const noexcept { return top + height * (1.0 - share_of(value, y)); }
};
[[nodiscard]] inline diagram diagram_of(const curves& plot) {
  std::vector<double> all;
  for (const curve& line : plot.lines) all.insert(all.end(), line.y.begin(), line.y.end());
  number_range y = range_of(all);
  const double room = y.high > y.low ? 0.05 * (y.high - y.low) : 1.0;
  return {range_of(plot.x), {y.low - room, y.high + room}};
}

/// Whether an axis counts: then only whole numbers are written along it.
enum class counted { in_wholes, in_parts };
[[nodiscard]] inline counted counted_in(const std::vector<double>& numbers) {
  const bool whole =
      std::all_of(numbers.begin(), numbers.end(), [](double x) { return 2.0 * x == std::round(2.0 * x); });
  return whole ? counted::in_wholes : counted::in_parts;
}

/// Axes with round numbers and their names.
inline void draw_axes(picture& out, const diagram& at, std::string_view across, std::string_view up, counted x_is,
                      counted y_is) {
  for (const double y : ticks(at.y, 5)) {
    if (y_is == counted::in_wholes && y != std::round(y)) continue;
    out.line(diagram::left, at.up(y), diagram::left + diagram::width, at.up(y), "grid");
    out.text(diagram::left - 5, at.up(y) + 4, anchor::end, shown(y));
  }
  const double bottom = diagram::top + diagram::height;
  for (const double x : ticks(at.x, 6)) {
    if (x_is == counted::in_wholes && x != std::round(x)) continue;
    out.line(at.across(x), bottom, at.across(x), bottom + 4, "axis");
    out.text(at.across(x), bottom + 16, anchor::middle, shown(x));
  }
  out.line(diagram::left, bottom, diagram::left + diagram::width, bottom, "axis");
  out.text(diagram::left + diagram::width / 2, bottom + 32, anchor::middle, across, "soft");
  out.text(diagram::left, 13, anchor::start, up, "soft");
}

/// Throws: errc::report for more lines than there are looks, for no x, and for a line of another length.
[[nodiscard]] inline picture draw(const curves& plot) {
  require(!plot.x.empty() && plot.lines.size() <= static_cast<std::size_t>(looks), errc::report, plot.title, "lines",
          posgeo::text("at most {}, over at least one number", looks), plot.lines.size());
  const diagram at = diagram_of(plot);
  const number_range shown_y = [&plot] {
    std::vector<double> all;
    for (const curve& line : plot.lines) all.insert(all.end(), line.y.begin(), line.y.end());
    return range_of(all);
  }();
  picture out(diagram::left + diagram::width + 16, diagram::top + diagram::height + 42, plot.title,
              fmt::format("{} lines of {} over {} from {} to {}. Numbers from {} to {}.", plot.lines.size(), plot.up,
                          plot.across, shown(at.x.low), shown(at.x.high), shown(shown_y.low), shown(shown_y.high)));
  draw_axes(out, at, plot.across, plot.up, counted_in(plot.x), counted::in_parts);
  for (std::size_t n = 0; n < plot.lines.size(); ++n) {
    const curve& line = plot.lines[n];
    require(line.y.size() == plot.x.size(), errc::report, line.name, "numbers", plot.x.size(), line.y.size());
    const std::string look = fmt::format("line{}", n);
    std::vector<std::pair<double, double>> points;
    for (std::size_t k = 0; k < line.y.size(); ++k) {
      if (!std::isfinite(line.y[k])) {
        out.lines(points, look);
        points.clear();
        continue;
      }
      const bool steps = plot.how == joined::stepped && !points.empty() && line.y[k] != line.y[k - 1];
      if (steps) points.emplace_back(at.across(plot.x[k]), points.back().second);
      points.emplace_back(at.across(plot.x[k]), at.up(line.y[k]));
    }
    out.lines(points, look);
  }
  return out;
}

/// The legend of a diagram's lines.
[[nodiscard]] inline std::vector<legend_entry> legend_of(const curves& plot) {
  std::vector<legend_entry> out;
  for (std::size_t n = 0; n < plot.lines.size(); ++n) out.push_back({fmt::format("line{}", n), plot.lines[n].name});
  return out;
}

/// The numbers of a diagram as a table, a row for each x of the places, which count from 0.
[[nodiscard]] inline table numbers_of(const curves& plot, const std::vector<std::size_t>& places) {
  table out{plot.title + ": " + plot.up, {plot.across}, {}};
  for (const curve& line : plot.lines) out.columns.push_back(line.name);
  for (const std::size_t k : places) {
    out.rows.push_back({shown(plot.x[k])});
    for (const curve& line : plot.lines) {
      out.rows.back().push_back(std::isfinite(line.y[k]) ? shown(line.y[k]) : "none");
    }
  }
  return out;
}

/// At most `most` places of `count`, evenly apart, the first and the last among them.
[[nodiscard]] inline std::vector<std::size_t> spread(std::size_t count, std::size_t most) {
  std::vector<std::size_t> out;
  if (count <= most || most < 2) {
    for (std::size_t n = 0; n < std::min(count, most); ++n) out.push_back(n);
    return out;
  }
  for (std::size_t n = 0; n < most; ++n) out.push_back(n * (count - 1) / (most - 1));
  return out;
}

/// A diagram as a block.
[[nodiscard]] inline block draw(const curves& plot, const std::string& words) {
  const std::vector<std::size_t> places = spread(plot.x.size(), 33);
  const std::string caption =
      places.size() < plot.x.size() ? fmt::format(" ({} of {} points)", places.size(), plot.x.size()) : "";
  table numbers = numbers_of(plot, places);
  numbers.caption += caption;
  return {plot.title,          words.empty() ? draw(plot).says() : words, {draw(plot)}, legend_of(plot), {},
          {std::move(numbers)}};
}

}  // namespace posgeo::audit::html
