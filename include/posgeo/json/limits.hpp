// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

namespace posgeo::json {

/// What a text may need before it is refused. Memory stays within most_bytes and about 200 bytes for each value.
struct limits {
  std::size_t most_bytes = std::size_t{64} << 20;  ///< of the text
  std::size_t most_values = std::size_t{4} << 20;  ///< numbers, texts, lists and objects
  std::size_t deepest = 64;                        ///< lists and objects inside one another
};

}  // namespace posgeo::json
