// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/core/error.hpp>
#include <posgeo/core/index.hpp>

namespace posgeo {

/// How many heads there are and how wide each is. `query` is a multiple of `key_value`: grouped query heads.
struct heads {
  index_t query = 1;
  index_t key_value = 1;
  index_t dim = 1;
};

/// Lists what is wrong with a head layout.
inline void check(const heads& h, violations& found) {
  found.expect(h.query > 0, errc::head_count, "heads", "query heads", "at least 1", h.query);
  found.expect(h.key_value > 0, errc::head_count, "heads", "key heads", "at least 1", h.key_value);
  found.expect(h.dim > 0, errc::shape_mismatch, "heads", "head_dim", "at least 1", h.dim);
  if (h.query > 0 && h.key_value > 0) {
    found.expect(h.query % h.key_value == 0, errc::head_count, "heads", "query heads",
                 text("a multiple of {} key heads", h.key_value), h.query);
  }
}

/// The key head that a query head reads: floor(h * key_value / query). Neighbouring query heads share a key head.
[[nodiscard]] constexpr index_t key_head(const heads& layout, head_index h) noexcept {
  return h.value() / (layout.query / layout.key_value);
}

}  // namespace posgeo
