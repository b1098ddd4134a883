// SPDX-License-Identifier: MIT
#include <posgeo/call/prefill_chunk.hpp>
#include <posgeo/encode/time2vec.hpp>

#include <numbers>

#include "pictures.hpp"

namespace posgeo::pictures {

std::string time2vec() {
  const double day = 2.0 * std::numbers::pi / 24.0;
  const std::vector<double> omega{0.04, day, 2.0 * day, 3.7 * day};
  const std::vector<double> phi{-1.0, 0.0, 0.5, 1.0};
  const coordinate::clock_name clock("recording");
  const encode::time2vec<double> encoder(
      {.time = coordinate::elapsed_time({.clock = clock,
                                         .stamp_unit = coordinate::time_unit::minutes,
                                         .origin = 0,
                                         .unit = coordinate::time_unit::hours}),
       .function = encode::periodic::sine,
       .linear = encode::linear_term::first,
       .missing = encode::missing_time::refused},
      {.omega = table<double>(omega, 1, 4), .phi = table<double>(phi, 1, 4)});

  const auto call = call::prefill_chunk(0, 145);
  std::vector<std::optional<index_t>> stamps;
  curves plot{.title = "time2vec: one linear and three periodic columns",
              .across = "hours since the origin",
              .up = "value",
              .x = {},
              .lines = {{"linear", {}}, {"once a day", {}}, {"twice a day", {}}, {"3.7 times a day", {}}}};
  for (index_t row = 0; row < call.queries(); ++row) {
    stamps.emplace_back(20 * row);
    plot.x.push_back(static_cast<double>(row) / 3.0);
  }
  tensor<double, 3> states({1, call.queries(), encoder.width()});
  const coordinate::time_column times{
      {row_identity::of(call.query_space()), stamps}, coordinate::time_unit::minutes, clock};
  encode::add_positions(encoder.at(times), call, states.view());
  for (index_t row = 0; row < call.queries(); ++row) {
    for (std::size_t c = 0; c < plot.lines.size(); ++c) {
      plot.lines[c].y.push_back(states(0, row, static_cast<index_t>(c)));
    }
  }
  return draw(plot);
}

}  // namespace posgeo::pictures
