// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/core/index.hpp>

#include <algorithm>
#include <compare>
#include <cstdint>
#include <vector>

namespace posgeo::coordinate::detail {

/// Just enough unsigned big-integer arithmetic to compare products of small powers.
class big_product {
 public:
  void multiply_power(index_t base, index_t exponent) {
    for (index_t n = 0; n < exponent; ++n) multiply(static_cast<std::uint64_t>(base));
  }
  friend std::strong_ordering operator<=>(const big_product& a, const big_product& b) {
    if (a.limbs_.size() != b.limbs_.size()) return a.limbs_.size() <=> b.limbs_.size();
    return std::lexicographical_compare_three_way(a.limbs_.rbegin(), a.limbs_.rend(), b.limbs_.rbegin(),
                                                  b.limbs_.rend());
  }

 private:
  void multiply(std::uint64_t factor) {
    std::uint64_t carry = 0;
    for (std::uint32_t& limb : limbs_) {
      carry += factor * limb;
      limb = static_cast<std::uint32_t>(carry);
      carry >>= 32;
    }
    if (carry != 0) limbs_.push_back(static_cast<std::uint32_t>(carry));
  }
  std::vector<std::uint32_t> limbs_{1};
};

}  // namespace posgeo::coordinate::detail
