// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/core/error.hpp>

#include <stdexcept>
#include <vector>

namespace posgeo::test {

/// The posgeo::error that the action throws; an action that throws none fails the test.
template <class Action>
[[nodiscard]] error refusal(const Action& action) {
  try {
    action();
  } catch (const error& thrown) {
    return thrown;
  }
  throw std::logic_error("nothing was refused");
}

/// The codes of all broken rules, in order.
[[nodiscard]] inline std::vector<errc> codes(const violations& found) {
  std::vector<errc> all;
  for (const violation& broken : found) all.push_back(broken.code);
  return all;
}

}  // namespace posgeo::test
