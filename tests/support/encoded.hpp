// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/encode/state_encoder.hpp>

#include <vector>

#include "support/calls.hpp"

namespace posgeo::test {

/// What the encoder adds to each row of the call.
template <class T = double, class Encoder>
[[nodiscard]] tensor<T, 3> encoded(const Encoder& encoder, const position_call& call) {
  tensor<T, 3> states({call.batch(), call.queries(), encoder.width()});
  encode::add_positions(encoder, call, states.view());
  return states;
}

/// What the encoder adds to one row at p.
template <class T = double, class Encoder>
[[nodiscard]] std::vector<T> encoded_row(const Encoder& encoder, index_t p) {
  const auto states = encoded<T>(encoder, call_at({p}));
  return {states.values().begin(), states.values().end()};
}

}  // namespace posgeo::test
