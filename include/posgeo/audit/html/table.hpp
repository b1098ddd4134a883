// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/audit/html/text.hpp>
#include <posgeo/core/error.hpp>

#include <string>
#include <vector>

namespace posgeo::audit::html {

/// Texts in rows under named columns; the first of a row names it.
struct table {
  std::string caption;
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;
};

/// The table as HTML, in a box that scrolls where it is wider than the page.
/// Throws: errc::shape_mismatch for a row that has not one text for each column.
[[nodiscard]] inline std::string draw(const table& given) {
  const std::string name = escaped(given.caption);
  std::string out = "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"" + name +
                    "\"><table><caption>" + name + "</caption>\n<thead><tr>";
  for (const std::string& column : given.columns) out += "<th scope=\"col\">" + escaped(column) + "</th>";
  out += "</tr></thead>\n<tbody>\n";
  for (const std::vector<std::string>& row : given.rows) {
    require(row.size() == given.columns.size(), errc::shape_mismatch, "table of a report", "texts of a row",
            given.columns.size(), row.size());
    out += "<tr>";
    for (std::size_t n = 0; n < row.size(); ++n) {
      out += n == 0 ? "<th scope=\"row\">" + escaped(row[n]) + "</th>" : "<td>" + escaped(row[n]) + "</td>";
    }
    out += "</tr>\n";
  }
  return out + "</tbody></table></div>\n";
}

}  // namespace posgeo::audit::html
