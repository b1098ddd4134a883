// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/audit/coverage.hpp>

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <vector>

namespace posgeo::audit {

namespace detail {

[[nodiscard]] inline std::string range_said(index_t first, index_t last) {
  return first == last ? fmt::format("{}", first) : fmt::format("{}..{}", first, last);
}

/// Items with commas between them, in lines that are indented and hold at most 100 columns where an item lets them.
[[nodiscard]] inline std::string wrapped(std::string_view title, const std::vector<std::string>& items) {
  std::string out;
  std::string line = fmt::format("  {}", title);
  for (std::size_t n = 0; n < items.size(); ++n) {
    const std::string item = n + 1 < items.size() ? items[n] + "," : items[n];
    if (line.size() + 1 + item.size() > 100) {
      out += line + "\n";
      line = "   ";
    }
    line += " " + item;
  }
  return out + line + "\n";
}

/// Counts as items, the first ones exact and the others together: straight lines of counts if there are at most so
/// many, else, from 0 outwards, the counts of 0, 1, 2..3, 4..7 and so on, and of their negatives.
[[nodiscard]] inline std::vector<std::string> counts_said(const tally& counts, std::size_t most_lines) {
  std::vector<std::string> items;
  const std::vector<counted_line> lines = counts.lines();
  if (lines.size() <= most_lines) {
    for (const counted_line& line : lines) {
      const std::string_view each = line.step == 0 && line.first != line.last ? " each" : "";
      const std::string last = line.step == 0 ? "" : fmt::format(" to {}", line(line.last));
      items.push_back(fmt::format("{}: {}{}{}", range_said(line.first, line.last), line.count, last, each));
    }
    return items;
  }
  constexpr index_t far = index_t{1} << 12;  // beyond it the counts are put together
  const auto add = [&](index_t first, index_t last) {
    const index_t count = counts.total(first, last);
    if (count > 0) items.push_back(fmt::format("{}: {}", range_said(first, last), count));
  };
  const auto add_beyond = [&](index_t first, index_t last, std::string_view side) {
    const index_t count = counts.total(first, last);
    if (count > 0) items.push_back(fmt::format("{}: {}", side, count));
  };
  add_beyond(-tally::furthest, -far, fmt::format("up to {}", -far));
  for (index_t first = far / 2; first >= 1; first /= 2) add(-2 * first + 1, -first);
  add(0, 0);
  for (index_t first = 1; first < far; first *= 2) add(first, 2 * first - 1);
  add_beyond(far, tally::furthest, fmt::format("from {} on", far));
  return items;
}

/// The rows of a table that were never read, as ranges, the first ones exact and the others together.
[[nodiscard]] inline std::vector<std::string> untouched_said(const table_reads& table, std::size_t most_ranges) {
  std::vector<std::string> items;
  index_t more = 0;
  index_t next = 0;
  const auto add = [&](index_t first, index_t last) {
    if (first > last) return;
    if (items.size() < most_ranges) {
      items.push_back(range_said(first, last));
    } else {
      more += last - first + 1;
    }
  };
  table.reads.each_line([&](const counted_line& line) {
    add(next, line.first - 1);
    next = line.last + 1;
  });
  add(next, table.rows - 1);
  if (more > 0) items.push_back(fmt::format("and {} more", more));
  return items;
}

[[nodiscard]] inline std::string coverage_said(const coverage& given) {
  if (given.empty()) return "nothing observed\n";
  const coverage_counts& counts = given.counts();
  constexpr std::size_t most_lines = 8;    // of rows and pairs
  constexpr std::size_t most_rows = 32;    // of a table
  constexpr std::size_t most_ranges = 12;  // of untouched rows
  constexpr std::size_t most_tables = 32;

  std::size_t width = 0;
  const std::pair<std::string_view, const tally*> all[] = {{"query rows by position", &counts.rows.queries},
                                                           {"visible pairs by key position", &counts.rows.keys},
                                                           {"visible pairs by key - query", &counts.rows.offsets},
                                                           {"sequences by length", &counts.rows.lengths},
                                                           {"sequences by memory", &counts.rows.memory}};
  for (const auto& [name, of] : all) width = std::max(width, name.size());
  for (const table_reads& table : counts.tables) width = std::max(width, table.name().size());

  std::string out = fmt::format("{:{}} {:>10} {:>10} {:>10} {:>16}\n", "", width, "from", "to", "numbers", "counts");
  for (const auto& [name, of] : all) {
    if (of->empty()) {
      out += fmt::format("{:{}} {:>10} {:>10} {:>10} {:>16}\n", name, width, "-", "-", 0, 0);
      continue;
    }
    out += fmt::format("{:{}} {:>10} {:>10} {:>10} {:>16}\n", name, width, *of->lowest(), *of->highest(),
                       of->numbers(1), of->total());
    if (of->lowest() != of->highest()) out += wrapped("counts", counts_said(*of, most_lines));
  }
  if (!counts.tables.empty()) {
    out += fmt::format("{:{}} {:>10} {:>10} {:>10} {:>16}\n", "table", width, "rows", "read", "untouched", "reads");
  }
  for (std::size_t n = 0; n < std::min(counts.tables.size(), most_tables); ++n) {
    const table_reads& table = counts.tables[n];
    const index_t read = table.reads.numbers(1);
    out += fmt::format("{:{}} {:>10} {:>10} {:>10} {:>16}\n", table.name(), width, table.rows, read, table.rows - read,
                       table.reads.total());
    if (read > 0) out += wrapped("reads", counts_said(table.reads, most_rows));
    if (read < table.rows) out += wrapped("untouched", untouched_said(table, most_ranges));
  }
  if (counts.tables.size() > most_tables)
    out += fmt::format("and {} more tables\n", counts.tables.size() - most_tables);
  if (!counts.not_counted.empty()) {
    std::vector<std::string> names(
        counts.not_counted.begin(),
        counts.not_counted.begin() + static_cast<std::ptrdiff_t>(std::min(counts.not_counted.size(), most_tables)));
    if (names.size() < counts.not_counted.size()) {
      names.push_back(fmt::format("and {} more", counts.not_counted.size() - names.size()));
    }
    out += "tables whose rows were not counted\n" + wrapped("names", names);
  }
  return out;
}

[[nodiscard]] inline std::string support_said(const std::vector<table_support>& support, index_t enough) {
  std::size_t width = std::string_view("table").size();
  for (const table_support& one : support) width = std::max(width, one.table.size());
  const std::string below = fmt::format("below {}", enough);
  std::string out = fmt::format("{:{}} {:>10} {:>10} {:>14}\n", "table", width, "configured", "addressed", below);
  for (const table_support& one : support) {
    out += fmt::format("{:{}} {:>10} {:>10} {:>14}\n", one.table, width, one.configured, one.addressed, one.below);
  }
  return out;
}

}  // namespace detail

/// What coverage::support(enough) says, as a table.
[[nodiscard]] inline std::string support_table(const coverage& given, index_t enough) {
  return detail::support_said(given.support(enough), enough);
}

}  // namespace posgeo::audit

/// A coverage as a table of at most some hundred lines, whatever it has counted: what is left out is counted together.
template <>
struct fmt::formatter<posgeo::audit::coverage> : fmt::formatter<std::string_view> {
  template <class Context>
  auto format(const posgeo::audit::coverage& given, Context& context) const {
    return fmt::formatter<std::string_view>::format(posgeo::audit::detail::coverage_said(given), context);
  }
};
