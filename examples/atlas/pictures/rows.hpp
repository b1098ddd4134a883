// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/call/explicit_positions.hpp>
#include <posgeo/core/tensor.hpp>
#include <posgeo/encode/state_encoder.hpp>

#include <string>
#include <vector>

namespace posgeo::pictures {

/// first, first + 1, ... last - 1.
[[nodiscard]] inline std::vector<index_t> counted(index_t first, index_t last) {
  std::vector<index_t> out;
  for (index_t n = first; n < last; ++n) out.push_back(n);
  return out;
}

[[nodiscard]] inline std::vector<std::string> names_of(const std::vector<index_t>& numbers) {
  std::vector<std::string> out;
  for (const index_t n : numbers) out.push_back(std::to_string(n));
  return out;
}

/// One sequence whose queries and keys stand where they are told to.
[[nodiscard]] inline position_call call_at(const std::vector<index_t>& queries, const std::vector<index_t>& keys) {
  return call::explicit_positions({.query = {.positions = queries, .rows = static_cast<index_t>(queries.size())},
                                   .key = {.positions = keys, .rows = static_cast<index_t>(keys.size())}});
}

/// cell(i, j) for each query row and key row of a call.
template <class Cell>
[[nodiscard]] std::vector<double> each_pair(const position_call& call, const Cell& cell) {
  std::vector<double> out;
  for (const query_index i : indices<query_index>(call.queries())) {
    for (const key_index j : indices<key_index>(call.keys())) out.push_back(static_cast<double>(cell(i, j)));
  }
  return out;
}

/// What an encoder adds to each row, position after position.
template <class Encoder>
[[nodiscard]] std::vector<double> added(const Encoder& encoder, const std::vector<index_t>& positions) {
  tensor<double, 3> states({1, static_cast<index_t>(positions.size()), encoder.width()});
  encode::add_positions(encoder, call_at(positions, positions), states.view());
  return {states.values().begin(), states.values().end()};
}

}  // namespace posgeo::pictures
