// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/audit/coverage.hpp>
#include <posgeo/audit/html/curves.hpp>

#include <algorithm>
#include <string>
#include <vector>

namespace posgeo::audit::html {

/// Numbers from first to last, counted together.
struct counted_bin {
  index_t first;
  index_t last;
  index_t count;
  friend bool operator==(const counted_bin&, const counted_bin&) noexcept = default;
};

/// The counts from one number to another in at most `most` bins of one width; the last may be narrower.
/// Throws: errc::report for no number or no bin.
[[nodiscard]] inline std::vector<counted_bin> bins_of(const tally& counts, index_t first, index_t last, index_t most) {
  require(first <= last && most >= 1, errc::report, "counts", "numbers and bins", "at least 1",
          posgeo::text("{} to {} in {} bins", first, last, most));
  const index_t steps = saturating_subtract(last, first) / most + 1;
  std::vector<counted_bin> out;
  for (index_t from = first; from <= last; from = saturating_add(from, steps)) {
    const index_t to = std::min(saturating_add(from, steps - 1), last);
    out.push_back({from, to, counts.total(from, to)});
    if (to == last) break;
  }
  return out;
}

namespace detail {

[[nodiscard]] inline picture draw_bins(const std::vector<counted_bin>& bins, const std::string& title,
                                       const std::string& across) {
  std::vector<double> counts{0.0};
  index_t never = 0;
  for (const counted_bin& bin : bins) {
    counts.push_back(static_cast<double>(bin.count));
    if (bin.count == 0) ++never;
  }
  diagram at{{static_cast<double>(bins.front().first) - 0.5, static_cast<double>(bins.back().last) + 0.5},
             range_of(counts)};
  if (!(at.y.high > 0.0)) at.y.high = 1.0;
  picture out(diagram::left + diagram::width + 16, diagram::top + diagram::height + 42, title,
              fmt::format("{} bins from {} to {}; the largest counts {}, {} count nothing.", bins.size(),
                          bins.front().first, bins.back().last, shown(at.y.high), never));
  draw_axes(out, at, across, "count", counted::in_wholes, counted::in_wholes);
  for (const counted_bin& bin : bins) {
    const double left = at.across(static_cast<double>(bin.first) - 0.5);
    const double right = at.across(static_cast<double>(bin.last) + 0.5);
    const double gap = right - left > 4.0 ? 0.8 : 0.0;
    if (bin.count == 0) {
      out.rectangle(left, at.up(0.0) - 2.0, right - left, 2.0, "low");
    } else {
      const double top = std::min(at.up(static_cast<double>(bin.count)), at.up(0.0) - 1.0);
      out.rectangle(left + gap, top, right - left - 2.0 * gap, at.up(0.0) - top, "bar");
    }
  }
  return out;
}

[[nodiscard]] inline table numbers_of_bins(const std::vector<counted_bin>& bins, const std::string& title,
                                           const std::string& across) {
  table out{title, {across, "count"}, {}};
  for (const counted_bin& bin : bins) {
    out.rows.push_back(
        {bin.first == bin.last ? fmt::format("{}", bin.first) : fmt::format("{} to {}", bin.first, bin.last),
         fmt::format("{}", bin.count)});
  }
  return out;
}

}  // namespace detail

/// What a stream of calls taught: positions, offsets and lengths that occurred, and how often each table row was read.
/// `enough` is how many reads teach a row.
/// Throws: errc::coverage if nothing was observed, or for an `enough` below 1.
[[nodiscard]] inline block coverage_picture(const coverage& seen, index_t enough) {
  const coverage_counts& counts = seen.counts();
  constexpr index_t most = 48;
  block out{.title = "Coverage"};
  const auto add = [&out](const tally& of, index_t first, index_t last, const std::string& title,
                          const std::string& across) {
    const std::vector<counted_bin> bins = bins_of(of, first, last, most);
    out.pictures.push_back(detail::draw_bins(bins, title, across));
    out.numbers.push_back(detail::numbers_of_bins(bins, title, across));
  };
  const auto add_own = [&add](const tally& of, const std::string& title, const std::string& across) {
    if (!of.empty()) add(of, *of.lowest(), *of.highest(), title, across);
  };
  add_own(counts.rows.queries, "Query rows by position", "position");
  add_own(counts.rows.offsets, "Visible pairs by offset", "key position minus query position");
  add_own(counts.rows.lengths, "Sequences by length", "token rows");
  for (const table_reads& one : counts.tables) add(one.reads, 0, one.rows - 1, "Reads of " + one.name(), "table row");
  table support{"Rows of the learned tables",
                {"table", "rows", "read at all", fmt::format("read less than {} times", enough)},
                {}};
  for (const table_support& one : seen.support(enough)) {
    support.rows.push_back(
        {one.table, fmt::format("{}", one.configured), fmt::format("{}", one.addressed), fmt::format("{}", one.below)});
  }
  out.words = fmt::format("{} query rows in {} sequences, {} visible pairs.", counts.rows.queries.total(),
                          counts.rows.lengths.total(), counts.rows.keys.total());
  for (const std::string& name : counts.not_counted) out.words += " Not counted: " + name + ".";
  if (!support.rows.empty()) out.tables.push_back(std::move(support));
  out.width = room::whole;
  out.legend = {{"bar", "counted"}, {"low", "never counted"}};
  return out;
}

}  // namespace posgeo::audit::html
