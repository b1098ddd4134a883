// SPDX-License-Identifier: MIT
#include <posgeo/audit/html/phases.hpp>
#include <posgeo/call/explicit_positions.hpp>
#include <posgeo/call/padded_batch.hpp>
#include <posgeo/call/prefill_chunk.hpp>
#include <posgeo/frequency/geometric.hpp>
#include <posgeo/frequency/llama3.hpp>
#include <posgeo/frequency/yarn.hpp>
#include <posgeo/scale/inverse_sqrt_head_dim.hpp>
#include <posgeo/transform/multi_axis_rotary.hpp>
#include <posgeo/transform/rotary.hpp>
#include <posgeo/visible/causal.hpp>
#include <posgeo/visible/everything.hpp>

#include "family.hpp"
#include "numbers.hpp"
#include "sections.hpp"

namespace posgeo::atlas {

void add_transforms(html::page& page) {
  const frequency::geometric plain({.base = 100.0, .rotary_dim = 16});
  add_family(page,
             {.title = "Rotary",
              .words = "Query and key rows are turned pair by pair before their product, each by its own position. "
                       "Five new rows after eight cached ones.",
              .of = {.layout = {.query = 2, .key_value = 1, .dim = 16},
                     .scale = scale::inverse_sqrt_head_dim{},
                     .visible = visible::causal{},
                     .transform = transform::rotary(plain, {.pairs = transform::pairing::halves})},
              .call = call::prefill_chunk(8, 5),
              .rows_hold = held::ones,
              .own = {html::phases(plain, 64)}});

  page.section("Rotary scaling",
               "The same pairs, made slower for positions that training did not hold. Each rule slows other pairs.");
  constexpr double base = 10000.0;
  constexpr index_t dim = 64;
  const frequency::geometric trained({.base = base, .rotary_dim = dim});
  const frequency::llama3 llama({.base = base,
                                 .rotary_dim = dim,
                                 .factor = 4.0,
                                 .low_freq_factor = 1.0,
                                 .high_freq_factor = 4.0,
                                 .original_max_position = 4096});
  const frequency::yarn yarn({.base = base,
                              .rotary_dim = dim,
                              .factor = 4.0,
                              .original_max_position = 4096,
                              .ramp = frequency::yarn_ramp::pair_index});
  html::curves slower{"How many times slower each pair turns", "pair", "times slower", {}, {}};
  const auto add = [&](const std::string& name, const auto& rule) {
    slower.lines.push_back({name, {}});
    for (index_t pair = 0; pair < rule.pairs(); ++pair)
      slower.lines.back().y.push_back(trained.at(pair) / rule.at(pair));
  };
  for (index_t pair = 0; pair < trained.pairs(); ++pair) slower.x.push_back(static_cast<double>(pair));
  add("llama3, 1 to 4 turns", llama);
  add("YaRN", yarn);
  page.add(html::draw(slower, "Factor 4, trained on 4096 positions, base 10000."));
  page.add(html::phases(yarn, 16384));

  // A grid of patches under one axis for its rows and one for its columns.
  using place = coordinate::axis_positions<2>;
  constexpr index_t columns = 4;
  std::vector<index_t> tokens;
  std::vector<place> cells;
  for (index_t n = 0; n < 3 * columns; ++n) {
    tokens.push_back(n);
    cells.push_back({n / columns, n % columns});
  }
  const auto grid = call::explicit_positions(
      {.query = {.positions = tokens, .rows = 3 * columns}, .key = {.positions = tokens, .rows = 3 * columns}});
  add_family(page,
             {.title = "Rotary over two axes",
              .words = "Half of the pairs turn by the row of a patch, half by its column; the position of the call "
                       "only names the patch. A grid of three rows and four columns.",
              .of = {.layout = {.query = 1, .key_value = 1, .dim = 16},
                     .scale = scale::inverse_sqrt_head_dim{},
                     .visible = visible::everything{},
                     .transform = transform::multi_axis_rotary<2>(
                         frequency::geometric({.base = 100.0, .rotary_dim = 8}),
                         transform::axis_sections<2>::own_parts(), transform::pairing::halves,
                         {row_identity::of(grid.query_space()), cells}, {row_identity::of(grid.key_space()), cells})},
              .call = grid,
              .rows_hold = held::ones});
}

}  // namespace posgeo::atlas
