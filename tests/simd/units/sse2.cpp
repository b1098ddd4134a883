// SPDX-License-Identifier: MIT
#include "simd/units/lanes.hpp"

namespace posgeo::test {

lane_report sse2_unit() { return report_lanes(); }

}  // namespace posgeo::test
