// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "report/rows.hpp"

namespace posgeo::report {

/// What the figures were measured with.
struct machine {
  std::string processor;
  std::string compiler;
  std::string flags;
  std::string instructions;
  double fma_peak = 0;
  double double_peak = 0;
  double bfloat16_peak = 0;  ///< 0 where there is none
  double bandwidth = 0;
  double bandwidth_of_two = 0;
};
[[nodiscard]] machine this_machine();

/// Everything below it is written by hand and kept.
inline constexpr const char* marker = "<!-- Written by hand from here on: the report keeps it. -->";

/// The page in Markdown. `kept` is what stood below the marker of the page before.
[[nodiscard]] std::string page(const machine& m, const std::vector<row>& rows, int rounds, const std::string& kept);

/// Shares of the peak by length, as SVG.
[[nodiscard]] std::string picture(const std::vector<row>& rows);

}  // namespace posgeo::report
