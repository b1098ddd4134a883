// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/call/position_call.hpp>
#include <posgeo/core/heads.hpp>
#include <posgeo/visible/window.hpp>

#include <string>
#include <vector>

namespace posgeo::test {

/// One shape of an attention call: what every family is run on, as far as it takes the call.
struct scene {
  std::string name;
  heads layout;
  index_t value_dim;
  position_call call;
  visible::window see;
  unsigned number;  ///< picks variants of a family and layouts in memory, so that they meet in all combinations
};

/// Small calls of every shape class: tails, one row, no rows, padding, packing, decoding, gaps, windows.
[[nodiscard]] const std::vector<scene>& small_scenes();
/// Calls that are longer than the blocks of keys and queries that an executor may work in.
[[nodiscard]] const std::vector<scene>& long_scenes();

}  // namespace posgeo::test
