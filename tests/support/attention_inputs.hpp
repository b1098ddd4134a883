// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/attend/attend.hpp>
#include <posgeo/core/heads.hpp>

#include "support/random.hpp"

namespace posgeo::test {

/// Random query, key and value tensors that fit a head layout and a call.
template <class T>
struct attention_inputs {
  tensor<T, 4> query;
  tensor<T, 4> key;
  tensor<T, 4> value;

  attention_inputs(const heads& h, const position_call& call, index_t value_dim, unsigned seed)
      : query(random_tensor<T, 4>({call.batch(), h.query, call.queries(), h.dim}, seed)),
        key(random_tensor<T, 4>({call.batch(), h.key_value, call.keys(), h.dim}, seed + 1)),
        value(random_tensor<T, 4>({call.batch(), h.key_value, call.keys(), value_dim}, seed + 2)) {}

  [[nodiscard]] qkv<T> view() const { return {query.view(), key.view(), value.view()}; }
};

}  // namespace posgeo::test
