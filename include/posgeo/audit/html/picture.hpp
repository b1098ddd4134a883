// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/audit/html/text.hpp>
#include <posgeo/core/index.hpp>

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace posgeo::audit::html {

/// Where a text of a picture stands at its point.
enum class anchor { start, middle, end, upright };

/// One drawing in units of a CSS pixel, y downwards. Colours are classes of the page's style, so that they follow the
/// reader's theme; coordinates are rounded to a tenth, so that equal numbers give equal files.
/// Throws: nothing; every text is escaped.
class picture {
 public:
  picture(double width, double height, std::string title, std::string says)
      : width_(width), height_(height), title_(std::move(title)), says_(std::move(says)) {}

  [[nodiscard]] double width() const noexcept { return width_; }
  [[nodiscard]] double height() const noexcept { return height_; }
  [[nodiscard]] const std::string& title() const noexcept { return title_; }
  /// What the picture shows, in words.
  [[nodiscard]] const std::string& says() const noexcept { return says_; }

  void rectangle(double x, double y, double width, double height, std::string_view look) {
    body_ += fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" class=\"{}\"/>\n", at(x), at(y), at(width),
                         at(height), look);
  }
  /// A rectangle whose colour stands for a number: "#rrggbb".
  void cell(double x, double y, double width, double height, std::string_view colour) {
    body_ += fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{}\"/>\n", at(x), at(y), at(width),
                         at(height), colour);
  }
  void line(double x1, double y1, double x2, double y2, std::string_view look) {
    body_ += fmt::format("<line x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\" class=\"{}\"/>\n", at(x1), at(y1), at(x2),
                         at(y2), look);
  }
  void lines(const std::vector<std::pair<double, double>>& points, std::string_view look) {
    if (points.empty()) return;
    body_ += "<polyline points=\"";
    for (std::size_t n = 0; n < points.size(); ++n) {
      body_ += fmt::format("{}{},{}", n == 0 ? "" : " ", at(points[n].first), at(points[n].second));
    }
    body_ += fmt::format("\" class=\"{}\"/>\n", look);
  }
  void dot(double x, double y, double radius, std::string_view look) {
    body_ += fmt::format("<circle cx=\"{}\" cy=\"{}\" r=\"{}\" class=\"{}\"/>\n", at(x), at(y), at(radius), look);
  }
  void text(double x, double y, anchor place, std::string_view words, std::string_view look = "") {
    const std::string_view side = place == anchor::start ? "start" : place == anchor::end ? "end" : "middle";
    const std::string turned =
        place == anchor::upright ? fmt::format(" transform=\"rotate(-90 {} {})\"", at(x), at(y)) : "";
    const std::string of_look = look.empty() ? "" : fmt::format(" class=\"{}\"", look);
    body_ += fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"{}\"{}{}>{}</text>\n", at(x), at(y), side, turned,
                         of_look, escaped(words));
  }

  /// The picture as an svg element; `id` is one that nothing else of the page has.
  [[nodiscard]] std::string draw(std::string_view id) const {
    return fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" aria-labelledby=\"{0}t {0}d\" viewBox=\"0 0 {1} {2}\" "
        "style=\"width:{3}px;min-width:{7}px\">\n<title id=\"{0}t\">{4}</title>\n<desc "
        "id=\"{0}d\">{5}</desc>\n{6}</svg>\n",
        id, at(width_), at(height_), at(width_ * 1.15), escaped(title_), escaped(says_), body_, at(width_ * 0.88));
  }

 private:
  [[nodiscard]] static std::string at(double x) {
    std::string out = fmt::format("{:.1f}", x);
    if (out.size() > 2 && out.substr(out.size() - 2) == ".0") out.resize(out.size() - 2);
    return out == "-0" ? "0" : out;
  }

  double width_;
  double height_;
  std::string title_;
  std::string says_;
  std::string body_;
};

}  // namespace posgeo::audit::html
