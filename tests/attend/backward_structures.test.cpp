// SPDX-License-Identifier: MIT
#include <posgeo/bias/edge_path.hpp>
#include <posgeo/bias/spatial.hpp>
#include <posgeo/call/explicit_positions.hpp>
#include <posgeo/frequency/yarn.hpp>
#include <posgeo/model/attention.hpp>
#include <posgeo/scale/inverse_sqrt_head_dim.hpp>
#include <posgeo/transform/multi_axis_rotary.hpp>
#include <posgeo/visible/active.hpp>
#include <posgeo/visible/everything.hpp>
#include <posgeo/visible/segments.hpp>

#include "support/calls.hpp"
#include "support/finite_differences.hpp"
#include "support/random_graphs.hpp"

// Gradients of policies over graphs and grids against central differences.
namespace backward_structures_test {

using namespace posgeo;
using namespace posgeo::test;
using coordinate::graph_rows;
using coordinate::graph_token;
using learned = std::vector<std::vector<double>>;

constexpr heads three{.query = 3, .key_value = 1, .dim = 4};

std::vector<double> some(index_t count, unsigned seed) {
  return random_values<double>(static_cast<std::size_t>(count), seed);
}
table<double> table_of(const std::vector<double>& numbers, index_t columns) {
  return {numbers, static_cast<index_t>(numbers.size()) / columns, columns};
}

TEST_CASE("backward of a spatial bias and its graph token", "[backward]") {
  dice roll(501);
  const graph_rows graphs({random_graph(roll, 6, 0.3), random_graph(roll, 4, 0.4)}, graph_token::at(-1));
  const coordinate::distance_id id(7);
  const std::array<index_t, 11> nodes{-1, 2, 5, 0, 4, 1, -1, 3, 0, 1, 2};
  const std::array<index_t, 11> of{0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1};
  const call::explicit_side side{.positions = nodes, .sequences = of, .rows = 11};
  const auto call = call::explicit_positions({.query = side, .key = side});
  check_against_differences(
      [&](const learned& n) {
        return attention(three, scale::inverse_sqrt_head_dim{},
                         bias::spatial<double>(table_of(n[0], 3), id, graphs, table_of(n[1], 3)), visible::segments{},
                         visible::active{});
      },
      {some(8 * 3, 502), some(3, 503)}, call, 2, 504, 3);
}

TEST_CASE("backward of an edge path reaches its features and weights", "[backward]") {
  using bias::longer_paths;
  dice roll(511);
  const coordinate::edge_attribute_rows rows{.first = 0, .stride = 4};
  const graph_rows graphs({random_graph(roll, 6, 0.25)}, graph_token::none());
  const auto call = call_at({3, 0, 5, 1}, {0, 1, 2, 3, 4, 5});
  for (const longer_paths longer : {longer_paths::cut, longer_paths::nothing}) {
    check_against_differences(
        [&](const learned& n) {
          return attention(three, scale::inverse_sqrt_head_dim{},
                           bias::edge_path<double>(table_of(n[0], 2), table_of(n[1], 3), graphs,
                                                   {.rows = rows, .hops = 2, .longer = longer}),
                           visible::everything{});
        },
        {some(8 * 2, 512), some(3 * 2 * 3, 513)}, call, 2, 514, 3);
  }
}

TEST_CASE("backward of a rotation over axes and with an attention factor", "[backward]") {
  const heads layout{.query = 2, .key_value = 1, .dim = 10};
  const auto call = call_at({3, 0, 5}, {0, 1, 2, 3});
  using place = coordinate::axis_positions<2>;
  const row_column<place> queries(row_identity::of(call.query_space()), {{1, 4}, {0, 2}, {7, 3}});
  const row_column<place> keys(row_identity::of(call.key_space()), {{2, 2}, {5, 1}, {0, 9}, {3, 3}});
  const frequency::yarn ladder({.base = 20.0,
                                .rotary_dim = 4,
                                .factor = 3.0,
                                .original_max_position = 16,
                                .ramp = frequency::yarn_ramp::turns,
                                .attention_factor = 1.3});
  check_against_differences(
      [&](const learned&) {
        return attention(layout, scale::inverse_sqrt_head_dim{},
                         transform::multi_axis_rotary<2>(ladder, transform::axis_sections<2>::own_parts(),
                                                         transform::pairing::halves, queries, keys),
                         visible::everything{});
      },
      {}, call, 3, 521);
}

}  // namespace backward_structures_test
