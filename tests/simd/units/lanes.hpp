// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/simd/exponential.hpp>

#include <algorithm>

#include "simd/units/report.hpp"

namespace {

// Internal linkage: each unit instantiates the library for itself.
posgeo::test::lane_report report_lanes() {
  namespace simd = posgeo::simd;
  constexpr std::int64_t lanes = simd::pack<float>::lanes;
  posgeo::test::lane_report report{simd::isa_name, static_cast<long>(lanes), std::vector<float>(40), 0, 0};
  for (std::int64_t first = 0; first < 40; first += lanes) {
    const auto n = simd::ramp<float>() + simd::broadcast<float>(static_cast<float>(first));
    simd::store_first(report.powers.data() + first, simd::exp2(simd::zero<float>() - n),
                      std::min(lanes, std::int64_t{40} - first));
  }
  report.tree_sum = simd::sum(simd::ramp<float>() + simd::broadcast<float>(1.0F));
  report.tree_sum_of_doubles = simd::sum(simd::ramp<double>() + simd::broadcast<double>(1.0));
  return report;
}

}  // namespace
