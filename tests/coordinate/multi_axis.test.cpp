// SPDX-License-Identifier: MIT
#include <posgeo/call/explicit_positions.hpp>
#include <posgeo/call/padded_batch.hpp>
#include <posgeo/coordinate/multi_axis.hpp>

#include "support/catch.hpp"
#include "support/refusal.hpp"

namespace multi_axis_layout_test {

using namespace posgeo;
using namespace posgeo::test;
using coordinate::cell_grid;
using coordinate::multi_axis_layout;
using coordinate::positions_of;
using coordinate::text_run;
using coordinate::thw;

std::vector<thw> prompt(const multi_axis_layout& layout) {
  std::vector<thw> out;
  for (index_t token = 0; token < layout.prompt_tokens(); ++token) out.push_back(layout.at(token));
  return out;
}

TEST_CASE("an image takes as many positions as its longer side", "[multi_axis]") {
  const cell_grid wide{.frames = {0}, .rows = 2, .columns = 4};
  const cell_grid tall{.frames = {0}, .rows = 4, .columns = 2};
  for (const cell_grid& grid : {wide, tall}) {
    const multi_axis_layout layout{text_run{5}, grid, text_run{1}};
    CHECK(layout.prompt_tokens() == 14);
    CHECK(layout.at(13) == thw{9, 9, 9});
    CHECK(layout.delta() == -4);
  }
  CHECK(prompt({text_run{1}, wide}) ==
        std::vector<thw>{
            {0, 0, 0}, {1, 1, 1}, {1, 1, 2}, {1, 1, 3}, {1, 1, 4}, {1, 2, 1}, {1, 2, 2}, {1, 2, 3}, {1, 2, 4}});
}

TEST_CASE("the frames of a video stand where they are told to", "[multi_axis]") {
  const cell_grid video{.frames = {0, 2, 7}, .rows = 1, .columns = 2};
  const multi_axis_layout layout{text_run{2}, video, text_run{0}, text_run{1}};
  CHECK(prompt(layout) ==
        std::vector<thw>{
            {0, 0, 0}, {1, 1, 1}, {2, 2, 2}, {2, 2, 3}, {4, 2, 2}, {4, 2, 3}, {9, 2, 2}, {9, 2, 3}, {10, 10, 10}});
  CHECK(layout.delta() == 2);  // a long video takes more positions than tokens
  CHECK(layout.at(9) == thw{11, 11, 11});
  CHECK(layout.at(30) == thw{32, 32, 32});
}

TEST_CASE("text alone stands at its token indices on every axis", "[multi_axis]") {
  const multi_axis_layout layout{text_run{3}, text_run{4}};
  CHECK(layout.delta() == 0);
  for (index_t token = 0; token < 20; ++token) CHECK(layout.at(token) == thw{token, token, token});
  CHECK(multi_axis_layout{}.at(2) == thw{2, 2, 2});
}

TEST_CASE("the rows of a call find their layouts by sequence and token", "[multi_axis]") {
  const std::vector<multi_axis_layout> layouts{
      {text_run{1}, cell_grid{.frames = {0}, .rows = 1, .columns = 3}, text_run{1}},
      {cell_grid{.frames = {0}, .rows = 2, .columns = 1}, text_run{2}}};
  const std::vector<index_t> lengths{4, 2};
  const auto call = call::padded_batch({.lengths = lengths,
                                        .rows = 4,
                                        .side = call::padding_side::left,
                                        .positions = call::padded_positions::compressed(0, 0)});
  const auto column = positions_of(call.key_space(), layouts);
  CHECK(column.rows() == row_identity::of(call.key_space()));
  for (index_t row = 0; row < 4; ++row) CHECK(column.at(0, row) == layouts[0].at(row));
  CHECK(column.at(1, 2) == thw{0, 0, 0});
  CHECK(column.at(1, 3) == thw{0, 1, 0});

  // the same rows in another order, one of them decoded behind the prompt
  const std::vector<index_t> tokens{9, 0, 3};
  const std::vector<index_t> sequences{1, 0, 1};
  const auto mixed = call::explicit_positions({.query = {.positions = tokens, .sequences = sequences, .rows = 3},
                                               .key = {.positions = tokens, .sequences = sequences, .rows = 3}});
  CHECK(positions_of(mixed.query_space(), layouts).values() ==
        std::vector<thw>{layouts[1].at(9), layouts[0].at(0), layouts[1].at(3)});
}

TEST_CASE("multi-axis layouts refuse what is no grid and no token", "[multi_axis]") {
  const auto refused = [](const coordinate::prompt_part& part) {
    return refusal([&] { return multi_axis_layout{part}; }).code();
  };
  CHECK(refused(text_run{-1}) == errc::row_count);
  CHECK(refused(text_run{(index_t{1} << 24) + 1}) == errc::row_count);
  CHECK(refused(cell_grid{.frames = {}, .rows = 2, .columns = 2}) == errc::grid_bounds);
  CHECK(refused(cell_grid{.frames = {0}, .rows = 0, .columns = 2}) == errc::grid_bounds);
  CHECK(refused(cell_grid{.frames = {0}, .rows = 2, .columns = -3}) == errc::grid_bounds);
  CHECK(refused(cell_grid{.frames = {0, -1}, .rows = 2, .columns = 2}) == errc::grid_bounds);
  CHECK(refused(cell_grid{.frames = {0}, .rows = index_t{1} << 12, .columns = (index_t{1} << 12) + 1}) ==
        errc::row_count);

  const multi_axis_layout layout{text_run{2}};
  const std::vector<index_t> before{-1};
  const std::vector<index_t> at{0};
  const std::vector<index_t> other{1};
  const auto space = [](const std::vector<index_t>& positions, const std::vector<index_t>& sequences) {
    return call::explicit_positions({.query = {.positions = positions, .sequences = sequences, .rows = 1},
                                     .key = {.positions = positions, .sequences = sequences, .rows = 1}})
        .key_space();
  };
  CHECK(refusal([&] { return positions_of(space(before, at), layout); }).code() == errc::position_rule);
  CHECK(refusal([&] { return positions_of(space(at, other), layout); }).code() == errc::missing_value);
}

TEST_CASE("a layout has no token before the first", "[multi_axis]") {
  const multi_axis_layout layout{text_run{3}};
  CHECK(refusal([&] { return layout.at(-1); }).code() == errc::position_rule);
}

}  // namespace multi_axis_layout_test
