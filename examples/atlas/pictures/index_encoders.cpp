// SPDX-License-Identifier: MIT
#include <posgeo/call/prefill_chunk.hpp>
#include <posgeo/encode/binary_index.hpp>
#include <posgeo/encode/normalized_index.hpp>
#include <posgeo/encode/raw_index.hpp>

#include <cmath>

#include "pictures.hpp"

namespace posgeo::pictures {
namespace {

/// The distance from each of the first 32 rows to the next.
template <class Encoder>
std::vector<double> steps(const Encoder& encoder) {
  const auto call = call::prefill_chunk(0, 32);
  tensor<double, 3> states({1, 32, encoder.width()});
  encode::add_positions(encoder, call, states.view());
  std::vector<double> out;
  for (index_t p = 0; p + 1 < 32; ++p) {
    double sum = 0.0;
    for (index_t c = 0; c < encoder.width(); ++c) sum += std::pow(states(0, p + 1, c) - states(0, p, c), 2);
    out.push_back(std::sqrt(sum));
  }
  return out;
}

}  // namespace

std::string index_encoders() {
  curves plot{
      .title = "index encoders: how far the next position is",
      .across = "position",
      .up = "distance to the next row",
      .x = {},
      .lines = {{"raw, alpha 0.25", steps(encode::raw_index({.width = 5, .alpha = 0.25}))},
                {"normalized, L = 32", steps(encode::normalized_index({.width = 5, .length = 32}))},
                {"normalized, L = 64", steps(encode::normalized_index({.width = 5, .length = 64}))},
                {"binary, 5 bits",
                 steps(encode::binary_index({.bits = 5, .order = encode::bit_order::most_significant_first}))}}};
  for (index_t p = 0; p + 1 < 32; ++p) plot.x.push_back(static_cast<double>(p));
  return draw(plot);
}

}  // namespace posgeo::pictures
