// SPDX-License-Identifier: MIT
#include "simd/units/lanes.hpp"

namespace posgeo::test {

lane_report avx512_unit() { return report_lanes(); }

}  // namespace posgeo::test
