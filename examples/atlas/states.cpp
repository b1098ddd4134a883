// SPDX-License-Identifier: MIT
#include <posgeo/audit/encoded_content.hpp>
#include <posgeo/audit/html/phases.hpp>
#include <posgeo/call/explicit_positions.hpp>
#include <posgeo/call/prefill_chunk.hpp>
#include <posgeo/encode/binary_index.hpp>
#include <posgeo/encode/learned_absolute.hpp>
#include <posgeo/encode/normalized_index.hpp>
#include <posgeo/encode/raw_index.hpp>
#include <posgeo/encode/sinusoidal.hpp>
#include <posgeo/encode/sinusoidal_grid.hpp>
#include <posgeo/encode/time2vec.hpp>
#include <posgeo/scale/inverse_sqrt_head_dim.hpp>
#include <posgeo/visible/causal.hpp>
#include <posgeo/visible/everything.hpp>

#include <numbers>
#include <optional>

#include "family.hpp"
#include "numbers.hpp"
#include "sections.hpp"

namespace posgeo::atlas {
namespace {

/// What an encoder adds to the states of a call's query rows.
template <class Encoder>
html::block added(const Encoder& encoder, const position_call& call) {
  tensor<double, 3> states({1, call.queries(), encoder.width()});
  encode::add_positions(encoder, call, states.view());
  std::vector<index_t> positions;
  for (index_t row = 0; row < call.queries(); ++row) positions.push_back(call.query_space().at(0, row).value());
  return html::encoded_rows(positions, std::as_const(states).view());
}

/// An encoder below an attention that reads no position itself.
template <class Encoder>
void add_encoder(html::page& page, const std::string& title, const std::string& words, const Encoder& encoder,
                 index_t rows) {
  const index_t width = encoder.width();
  const heads two{.query = 2, .key_value = 2, .dim = 4};
  const auto states = [width](index_t count, unsigned seed) {
    tensor<double, 3> out({1, count, width});
    const std::vector<double> numbers = some_numbers(count * width, 1.0, seed);
    std::copy(numbers.begin(), numbers.end(), out.values().begin());
    return out;
  };
  add_family(page,
             {.title = title,
              .words = words,
              .of = {.layout = two, .scale = scale::inverse_sqrt_head_dim{}, .visible = visible::everything{}},
              .call = call::prefill_chunk(0, 9),
              .rows_hold = held::ones,
              .own = {added(encoder, call::prefill_chunk(0, rows))},
              .rows = audit::encoded_content<Encoder>(
                  encoder, states(9, 31), states(9, 31),
                  {some_table(width, 8, 0.5, 32), some_table(width, 8, 0.5, 33), some_table(width, 8, 0.5, 34)})});
}

}  // namespace

void add_states(html::page& page) {
  add_encoder(
      page, "Sinusoids",
      "Sines and cosines of the position are added to the states. The attention above reads no position, so its "
      "scores of equal rows are equal; position comes with the states.",
      encode::sinusoidal(
          {.width = 16, .layout = encode::sinusoid_layout::interleaved, .exponent = encode::sinusoid_exponent::paper}),
      32);
  add_encoder(page, "Learned absolute positions",
              "A learned row for each position. Beyond the table there is none, and the call is refused.",
              encode::learned_absolute<double>(waves(14, 8, 1.0), {.row_offset = 2}), 12);

  page.section("Index encoders", "Counter-examples: the position itself, its share of a length, and its bits.");
  const auto index = call::prefill_chunk(0, 16);
  const auto named_block = [](html::block one, std::string title) {
    one.title = std::move(title);
    return one;
  };
  page.add(named_block(added(encode::raw_index({.width = 3, .alpha = 0.25}), index), "Raw index, alpha 0.25"));
  page.add(
      named_block(added(encode::normalized_index({.width = 3, .length = 16}), index), "Normalised index, length 16"));
  page.add(
      named_block(added(encode::binary_index({.bits = 4, .order = encode::bit_order::most_significant_first}), index),
                  "Binary index, 4 bits"));

  page.section("Positions of a grid", "Sinusoids of a patch's row and column. Positions count the patches row by row.");
  const coordinate::grid patches({.rows = 4, .columns = 6, .order = coordinate::traversal::row_major});
  const auto call = patches.call(1);
  page.add(added(encode::sinusoidal_grid({.width = 16, .layout = encode::grid_sinusoid::mae})
                     .at(patches.cells_of(call.query_space())),
                 call));

  page.section("time2vec", "A line and waves of the time, with learned speeds. Rows are 20 minutes apart.");
  const double day = 2.0 * std::numbers::pi / 24.0;
  const std::vector<double> omega{0.04, day, 2.0 * day, 3.7 * day};
  const std::vector<double> phi{-1.0, 0.0, 0.5, 1.0};
  const coordinate::clock_name clock("recording");
  const encode::time2vec<double> times({.time = coordinate::elapsed_time({.clock = clock,
                                                                          .stamp_unit = coordinate::time_unit::minutes,
                                                                          .origin = 0,
                                                                          .unit = coordinate::time_unit::hours}),
                                        .function = encode::periodic::sine,
                                        .linear = encode::linear_term::first,
                                        .missing = encode::missing_time::refused},
                                       {.omega = table<double>(omega, 1, 4), .phi = table<double>(phi, 1, 4)});
  const auto long_call = call::prefill_chunk(0, 73);
  std::vector<std::optional<index_t>> stamps;
  for (index_t row = 0; row < long_call.queries(); ++row) stamps.emplace_back(20 * row);
  page.add(added(times.at({{row_identity::of(long_call.query_space()), stamps}, coordinate::time_unit::minutes, clock}),
                 long_call));
}

}  // namespace posgeo::atlas
