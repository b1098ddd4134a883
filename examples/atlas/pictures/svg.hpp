// SPDX-License-Identifier: MIT
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

// Plain SVG text: coordinates are rounded, so equal numbers give equal files.
namespace posgeo::pictures {

/// A grid of numbers, one coloured cell each: blue below zero, white at zero, red above.
struct heatmap {
  std::string title;
  std::string across;  ///< what a column is
  std::string down;    ///< what a row is
  std::vector<std::string> column_names;
  std::vector<std::string> row_names;
  std::vector<double> values;  ///< [rows, columns]; NaN leaves the cell grey
  bool numbers = false;        ///< write each number into its cell
};

struct series {
  std::string name;
  std::vector<double> y;
};

/// Lines over a common x axis.
struct curves {
  std::string title;
  std::string across;
  std::string up;
  std::vector<double> x;
  std::vector<series> lines;
};

namespace detail {

inline constexpr std::string_view ink = "#24303a";

inline std::string text_at(double x, double y, std::string_view anchor, std::string_view words, int size = 12,
                           std::string_view fill = ink) {
  std::string safe;
  for (const char c : words) {
    safe += c == '<' ? std::string("&lt;") : c == '&' ? std::string("&amp;") : std::string(1, c);
  }
  const std::string colour = fill == ink ? "" : fmt::format(" fill=\"{}\"", fill);
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\" font-size=\"{}\"{}>{}</text>\n", x, y, anchor,
                     size, colour, safe);
}

inline std::string framed(double width, double height, std::string_view title, const std::string& body) {
  return fmt::format(
      "<!-- SPDX-License-Identifier: MIT -->\n<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {:.0f} {:.0f}\" "
      "width=\"{:.0f}\" "
      "font-family=\"sans-serif\" fill=\"{}\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n{}{}</svg>\n",
      width, height, width, ink, text_at(width / 2, 22, "middle", title, 15), body);
}

/// A colour for a share from -1 to 1, in 64 steps each way.
inline std::string colour(double share) {
  if (std::isnan(share)) return "#d8dce0";
  const double step = std::round(std::clamp(std::abs(share), 0.0, 1.0) * 64.0) / 64.0;
  const auto fade = [step](double full) { return static_cast<int>(std::lround(255.0 + (full - 255.0) * step)); };
  return share < 0.0 ? fmt::format("#{:02x}{:02x}{:02x}", fade(36), fade(82), fade(150))
                     : fmt::format("#{:02x}{:02x}{:02x}", fade(190), fade(60), fade(40));
}

/// Every how many names one is written, so that they do not run into each other.
inline std::size_t stride(std::size_t names, double pixels_each, double pixels_needed) {
  return names == 0 ? 1 : static_cast<std::size_t>(std::max(1.0, std::ceil(pixels_needed / pixels_each)));
}

}  // namespace detail

inline std::string draw(const heatmap& map) {
  const std::size_t columns = map.column_names.size();
  const std::size_t rows = map.row_names.size();
  const double cell = std::clamp(560.0 / static_cast<double>(std::max(columns, rows)), 8.0, map.numbers ? 44.0 : 28.0);
  const double left = 90;
  const double top = 64;
  double largest = 0;
  for (const double v : map.values) largest = std::isnan(v) ? largest : std::max(largest, std::abs(v));
  std::string body = detail::text_at(left + cell * static_cast<double>(columns) / 2, 42, "middle", map.across);
  body += detail::text_at(8, top - 8, "start", map.down);
  const std::size_t every = detail::stride(columns, cell, 26);
  for (std::size_t c = 0; c < columns; c += every) {
    body += detail::text_at(left + cell * (static_cast<double>(c) + 0.5), top - 6, "middle", map.column_names[c], 10);
  }
  for (std::size_t r = 0; r < rows; ++r) {
    const double y = top + cell * static_cast<double>(r);
    if (r % detail::stride(rows, cell, 12) == 0) {
      body += detail::text_at(left - 6, y + cell / 2 + 4, "end", map.row_names[r], 10);
    }
    for (std::size_t c = 0; c < columns; ++c) {
      const double v = map.values[r * columns + c];
      const double x = left + cell * static_cast<double>(c);
      body += fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"{}\"/>\n", x, y,
                          cell - 1, cell - 1, detail::colour(largest > 0 ? v / largest : v));
      if (map.numbers && !std::isnan(v)) {
        const bool dark = std::abs(v) > 0.6 * largest;
        body += detail::text_at(x + cell / 2, y + cell / 2 + 4, "middle", fmt::format("{:.4g}", v), 10,
                                dark ? "white" : detail::ink);
      }
    }
  }
  const double bottom = top + cell * static_cast<double>(rows);
  const bool negative = std::any_of(map.values.begin(), map.values.end(), [](double v) { return v < 0; });
  body += detail::text_at(left, bottom + 18, "start",
                          negative ? fmt::format("colour from {:.3g} (blue) to {:.3g} (red)", -largest, largest)
                                   : fmt::format("colour from 0 (white) to {:.3g} (red)", largest),
                          10);
  const double wide =
      std::max(left + cell * static_cast<double>(columns) + 24, 8.5 * static_cast<double>(map.title.size()) + 24);
  return detail::framed(std::max(wide, 360.0), bottom + 28, map.title, body);
}

inline std::string draw(const curves& plot) {
  constexpr double left = 64, top = 40, width = 520, height = 260;
  const char* const palette[] = {"#24527a", "#d97745", "#3a9188", "#7655a6",
                                 "#b0344a", "#8a8f2a", "#5f6b76", "#1a1a1a"};
  double low = 0, high = 0;
  for (const series& line : plot.lines) {
    for (const double y : line.y) {
      if (!std::isfinite(y)) continue;
      low = std::min(low, y);
      high = std::max(high, y);
    }
  }
  const double top_value = high;
  high += 0.05 * (high > low ? high - low : 1);  // so that no line lies on the edge
  const double span = high - low;
  const double first = plot.x.front();
  const double reach = plot.x.back() > first ? plot.x.back() - first : 1;
  const auto across = [&](double x) { return left + width * (x - first) / reach; };
  const auto up = [&](double y) { return top + height * (high - y) / span; };
  std::string body = fmt::format("<path d=\"M{0} {1}V{2}H{3}\" fill=\"none\" stroke=\"{4}\"/>\n", left, top,
                                 top + height, left + width, detail::ink);
  for (const double y : {low, top_value})
    body += detail::text_at(left - 6, up(y) + 4, "end", fmt::format("{:.3g}", y), 10);
  for (const double x : {first, plot.x.back()}) {
    body += detail::text_at(across(x), top + height + 16, "middle", fmt::format("{:g}", x), 10);
  }
  body += detail::text_at(left + width / 2, top + height + 30, "middle", plot.across);
  body += detail::text_at(8, top - 10, "start", plot.up);
  for (std::size_t n = 0; n < plot.lines.size(); ++n) {
    const series& line = plot.lines[n];
    const char* const stroke = palette[n % std::size(palette)];
    std::string points;
    for (std::size_t at = 0; at < line.y.size(); ++at) {
      if (std::isfinite(line.y[at])) points += fmt::format("{:.1f},{:.1f} ", across(plot.x[at]), up(line.y[at]));
    }
    body += fmt::format("<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"1.6\"/>\n", points, stroke);
    const double y = top + 14 + 16 * static_cast<double>(n);
    body += fmt::format("<rect x=\"{}\" y=\"{:.0f}\" width=\"14\" height=\"3\" fill=\"{}\"/>\n", left + width + 14,
                        y - 4, stroke);
    body += detail::text_at(left + width + 34, y, "start", line.name, 11);
  }
  return detail::framed(left + width + 170, top + height + 44, plot.title, body);
}

}  // namespace posgeo::pictures
