// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/contract/cache_identity.hpp>

#include <utility>

namespace posgeo::test {

/// The identity of a causal cache of three tokens from 0 on, made with the given weights under the given method.
[[nodiscard]] inline contract::cache_identity toy_identity(checkpoint_id checkpoint,
                                                           contract::method_configuration method) {
  return {.request = request_id("r7"),
          .sequence = 0,
          .checkpoint = std::move(checkpoint),
          .adapter = none,
          .release = release_id("12"),
          .salt = none,
          .tokens = contract::token_ids({5, 8, 13}),
          .committed_length = 3,
          .frame = coordinate_frame("sequence"),
          .start = position{0},
          .sign = none,
          .method = std::move(method),
          .mask = mask_id("causal"),
          .format = precision::bfloat16,
          .backend = backend_id("cpu"),
          .revision = implementation_revision("1"),
          .baked = none};
}

/// The same before its first token, standing at `start`.
[[nodiscard]] inline contract::cache_identity empty_identity(contract::method_configuration method, index_t start = 0) {
  contract::cache_identity empty = toy_identity(checkpoint_id("3f9a"), std::move(method));
  empty.tokens = contract::token_ids({});
  empty.committed_length = start;
  empty.start = position{start};
  return empty;
}

}  // namespace posgeo::test
