// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

namespace posgeo::test {

/// What one translation unit makes of the lanes.
struct lane_report {
  std::string isa;
  long lanes;
  std::vector<float> powers;  // 2^-n for n in [0, 40)
  float tree_sum;             // of 1 + 2 + ... + lanes
  double tree_sum_of_doubles;
};

lane_report sse2_unit();
lane_report avx2_unit();
lane_report avx512_unit();

}  // namespace posgeo::test
