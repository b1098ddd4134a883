// SPDX-License-Identifier: MIT
#include <posgeo/core/head_parts.hpp>

#include <vector>

/// A bias with a number for each head.
struct per_head_bias {
  using family = posgeo::family::score_bias;
  std::vector<double> numbers;
#ifndef POSGEO_SHOULD_FAIL
  [[nodiscard]] per_head_bias part(const posgeo::head_slice& slice) const {
    return {posgeo::numbers_of(numbers, slice, "per-head bias")};
  }
#endif
};

per_head_bias local(const per_head_bias& whole, const posgeo::head_slice& slice) {
  return posgeo::part_of(whole, slice);
}
