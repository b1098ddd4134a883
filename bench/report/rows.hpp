// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace posgeo::report {

/// How a row's figure must relate to the number beside it.
enum class bound { at_least, at_most, none };

/// One measurement of one row.
struct sample {
  double figure = 0;    ///< a share or a ratio
  double absolute = 0;  ///< in the row's unit
};

/// What is to be measured. prepare() gives what measures once; nothing where this build cannot run the row.
struct planned_row {
  std::string group;
  std::string name;
  std::string of;    ///< what the figure is a share or multiple of
  std::string unit;  ///< of the absolute number
  bound must;
  double required;
  std::function<std::optional<std::function<sample()>>()> prepare;
};

/// A row that has been measured, or why it has not.
struct row {
  std::string build;
  std::string group;
  std::string name;
  std::string of;
  std::string unit;
  bound must = bound::none;
  double required = 0;
  bool measured = false;
  double median = 0;
  double lowest = 0;
  double highest = 0;
  double absolute = 0;  ///< median, in the unit
  std::string missing;

  [[nodiscard]] bool met() const noexcept {
    return measured && (must == bound::at_least ? median >= required : must == bound::none || median <= required);
  }
};

/// How much is measured: all of it, or tiny cases once, to see that the report works.
enum class effort { full, quick };

/// The rows of a build: "native" has all of them, others those that compare builds.
[[nodiscard]] std::vector<planned_row> rows_of(const std::string& build, effort how);

/// Measures the rows of each group in turns, `rounds` times; rows whose "group/name" the pattern does not find are left
/// out. A row that throws is reported as missing, with the reason.
[[nodiscard]] std::vector<row> measure(const std::vector<planned_row>& rows, const std::string& build,
                                       const std::string& pattern, int rounds);

/// A row as one line of JSON, and back.
[[nodiscard]] std::string to_json(const row& r);
[[nodiscard]] row from_json(const std::string& line);

/// A row of the named build for each of another build that has its like: the share that the other build keeps.
[[nodiscard]] std::vector<row> kept_by(const std::string& build, const std::vector<row>& rows);

}  // namespace posgeo::report
