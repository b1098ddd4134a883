// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/contract/cache_identity.hpp>

#include <utility>

namespace posgeo::test {

/// The identity of a causal cache of three tokens from 0 on, made with the given weights under the given mechanism.
[[nodiscard]] inline contract::cache_identity toy_identity(contract::model_digest model,
                                                           contract::position_mechanism mechanism) {
  return {.model = std::move(model),
          .adapter = contract::none,
          .salt = contract::none,
          .tokens = contract::token_ids({5, 8, 13}),
          .start = position{0},
          .mechanism = std::move(mechanism),
          .mask = contract::mask_kind("causal"),
          .format = precision::bfloat16};
}

}  // namespace posgeo::test
