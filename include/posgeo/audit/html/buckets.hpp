// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/audit/html/curves.hpp>

#include <string>
#include <vector>

namespace posgeo::audit::html {

/// Offsets next to each other that read one row of a table.
struct bucket_run {
  index_t first;
  index_t last;
  index_t bucket;
  friend bool operator==(const bucket_run&, const bucket_run&) noexcept = default;
};

/// The runs of a rule, a function of relative_offset, from one offset to another.
/// Units:  offsets are key minus query.
template <class Rule>
[[nodiscard]] std::vector<bucket_run> bucket_runs(const Rule& rule, relative_offset first, relative_offset last) {
  std::vector<bucket_run> out;
  for (index_t offset = first.value(); offset <= last.value(); ++offset) {
    const auto bucket = static_cast<index_t>(rule(relative_offset{offset}));
    if (!out.empty() && out.back().bucket == bucket) {
      out.back().last = offset;
    } else {
      out.push_back({offset, offset, bucket});
    }
  }
  return out;
}

/// Which table row each offset reads: a step for each bucket, and its edges as a table. Runs of one offset each that
/// follow one another are one row of the table.
/// Throws: errc::report for no offset, or for more than 2^16.
template <class Rule>
[[nodiscard]] block bucket_edges(const std::string& name, const Rule& rule, relative_offset first,
                                 relative_offset last) {
  require(first <= last && last.value() - first.value() < (index_t{1} << 16), errc::report, name, "offsets",
          "from 1 to 2^16", posgeo::text("{} to {}", first.value(), last.value()));
  const std::vector<bucket_run> runs = bucket_runs(rule, first, last);
  curves plot{"Buckets of " + name, "key position minus query position", "bucket", {}, {{name, {}}}, joined::stepped};
  table edges{"Edges of the buckets", {"offsets", "bucket", "offsets in a bucket"}, {}};
  const auto span = [](index_t from, index_t to) {
    return from == to ? fmt::format("{}", from) : fmt::format("{} to {}", from, to);
  };
  std::size_t widest = 0;
  for (std::size_t n = 0; n < runs.size(); ++n) {
    const bucket_run& run = runs[n];
    plot.x.push_back(static_cast<double>(run.first) - 0.5);
    plot.lines[0].y.push_back(static_cast<double>(run.bucket));
    if (run.last - run.first > runs[widest].last - runs[widest].first) widest = n;
  }
  plot.x.push_back(static_cast<double>(last.value()) + 0.5);
  plot.lines[0].y.push_back(static_cast<double>(runs.back().bucket));
  for (std::size_t n = 0; n < runs.size();) {
    std::size_t end = n + 1;
    if (runs[n].first == runs[n].last && end < runs.size()) {
      const index_t step = runs[end].bucket - runs[n].bucket;
      while (end < runs.size() && runs[end].first == runs[end].last && (step == 1 || step == -1) &&
             runs[end].bucket - runs[end - 1].bucket == step) {
        ++end;
      }
    }
    edges.rows.push_back({span(runs[n].first, runs[end - 1].last), span(runs[n].bucket, runs[end - 1].bucket),
                          fmt::format("{}", runs[n].last - runs[n].first + 1)});
    n = end;
  }
  block out = draw(plot, fmt::format("Offsets {} to {} read {} runs of buckets. The widest holds {} to {}.",
                                     first.value(), last.value(), runs.size(), runs[widest].first, runs[widest].last));
  out.legend.clear();
  out.numbers = {std::move(edges)};
  out.numbers_are = "Edges of the buckets";
  return out;
}

}  // namespace posgeo::audit::html
