// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

namespace posgeo::call {

/// Whether a loss of the current segment reaches back into the segment that the memory was made in.
enum class memory_gradient { detached, attached };

[[nodiscard]] constexpr std::string_view name_of(memory_gradient gradient) noexcept {
  return gradient == memory_gradient::detached ? "detached" : "attached";
}

}  // namespace posgeo::call
