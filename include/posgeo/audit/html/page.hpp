// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/audit/html/block.hpp>
#include <posgeo/audit/html/style.hpp>
#include <posgeo/core/error.hpp>

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>

namespace posgeo::audit::html {

/// A report: one HTML file of sections and blocks that needs nothing beside it, has no script, and can be read on a
/// narrow screen, on paper and aloud. It is also well-formed XML.
/// Throws: errc::report for a block before the first section, and for one whose pictures neither words nor tables say.
class page {
 public:
  page(std::string title, std::string words) : title_(std::move(title)), words_(std::move(words)) {}

  void section(std::string_view title, std::string_view words) {
    end_section();
    ++sections_;
    contents_ += fmt::format("<li><a href=\"#s{}\">{}</a></li>\n", sections_, escaped(title));
    body_ += fmt::format("<section aria-labelledby=\"s{0}\">\n<h2 id=\"s{0}\">{1}</h2>\n", sections_, escaped(title));
    if (!words.empty()) body_ += "<p>" + escaped(words) + "</p>\n";
    body_ += "<div class=\"blocks\">\n";
  }

  void add(const block& given) {
    require(sections_ > 0, errc::report, "report", "block", "one in a section", posgeo::text("'{}'", given.title));
    require(given.pictures.empty() || !given.words.empty() || !given.tables.empty(), errc::report, "report",
            posgeo::text("pictures of '{}'", given.title), "words or a table that say the same", "none");
    std::string out = fmt::format("<div class=\"block{}\">\n<h3>{}</h3>\n", given.width == room::whole ? " whole" : "",
                                  escaped(given.title));
    if (!given.words.empty()) out += "<p>" + escaped(given.words) + "</p>\n";
    if (!given.pictures.empty()) {
      out += "<div class=\"pictures\">\n";
      for (const picture& one : given.pictures) {
        out += fmt::format("<figure><div class=\"scroll\">{}</div>", one.draw(fmt::format("p{}", ++pictures_)));
        if (one.title() != given.title) out += "<figcaption>" + escaped(one.title()) + "</figcaption>";
        out += "</figure>\n";
      }
      out += "</div>\n";
    }
    if (!given.legend.empty()) {
      out += "<ul class=\"legend\">\n";
      for (const legend_entry& entry : given.legend) out += drawn(entry);
      out += "</ul>\n";
    }
    for (const table& one : given.tables) out += draw(one);
    if (!given.numbers.empty()) {
      out += "<details><summary>" + escaped(given.numbers_are) + "</summary>\n";
      for (const table& one : given.numbers) out += draw(one);
      out += "</details>\n";
    }
    body_ += out + "</div>\n";
  }

  [[nodiscard]] std::string str() const {
    const std::string title = escaped(title_);
    std::string out = "<!DOCTYPE html>\n<!-- SPDX-License-Identifier: MIT -->\n";
    out += "<html lang=\"en\" xmlns=\"http://www.w3.org/1999/xhtml\">\n<head>\n<meta charset=\"utf-8\"/>\n";
    out += "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n<title>" + title + "</title>\n";
    out += fmt::format("<style>\n{}</style>\n</head>\n<body>\n<header>\n<h1>{}</h1>\n", style, title);
    if (!words_.empty()) out += "<p>" + escaped(words_) + "</p>\n";
    out += "</header>\n";
    if (sections_ > 1) out += "<nav aria-label=\"Contents\"><ol>\n" + contents_ + "</ol></nav>\n";
    return out + "<main>\n" + body_ + (sections_ > 0 ? "</div>\n</section>\n" : "") + "</main>\n</body>\n</html>\n";
  }

  /// Throws: errc::report if the file cannot be written.
  void write(const std::filesystem::path& path) const {
    std::ofstream file(path, std::ios::binary);
    file << str();
    require(static_cast<bool>(file.flush()), errc::report, "report", "file", "one that can be written", path.string());
  }

 private:
  void end_section() {
    if (sections_ > 0) body_ += "</div>\n</section>\n";
  }
  [[nodiscard]] static std::string drawn(const legend_entry& entry) {
    return fmt::format(
        "<li><svg class=\"sample\" viewBox=\"0 0 34 12\" width=\"34\" height=\"12\" aria-hidden=\"true\">{}</svg> "
        "{}</li>\n",
        entry.look.rfind("line", 0) == 0 || entry.look == "mark"
            ? fmt::format("<line x1=\"1\" y1=\"6\" x2=\"33\" y2=\"6\" class=\"{}\"/>", entry.look)
        : entry.look == "hidden"
            ? std::string("<circle cx=\"17\" cy=\"6\" r=\"1.5\" class=\"hidden\"/>")
            : fmt::format("<rect x=\"6\" y=\"1\" width=\"22\" height=\"10\" class=\"{}\"/>", entry.look),
        escaped(entry.words));
  }

  std::string title_;
  std::string words_;
  std::string contents_;
  std::string body_;
  index_t sections_ = 0;
  index_t pictures_ = 0;
};

}  // namespace posgeo::audit::html
