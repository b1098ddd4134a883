// SPDX-License-Identifier: MIT
#include <posgeo/frequency/dynamic_ntk.hpp>
#include <posgeo/frequency/geometric.hpp>
#include <posgeo/frequency/linear_interpolated.hpp>
#include <posgeo/frequency/llama3.hpp>
#include <posgeo/frequency/ntk_aware.hpp>
#include <posgeo/frequency/yarn.hpp>

#include "pictures.hpp"
#include "rows.hpp"

namespace posgeo::pictures {

std::string rotary_scaling() {
  constexpr double base = 10000.0;
  constexpr index_t dim = 64;
  constexpr double factor = 4.0;
  constexpr index_t trained = 4096;
  const frequency::geometric plain({.base = base, .rotary_dim = dim});
  curves plot{.title = "How many times slower each pair turns (factor 4)",
              .across = "pair",
              .up = "slower",
              .x = {},
              .lines = {}};
  for (index_t pair = 0; pair < plain.pairs(); ++pair) plot.x.push_back(static_cast<double>(pair));
  const auto add = [&](const char* name, const auto& rule) {
    series line{name, {}};
    for (index_t pair = 0; pair < rule.pairs(); ++pair) line.y.push_back(plain.at(pair) / rule.at(pair));
    plot.lines.push_back(line);
  };
  const auto yarn = [&](frequency::yarn_ramp ramp) {
    return frequency::yarn(
        {.base = base, .rotary_dim = dim, .factor = factor, .original_max_position = trained, .ramp = ramp});
  };
  add("linear_interpolated", frequency::linear_interpolated({.base = base, .rotary_dim = dim, .factor = factor}));
  add("ntk_aware", frequency::ntk_aware({.base = base, .rotary_dim = dim, .factor = factor}));
  add("dynamic_ntk at 6144", frequency::dynamic_ntk({.base = base,
                                                     .rotary_dim = dim,
                                                     .factor = factor,
                                                     .original_max_position = trained,
                                                     .sequence_length = 6144}));
  add("llama3, 1 to 4 turns", frequency::llama3({.base = base,
                                                 .rotary_dim = dim,
                                                 .factor = factor,
                                                 .low_freq_factor = 1.0,
                                                 .high_freq_factor = 4.0,
                                                 .original_max_position = trained}));
  add("yarn, pair_index", yarn(frequency::yarn_ramp::pair_index));
  add("yarn, turns", yarn(frequency::yarn_ramp::turns));
  return draw(plot);
}

}  // namespace posgeo::pictures
