// SPDX-License-Identifier: MIT
#include <posgeo/call/cross_attention.hpp>
#include <posgeo/call/padded_batch.hpp>
#include <posgeo/coordinate/graph_rows.hpp>

#include <string>

#include "support/calls.hpp"
#include "support/catch.hpp"
#include "support/refusal.hpp"

namespace graph_rows_test {

using namespace posgeo;
using namespace posgeo::test;
using coordinate::graph;
using coordinate::graph_place;
using coordinate::graph_rows;
using coordinate::graph_token;
using edges = std::vector<coordinate::graph_edge>;

graph_rows two_graphs(graph_token token) {
  return {{graph::undirected(3, edges{{0, 1}}), graph::undirected(2, edges{{0, 1}})}, token};
}
std::vector<errc> found_in(const graph_rows& rows, const position_call& call) {
  violations found;
  rows.check(call, "spatial bias", found);
  return codes(found);
}

TEST_CASE("the sequence picks the graph and the position the node", "[graph_rows]") {
  const graph_rows rows = two_graphs(graph_token::at(-1));
  const std::vector<index_t> lengths{4, 3};
  const auto call = call::padded_batch({.lengths = lengths,
                                        .rows = 5,
                                        .side = call::padding_side::left,
                                        .positions = call::padded_positions::compressed(-1, -9)});
  CHECK(found_in(rows, call).empty());
  const auto place = [&](index_t b, index_t row) { return rows.place(call.key_space(), b, row); };
  CHECK(place(0, 0).is == graph_place::kind::padding);
  CHECK(place(1, 1).is == graph_place::kind::padding);
  CHECK(place(0, 1).is == graph_place::kind::token);
  CHECK(place(1, 2).is == graph_place::kind::token);
  CHECK(place(0, 4).is == graph_place::kind::node);
  CHECK(place(0, 4).node == 2);
  CHECK(place(0, 4).graph == 0);
  CHECK(place(1, 3).node == 0);
  CHECK(place(1, 3).graph == 1);
  CHECK(rows.paths(1).distance(0, 1) == 1);
}

TEST_CASE("two graphs may share an entry", "[graph_rows]") {
  const graph_rows rows = two_graphs(graph_token::none());
  const std::vector<index_t> at{1, 0, 2};
  const std::vector<index_t> sequences{1, 0, 0};
  const call::explicit_side side{.positions = at, .sequences = sequences, .rows = 3};
  const auto call = call::explicit_positions({.query = side, .key = side});
  CHECK(found_in(rows, call).empty());
  CHECK(rows.place(call.key_space(), 0, 0).graph == 1);
  CHECK(rows.place(call.key_space(), 0, 0).node == 1);
  CHECK(rows.place(call.key_space(), 0, 2).graph == 0);
}

TEST_CASE("rows that are no nodes are refused and padding is not asked", "[graph_rows]") {
  const graph_rows rows = two_graphs(graph_token::none());
  CHECK(found_in(rows, call_at({2, 0}, {1})).empty());
  CHECK(found_in(rows, call_at({0}, {3})) == std::vector{errc::graph_structure});
  CHECK(found_in(rows, call_at({-1}, {2})) == std::vector{errc::graph_structure});
  const std::vector<index_t> at{0, 2};
  const std::vector<std::uint8_t> first_only{1, 0};
  const auto in_sequence = [&](index_t sequence, std::span<const std::uint8_t> active) {
    const std::vector<index_t> sequences{sequence, sequence};
    const call::explicit_side side{.positions = at, .sequences = sequences, .active = active, .rows = 2};
    return call::explicit_positions({.query = side, .key = side});
  };
  CHECK(found_in(rows, in_sequence(1, first_only)).empty());
  CHECK(found_in(rows, in_sequence(1, {})) ==
        std::vector{errc::graph_structure});  // node 2 of 2, said once for both sides
  CHECK(found_in(rows, in_sequence(2, first_only)) == std::vector{errc::graph_structure});
  CHECK(found_in(rows, in_sequence(-1, first_only)) == std::vector{errc::graph_structure});

  const std::vector<index_t> length{2};
  const auto cross =
      call::cross_attention({.target_lengths = length, .source_lengths = length, .target_rows = 2, .source_rows = 2});
  CHECK(found_in(rows, cross) == std::vector{errc::frame_mismatch});
}

TEST_CASE("graph rows refuse no graph and a token that stands on a node", "[graph_rows]") {
  CHECK(refusal([] { return graph_rows({}, graph_token::none()); }).code() == errc::graph_structure);
  const error refused = refusal([] { return two_graphs(graph_token::at(2)); });
  CHECK(refused.code() == errc::graph_structure);
  CHECK(std::string(refused.what()).find("0..2 of graph 0") != std::string::npos);
  CHECK_NOTHROW(two_graphs(graph_token::at(3)));
}

}  // namespace graph_rows_test
