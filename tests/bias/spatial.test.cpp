// SPDX-License-Identifier: MIT
#include <posgeo/bias/spatial.hpp>
#include <posgeo/call/cross_attention.hpp>
#include <posgeo/call/padded_batch.hpp>

#include "support/calls.hpp"
#include "support/catch.hpp"
#include "support/random.hpp"
#include "support/random_graphs.hpp"
#include "support/refusal.hpp"

namespace spatial_test {

using namespace posgeo;
using namespace posgeo::test;
using bias::spatial;
using coordinate::distance_id;
using coordinate::graph;
using coordinate::graph_rows;
using coordinate::graph_token;

static_assert(score_bias<spatial<float>, float> && score_bias<spatial<float>, double>);

constexpr heads two{.query = 2, .key_value = 1, .dim = 1};

/// 0 -> 1 -> 2 -> 3, and 4 alone; then two nodes apart.
graph_rows chain(graph_token token) {
  const std::vector<coordinate::graph_edge> edges{{0, 1}, {1, 2}, {2, 3}};
  return {{graph::directed(5, edges), graph::directed(2, {})}, token};
}

TEST_CASE("a pair reads the row of its distance from query to key", "[spatial]") {
  const auto weights = random_table(9, 2, 371);
  const spatial policy(weights, distance_id(8), chain(graph_token::none()));
  const auto call = call_at({1, 4}, {0, 3, 1, 2, 4});
  const auto term = policy.compile<double>(call, two);
  const std::vector<std::vector<index_t>> ids{{8, 3, 1, 2, 8}, {8, 8, 8, 8, 1}};
  for (index_t i = 0; i < 2; ++i) {
    for (index_t j = 0; j < 5; ++j) {
      const index_t id = ids[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)];
      CHECK(term.id(batch_index{0}, query_index{i}, key_index{j}) == id);
      for (index_t h = 0; h < 2; ++h) {
        CHECK(term(batch_index{0}, head_index{h}, query_index{i}, key_index{j}) == weights(id, h));
      }
    }
  }
}

TEST_CASE("the graph token has one bias that is added once and padding has no other", "[spatial]") {
  const auto weights = random_table(9, 2, 372);
  const auto token = random_table(1, 2, 373);
  const spatial policy(weights, distance_id(8), chain(graph_token::at(-1)), token);
  const std::vector<index_t> lengths{6, 3};
  const auto call = call::padded_batch({.lengths = lengths,
                                        .rows = 6,
                                        .side = call::padding_side::right,
                                        .positions = call::padded_positions::contiguous(-1)});
  const auto term = policy.compile<double>(call, two);
  const auto at = [&](index_t b, index_t i, index_t j) {
    return term(batch_index{b}, head_index{1}, query_index{i}, key_index{j});
  };
  for (index_t n = 0; n < 6; ++n) {
    CHECK(at(0, 0, n) == token(0, 1));
    CHECK(at(0, n, 0) == token(0, 1));
  }
  for (index_t n = 3; n < 6; ++n) {  // padding, beside the token
    CHECK(at(1, 0, n) == token(0, 1));
    CHECK(at(1, n, 0) == token(0, 1));
  }
  CHECK(at(0, 1, 4) == weights(4, 1));
  CHECK(at(1, 1, 2) == weights(8, 1));
  CHECK(at(1, 2, 2) == weights(1, 1));
  CHECK(at(1, 4, 4) == 0.0);
  CHECK(at(1, 2, 4) == 0.0);
  CHECK(at(1, 4, 2) == 0.0);
  CHECK(term.id(batch_index{1}, query_index{4}, key_index{4}) == distance_id::padding);
}

TEST_CASE("unreachable is another row than any distance", "[spatial]") {
  const auto weights = random_table(12, 2, 374);
  dice roll(375);
  for (int round = 0; round < 20; ++round) {
    const graph_rows rows({random_graph(roll, 7, 0.15)}, graph_token::none());
    const auto order = random_order(roll, 7);
    const spatial policy(weights, distance_id(11), rows);
    const auto term = policy.compile<double>(call_at(order), two);
    for (index_t i = 0; i < 7; ++i) {
      for (index_t j = 0; j < 7; ++j) {
        const auto node = [&](index_t row) { return order[static_cast<std::size_t>(row)]; };
        const auto distance = rows.paths(0).distance(node(i), node(j));
        REQUIRE(term.id(batch_index{0}, query_index{i}, key_index{j}) == (distance ? *distance + 1 : 11));
      }
    }
  }
}

TEST_CASE("spatial bias refuses ids without a row of their own", "[spatial]") {
  const auto refused = [](index_t rows, index_t unreachable, graph_rows graphs) {
    return refusal([&] { return spatial(random_table(rows, 2, 376), distance_id(unreachable), graphs); }).code();
  };
  const auto none = graph_token::none();
  CHECK(refused(8, 8, chain(none)) == errc::graph_structure);  // unreachable pairs read row 8
  CHECK(refused(9, 4, chain(none)) == errc::graph_structure);  // the longest path has id 4
  const std::vector<coordinate::graph_edge> edges{{0, 1}, {1, 2}};
  const graph_rows connected({graph::undirected(3, edges)}, none);
  CHECK(refused(3, 511, connected) == errc::graph_structure);
  CHECK_NOTHROW(spatial(random_table(4, 2, 376), distance_id(511), connected));
}

TEST_CASE("spatial bias refuses a token without a row and a row without a token", "[spatial]") {
  const auto weights = random_table(9, 2, 377);
  const auto with_row = [&](graph_token token, index_t rows) {
    return refusal([&] { return spatial(weights, distance_id(8), chain(token), random_table(rows, 2, 378)); }).code();
  };
  CHECK(refusal([&] { return spatial(weights, distance_id(8), chain(graph_token::at(-1))); }).code() ==
        errc::graph_structure);
  CHECK(with_row(graph_token::none(), 1) == errc::graph_structure);
  CHECK(with_row(graph_token::at(-1), 2) == errc::table_rows);
}

TEST_CASE("spatial bias refuses other heads and rows that are no nodes", "[spatial]") {
  const spatial policy(random_table(9, 3, 379), distance_id(8), chain(graph_token::none()));
  const heads three{.query = 3, .key_value = 3, .dim = 1};
  CHECK(refusal([&] { return policy.compile<float>(call_at({0}), two); }).code() == errc::head_count);
  CHECK(refusal([&] { return policy.compile<float>(call_at({0}, {5}), three); }).code() == errc::graph_structure);
  const spatial tokens(random_table(9, 2, 379), distance_id(8), chain(graph_token::at(7)), random_table(1, 3, 380));
  CHECK(refusal([&] { return tokens.compile<float>(call_at({0}), two); }).code() == errc::head_count);
  const std::vector<index_t> length{2};
  const auto cross =
      call::cross_attention({.target_lengths = length, .source_lengths = length, .target_rows = 2, .source_rows = 2});
  CHECK(refusal([&] { return policy.compile<float>(cross, three); }).code() == errc::frame_mismatch);
  const std::vector<double> large(27, -1e39);
  const spatial wide(table<double>(large, 9, 3), distance_id(8), chain(graph_token::none()));
  CHECK(refusal([&] { return wide.compile<float>(call_at({0}), three); }).code() == errc::non_finite);
}

}  // namespace spatial_test
