// SPDX-License-Identifier: MIT
#include <posgeo/frequency/geometric.hpp>
#include <posgeo/transform/rotary.hpp>

#include "pictures.hpp"
#include "rows.hpp"

namespace posgeo::pictures {

std::string rotary() {
  // Queries and keys of ones: the score is the sum of the pairs' cosines.
  constexpr index_t dim = 64;
  const transform::rotary turn(frequency::geometric({.base = 10000.0, .rotary_dim = dim}),
                               {.pairs = transform::pairing::halves});
  const auto turned = [&turn](index_t p) {
    std::vector<double> row(dim, 1.0);
    turn.rotate(position{p}, std::span<double>(row));
    return row;
  };
  const auto query = turned(0);
  curves plot{.title = "Score of equal content by distance, and three of its pairs",
              .across = "key minus query, in tokens",
              .up = "share",
              .x = {},
              .lines = {{"all pairs", {}}, {"pair 0", {}}, {"pair 6", {}}, {"pair 12", {}}}};
  for (const index_t offset : counted(-64, 65)) {
    const auto key = turned(offset);
    const auto pair = [&](std::size_t n) { return query[n] * key[n] + query[n + dim / 2] * key[n + dim / 2]; };
    double sum = 0.0;
    for (std::size_t n = 0; n < dim / 2; ++n) sum += pair(n);
    plot.x.push_back(static_cast<double>(offset));
    plot.lines[0].y.push_back(sum / dim);
    plot.lines[1].y.push_back(pair(0) / 2.0);
    plot.lines[2].y.push_back(pair(6) / 2.0);
    plot.lines[3].y.push_back(pair(12) / 2.0);
  }
  return draw(plot);
}

}  // namespace posgeo::pictures
