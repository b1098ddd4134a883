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
  constexpr index_t most = index_t{1} << 31;  // so that no product of a layout overflows
  const auto expect_count = [&](index_t count, errc code, std::string_view axis) {
    found.expect(count > 0 && count <= most, code, "heads", axis, "from 1 to 2^31", count);
  };
  expect_count(h.query, errc::head_count, "query heads");
  expect_count(h.key_value, errc::head_count, "key heads");
  expect_count(h.dim, errc::shape_mismatch, "head_dim");
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
