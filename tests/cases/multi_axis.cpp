// SPDX-License-Identifier: MIT
#include <posgeo/coordinate/multi_axis.hpp>
#include <posgeo/frequency/geometric.hpp>
#include <posgeo/scale/none.hpp>
#include <posgeo/transform/multi_axis_rotary.hpp>
#include <posgeo/visible/everything.hpp>

#include <regex>

#include "cases/json_tensors.hpp"

namespace posgeo::cases {
namespace {

using coordinate::cell_grid;
using coordinate::multi_axis_layout;
using coordinate::thw;

coordinate::prompt_part part_of(const std::string& said) {
  static const std::regex text(R"(text (\d+))");
  static const std::regex image(R"(image t=(\d+) h=(\d+) w=(\d+) \(merged grid, row-major\))");
  std::smatch found;
  if (std::regex_match(said, found, text)) return coordinate::text_run{std::stoll(found[1])};
  if (!std::regex_match(said, found, image)) throw not_supported("layout " + said);
  return cell_grid{
      .frames = counting(0, std::stoll(found[1])), .rows = std::stoll(found[2]), .columns = std::stoll(found[3])};
}

json mrope_positions(const json& in) {
  std::vector<coordinate::prompt_part> parts;
  for (const std::string said : in.at("layout")) parts.push_back(part_of(said));
  const multi_axis_layout layout(parts);
  json out{{"delta", layout.delta()}};
  const std::array names{"t", "h", "w"};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    for (index_t token = 0; token < layout.prompt_tokens(); ++token) {
      out[names[axis]].push_back(layout.at(token)[axis]);
    }
  }
  for (const index_t token : in.at("decode_token_indices")) {
    const thw p = layout.at(token);
    if (p[1] != p[0] || p[2] != p[0]) throw std::runtime_error("a decoded token stands at several positions");
    out["decode_positions_all_axes"].push_back(p[0]);
  }
  return out;
}

/// The cells of a grid by token, and the score of two of them.
json rope_2d_score(const json& in) {
  using place = coordinate::axis_positions<2>;
  expect(in, "head", "4 dims, pairs (0,1) by row and (2,3) by column, frequency 1");
  const multi_axis_layout grid{cell_grid{.frames = {0}, .rows = in.at("H"), .columns = in.at("W")}};
  const auto cell = [&grid](index_t token) { return place{grid.at(token)[1], grid.at(token)[2]}; };
  const index_t token = in.at("token");
  json out{{"row_col_of_" + std::to_string(token), cell(token)}};
  for (index_t n = 0; n < grid.prompt_tokens(); ++n) {
    out["all_rows"].push_back(cell(n)[0]);
    out["all_cols"].push_back(cell(n)[1]);
  }
  const index_t other = in.at("other_token");
  const auto call = call_at({token}, {other});
  const transform::multi_axis_rotary<2> turn(frequency::geometric({.base = 10000.0, .rotary_dim = 2}),
                                             transform::axis_sections<2>::own_parts(), transform::pairing::adjacent,
                                             {row_identity::of(call.query_space()), {cell(token)}},
                                             {row_identity::of(call.key_space()), {cell(other)}});
  const attention model{heads{.dim = 4}, scale::none{}, turn, visible::everything{}};
  const auto q = one_head(json::array({in.at("q")}));
  const auto k = one_head(json::array({in.at("k")}));
  out["score"] = run(model, call, q, k, k).scores(0, 0, 0, 0);
  return out;
}

}  // namespace

operations multi_axis_operations() { return {{"mrope_positions", mrope_positions}, {"rope_2d_score", rope_2d_score}}; }

}  // namespace posgeo::cases
