// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/frequency/frequency.hpp>

#include <vector>

namespace posgeo::test {

/// The speed of every pair.
template <frequency_rule F>
[[nodiscard]] std::vector<double> speeds_of(const F& rule) {
  std::vector<double> out;
  for (index_t pair = 0; pair < rule.pairs(); ++pair) out.push_back(rule.at(pair));
  return out;
}

}  // namespace posgeo::test
