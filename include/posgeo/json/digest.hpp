// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/manifest/policy_record.hpp>

#ifndef XXH_INLINE_ALL
#define XXH_INLINE_ALL
#endif
#include <array>
#include <string_view>
#include <xxhash.h>

namespace posgeo::json {

/// The hash of tables and fingerprints: XXH3, 128 bits, seed 0.
/// Source: the xxHash specification; the digits are its canonical form, the high half first.
struct xxh3 {
  static constexpr std::string_view name = "xxh3-128";
  [[nodiscard]] manifest::digest128 operator()(std::span<const std::byte> bytes) const noexcept {
    const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
    return {hash.high64, hash.low64};
  }
  [[nodiscard]] manifest::digest128 operator()(std::string_view text) const noexcept {
    return (*this)(std::as_bytes(std::span(text)));
  }
};

}  // namespace posgeo::json
