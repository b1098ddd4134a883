// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/manifest/of.hpp>

#include <vector>

namespace posgeo::test {

/// What a caller says of a call, with a cache if the call has one.
[[nodiscard]] inline manifest::stated_by_caller stated_for(const position_call& call) {
  using namespace manifest;
  const checkpoint_id weights("weights 3");
  const release_id release("2.1");
  stated<cache_contract> cache = none;
  if (call.has_cache()) {
    cache = cache_contract{.cache_id = cache_id("pool 4"),
                           .coordinate_frame = call.key_space().frame(),
                           .checkpoint_id = weights,
                           .release_id = release};
  }
  return {.request = {.request_id = request_id("request 17"),
                      .release_id = release,
                      .checkpoint_id = weights,
                      .adapter_id = adapter_id("adapter 8")},
          .key_rows = key_rows::row_indices(),
          .cache = cache,
          .runtime = {.backend_id = backend_id("eager"), .implementation_revision = implementation_revision("r9")}};
}

/// A hash for tests that need no good one: of the bytes and their order.
struct plain_hash {
  [[nodiscard]] manifest::digest128 operator()(std::span<const std::byte> bytes) const noexcept {
    manifest::digest128 out{bytes.size(), 14695981039346656037U};
    for (const std::byte one : bytes) out.low = (out.low ^ static_cast<std::uint64_t>(one)) * 1099511628211U;
    return out;
  }
};

/// The numbers that spans stand for.
[[nodiscard]] inline std::vector<index_t> numbers_of(const manifest::spans& all) {
  std::vector<index_t> out;
  for (const manifest::span& one : all) {
    for (index_t n = 0; n < one.count; ++n) out.push_back(one.first + n * one.step);
  }
  return out;
}
template <class Value>
[[nodiscard]] std::vector<Value> values_of(const manifest::runs<Value>& all) {
  std::vector<Value> out;
  for (const auto& one : all) out.insert(out.end(), static_cast<std::size_t>(one.count), one.value);
  return out;
}

}  // namespace posgeo::test
