// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/call/row_space.hpp>
#include <posgeo/core/precision.hpp>

namespace posgeo {

/// Refuses a space with a position whose angle, offset added, could not be told from its neighbour's.
inline void expect_distinct_angles(const row_space& space, index_t offset, std::string_view object, violations& found) {
  for (index_t b = 0; b < space.entries(); ++b) {
    const auto [lowest, highest] = space.position_bounds(b);
    expect_distinct_angle(position{lowest + offset}, object, found);
    if (highest != lowest) expect_distinct_angle(position{highest + offset}, object, found);
  }
}

}  // namespace posgeo
