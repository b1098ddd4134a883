// SPDX-License-Identifier: MIT
#include <posgeo/coordinate/attribute_rows.hpp>
#include <posgeo/coordinate/clipped.hpp>
#include <posgeo/coordinate/deberta_span.hpp>
#include <posgeo/coordinate/elapsed_time.hpp>
#include <posgeo/coordinate/graph_rows.hpp>
#include <posgeo/coordinate/relation_rows.hpp>
#include <posgeo/coordinate/t5_bucket.hpp>
#include <posgeo/coordinate/window_index.hpp>

#include "support/described.hpp"
#include "support/random.hpp"

namespace coordinate_describe_test {

using namespace posgeo;
using namespace posgeo::test;
using namespace posgeo::coordinate;

static_assert(described_policy<clipped> && described_policy<deberta_span> && described_policy<log_bucket> &&
              described_policy<t5_bucket> && described_policy<elapsed_time> && described_policy<graph> &&
              described_policy<graph_rows> && described_policy<grid> && described_policy<window_index> &&
              described_policy<node_attribute_rows> && described_policy<distance_id>);

TEST_CASE("clipped classes are described by every setting", "[describe]") {
  const auto made = [](index_t behind, index_t ahead, offset_sign sign, beyond_ends beyond) {
    return clipped({.behind = behind, .ahead = ahead, .sign = sign, .beyond = beyond}).describe();
  };
  constexpr auto forward = offset_sign::key_minus_query;
  constexpr auto clip = beyond_ends::clipped;
  check_described(made(5, 3, forward, clip), made(5, 3, forward, clip),
                  {{{"behind"}, made(4, 3, forward, clip)},
                   {{"ahead"}, made(5, 2, forward, clip)},
                   {{"behind", "ahead"}, made(3, 5, forward, clip)},
                   {{"sign"}, made(5, 3, offset_sign::query_minus_key, clip)},
                   {{"beyond"}, made(5, 3, forward, beyond_ends::refused)}});
}

TEST_CASE("t5 buckets are described by every setting", "[describe]") {
  const auto made = [](index_t buckets, index_t distance, bucket_direction direction, odd_buckets odd) {
    return t5_bucket({.num_buckets = buckets, .max_distance = distance, .direction = direction, .odd = odd}).describe();
  };
  constexpr auto both = bucket_direction::bidirectional;
  constexpr auto unused = odd_buckets::last_unused;
  check_described(made(12, 40, both, unused), made(12, 40, both, unused),
                  {{{"num_buckets"}, made(14, 40, both, unused)},
                   {{"max_distance"}, made(12, 41, both, unused)},
                   {{"direction"}, made(12, 40, bucket_direction::causal, unused)},
                   {{"odd"}, made(12, 40, both, odd_buckets::refused)}},
                  {"sign"});
}

TEST_CASE("logarithmic buckets are described by every setting", "[describe]") {
  const auto made = [](index_t buckets, index_t most, beyond_max_position beyond) {
    return log_bucket({.num_buckets = buckets, .max_position = most, .beyond = beyond}).describe();
  };
  constexpr auto clamped = beyond_max_position::clamped;
  check_described(made(8, 33, clamped), made(8, 33, clamped),
                  {{{"num_buckets"}, made(10, 33, clamped)},
                   {{"max_position"}, made(8, 34, clamped)},
                   {{"beyond"}, made(8, 33, beyond_max_position::runs_on)}},
                  {"sign"});
}

TEST_CASE("a span is described by its reach and by its buckets", "[describe]") {
  const auto bucketed = [](index_t buckets, index_t most) {
    return deberta_span::bucketed(
        log_bucket({.num_buckets = buckets, .max_position = most, .beyond = beyond_max_position::clamped}));
  };
  check_described(deberta_span::exact(8).describe(), deberta_span::exact(8).describe(),
                  {{{"span"}, deberta_span::exact(9).describe()},
                   {{"rule"}, bucketed(8, 40).describe()},
                   {{"span", "rule"}, bucketed(10, 40).describe()}},
                  {"sign"});
  check_described(bucketed(8, 40).describe(), bucketed(8, 40).describe(),
                  {{{"rule.max_position"}, bucketed(8, 41).describe()},
                   {{"span", "rule.num_buckets"}, bucketed(10, 40).describe()}},
                  {"sign", "rule.sign", "rule.beyond"});
}

TEST_CASE("elapsed time is described by its clock, units and origin", "[describe]") {
  const auto made = [](std::string_view clock, time_unit stamps, index_t origin, time_unit unit) {
    return elapsed_time({.clock = clock_name(clock), .stamp_unit = stamps, .origin = origin, .unit = unit}).describe();
  };
  constexpr auto seconds = time_unit::seconds;
  constexpr auto days = time_unit::days;
  check_described(made("unix utc", seconds, -7, days), made("unix utc", seconds, -7, days),
                  {{{"clock"}, made("unix tai", seconds, -7, days)},
                   {{"stamp_unit"}, made("unix utc", time_unit::minutes, -7, days)},
                   {{"origin"}, made("unix utc", seconds, 7, days)},
                   {{"unit"}, made("unix utc", seconds, -7, time_unit::hours)}});
}

TEST_CASE("grids and windows are described by their cells and their traversal", "[describe]") {
  const auto made = [](index_t rows, index_t columns, traversal order, index_t class_rows) {
    return grid({.rows = rows, .columns = columns, .order = order, .class_rows = class_rows});
  };
  const grid base = made(3, 5, traversal::row_major, 1);
  const std::vector<std::pair<std::string, grid>> others{{"rows", made(4, 5, traversal::row_major, 1)},
                                                         {"columns", made(3, 4, traversal::row_major, 1)},
                                                         {"order", made(3, 5, traversal::column_major, 1)},
                                                         {"order", made(3, 5, traversal::serpentine, 1)},
                                                         {"class_rows", made(3, 5, traversal::row_major, 0)}};
  std::vector<changed_policy> of_grid;
  std::vector<changed_policy> of_window;
  for (const auto& [field, other] : others) {
    of_grid.push_back({{field}, other.describe()});
    of_window.push_back({{"window." + field}, window_index(other).describe()});
  }
  check_described(base.describe(), made(3, 5, traversal::row_major, 1).describe(), of_grid);
  check_described(window_index(base).describe(), window_index(base).describe(), of_window, {"sign"});
}

TEST_CASE("attribute rows and distance ids are described by their numbers", "[describe]") {
  const auto rows = [](index_t first, index_t stride) {
    return edge_attribute_rows{.first = first, .stride = stride}.describe();
  };
  check_described(rows(3, 512), edge_attribute_rows::graphormer().describe(),
                  {{{"first"}, rows(2, 512)}, {{"stride"}, rows(3, 511)}});
  check_described(distance_id(511).describe(), distance_id::graphormer().describe(),
                  {{{"unreachable"}, distance_id(510).describe()}});
}

TEST_CASE("a graph is described by its nodes, edges and attributes", "[describe]") {
  const std::vector<graph_edge> edges{{2, 0}, {0, 3}, {3, 3}};
  const std::vector<index_t> attributes{5, 1, 7, 2, 0, 9};
  const auto base = graph::directed(4, edges, attributes).describe();
  const auto with_edge = [&](std::size_t n, graph_edge edge) {
    auto others = edges;
    others[n] = edge;
    return graph::directed(4, others, attributes).describe();
  };
  const auto with_attribute = [&](std::size_t n) {
    auto others = attributes;
    ++others[n];
    return graph::directed(4, edges, others).describe();
  };
  check_described(
      base, graph::directed(4, edges, attributes).describe(),
      {{{"nodes"}, graph::directed(5, edges, attributes).describe()},
       {{"from"}, with_edge(0, {1, 0})},
       {{"to"}, with_edge(0, {2, 1})},
       {{"from", "to", "attributes"}, with_edge(2, {1, 3})},
       {{"attributes"}, with_attribute(0)},
       {{"attributes"}, with_attribute(3)},
       {{"attributes"}, with_attribute(5)},
       {{"attributes", "attributes_of_an_edge"}, graph::directed(4, edges, std::span(attributes).first(3)).describe()},
       {{"from", "to", "attributes"}, graph::undirected(4, edges, attributes).describe()}});
}

TEST_CASE("the order in which edges were given is no part of a graph", "[describe]") {
  const std::vector<graph_edge> edges{{2, 0}, {0, 3}, {3, 1}};
  const std::vector<graph_edge> turned{{3, 1}, {2, 0}, {0, 3}};
  const std::vector<index_t> attributes{5, 1, 7};
  const std::vector<index_t> turned_attributes{7, 5, 1};
  CHECK(graph::directed(4, edges, attributes).describe() == graph::directed(4, turned, turned_attributes).describe());
  CHECK_FALSE(graph::directed(4, edges, attributes).describe() == graph::directed(4, turned, attributes).describe());
}

TEST_CASE("graph rows are described by every graph, their order and the token", "[describe]") {
  const std::vector<graph_edge> edges{{1, 0}, {0, 2}};
  const auto one = graph::undirected(3, edges);
  const auto other = graph::directed(3, edges);
  const auto none = graph_token::none();
  const auto made = [](std::vector<graph> graphs, const graph_token& token) {
    return graph_rows(std::move(graphs), token).describe();
  };
  check_described(made({one, other}, none), made({one, other}, none),
                  {{{"token"}, made({one, other}, graph_token::at(-1))},
                   {{"token"}, made({one, other}, graph_token::at(3))},
                   {{"graphs.0.from", "graphs.0.to", "graphs.1.from", "graphs.1.to"}, made({other, one}, none)},
                   {{"graphs"}, made({one}, none)},
                   {{"graphs.1.nodes"}, made({one, graph::directed(4, edges)}, none)}},
                  {"graphs.0.attributes", "graphs.0.attributes_of_an_edge", "graphs.0.nodes", "graphs.1.attributes",
                   "graphs.1.attributes_of_an_edge"});
}

TEST_CASE("relation rows are described by their tables, the axes and the classes", "[describe]") {
  const auto classes = [](index_t behind, index_t ahead) {
    return clipped(
        {.behind = behind, .ahead = ahead, .sign = offset_sign::key_minus_query, .beyond = beyond_ends::clipped});
  };
  // three heads, three classes and three dimensions: only the axes tell the layouts apart
  const auto square = random_table(9, 3, 4411);
  const auto wide = table<double>(square.values(), 3, 9);
  const auto made = [](const head_tables<double>& rows, const clipped& of) {
    return relation_rows<double>(rows, of, "test").describe_as("test");
  };
  const auto stacked = head_tables<double>::stacked(square, 3);
  const auto by_column = head_tables<double>::by_column(wide, 3);
  REQUIRE(stacked.row(head_index{1}, 2)[0] != by_column.row(head_index{1}, 2)[0]);
  check_described(made(stacked, classes(1, 1)), made(head_tables<double>::stacked(square, 3), classes(1, 1)),
                  {{{"table_axes"}, made(by_column, classes(1, 1))},
                   {{"table"}, made(head_tables<double>::stacked(random_table(9, 3, 4412), 3), classes(1, 1))},
                   {{"table"}, made(head_tables<double>::shared(random_table(3, 3, 4411)), classes(1, 1))},
                   {{"rule.behind", "rule.ahead"}, made(stacked, classes(2, 0))}},
                  {"rule.sign", "rule.beyond"});
}

}  // namespace coordinate_describe_test
