// SPDX-License-Identifier: MIT
#include <posgeo/attend/eager.hpp>
#include <posgeo/bias/edge_path.hpp>
#include <posgeo/bias/pair.hpp>
#include <posgeo/bias/spatial.hpp>
#include <posgeo/call/annotated_rows.hpp>
#include <posgeo/encode/degree.hpp>
#include <posgeo/model/attention.hpp>
#include <posgeo/visible/active.hpp>
#include <posgeo/visible/custom.hpp>
#include <posgeo/visible/segments.hpp>
#include <posgeo/visible/within_hops.hpp>

#include "support/catch.hpp"
#include "support/compare.hpp"
#include "support/one_layer.hpp"
#include "support/random_graphs.hpp"
#include "support/refusal.hpp"

namespace graph_permutation_test {

using namespace posgeo;
using namespace posgeo::test;
using coordinate::graph_rows;
using coordinate::graph_token;

constexpr index_t entries = 2;
constexpr index_t stored = 8;
constexpr index_t nodes[] = {6, 4};

table<double> table_with_padding(index_t rows, index_t columns, unsigned seed) {
  auto values = random_values<double>(static_cast<std::size_t>(rows * columns), seed);
  std::fill_n(values.begin(), columns, 0.0);
  return {values, rows, columns};
}

graph_rows graphs() {
  dice roll(401);
  return {{random_graph(roll, nodes[0], 0.3), random_graph(roll, nodes[1], 0.3)}, graph_token::at(-1)};
}

/// Token first, then the nodes, then padding.
row_identity in_order() {
  std::vector<row_name> names;
  for (index_t b = 0; b < entries; ++b) {
    for (index_t row = 0; row < stored; ++row) names.push_back({b, row - 1, row <= nodes[b]});
  }
  return {entries, stored, std::move(names)};
}
std::vector<index_t> shuffle() {
  dice roll(402);
  std::vector<index_t> order = random_order(roll, stored);
  const std::vector<index_t> second = random_order(roll, stored);
  order.insert(order.end(), second.begin(), second.end());
  return order;
}

/// A Graphormer layer: degrees join the states; distances and edges the scores; far pairs are hidden.
attention_result<double> layer(const graph_rows& rows, const position_call& call, tensor<double, 3> states) {
  const encode::degree<double> degrees(
      {.in = table_with_padding(9, layer_width, 403), .out = table_with_padding(9, layer_width, 404)}, rows,
      {.row_offset = 1, .count = encode::degree_count::by_direction});
  encode::add_positions(degrees, call, states.view());
  const auto query = projected(states, layer_heads.query, 411);
  const auto key = projected(states, layer_heads.key_value, 412);
  const auto value = projected(states, layer_heads.key_value, 413);
  const bias::spatial distances(table_with_padding(12, 4, 405), coordinate::distance_id(11), rows,
                                table_with_padding(1, 4, 406));
  const bias::edge_path edges(table_with_padding(11, 3, 407), table_with_padding(9, 4, 408), rows,
                              {.rows = {.first = 1, .stride = 5}, .hops = 3, .longer = bias::longer_paths::cut});
  const visible::within_hops near(rows, {.most = 2, .unreachable = visible::unreachable_pairs::seen});
  const attention model{layer_heads, scale::inverse_sqrt_head_dim{}, distances, edges, visible::segments{}, near};
  return attend(eager{}, model.compile<double>(call), {query.view(), key.view(), value.view()}, also::everything);
}

tensor<double, 3> copy_of(const states_view<const double>& from) {
  tensor<double, 3> out(from.extents());
  for (index_t b = 0; b < from.extent(0); ++b) {
    for (index_t row = 0; row < from.extent(1); ++row) {
      std::copy(from.row(b, row).begin(), from.row(b, row).end(), out.view().row(b, row).begin());
    }
  }
  return out;
}

/// The largest difference between active rows of the moved run and the rows of the plain one that they were.
double away(const attention_result<double>& plain, const attention_result<double>& moved, const row_identity& names,
            const std::vector<index_t>& order) {
  double largest = 0;
  for (index_t b = 0; b < entries; ++b) {
    const std::vector<index_t> from(order.begin() + b * stored, order.begin() + (b + 1) * stored);
    for (index_t row = 0; row < stored; ++row) {
      if (!names.name(b, row).active) continue;
      const index_t was = from[static_cast<std::size_t>(row)];
      largest = std::max(largest, row_difference(plain, {b, was, from}, moved, {b, row, counted(0, stored)}));
    }
  }
  return largest;
}

TEST_CASE("a graph's attention follows a permutation of its rows when positions go with them", "[laws]") {
  const graph_rows rows = graphs();
  const annotated_rows<double> whole(in_order(), random_tensor<double, 3>({entries, stored, layer_width}, 421));
  const auto order = shuffle();
  const auto moved = whole.permuted(order);
  const auto plain = layer(rows, whole.call(), copy_of(whole.content()));
  CHECK(away(plain, layer(rows, moved.call(), copy_of(moved.content())), moved.rows(), order) < 1e-13);

  SECTION("and does not when only the content moves") {
    CHECK(away(plain, layer(rows, whole.call(), copy_of(moved.content())), moved.rows(), order) > 0.1);
    violations found;
    moved.expect_of(whole.call().query_space(), "content", found);
    CHECK(codes(found) == std::vector{errc::row_identity});
  }
}

TEST_CASE("degrees and distances and masks kept as numbers move with their rows or not at all", "[laws]") {
  using degrees = row_column<index_t>;
  using biases = row_pairs<double>;
  using mask = row_pairs<std::uint8_t>;
  const row_identity names = in_order();
  dice roll(422);
  std::vector<std::uint8_t> seen;
  for (index_t n = 0; n < entries * stored * stored; ++n) seen.push_back(roll.chance(0.7) ? 1 : 0);
  const annotated_rows<double, degrees, biases, mask> whole(
      names, random_tensor<double, 3>({entries, stored, layer_width}, 423), degrees(names, roll.row(16, 0, 8)),
      biases(names, random_values<double>(entries * stored * stored, 424)), mask(names, seen));
  const auto order = shuffle();
  const auto moved = whole.permuted(order);

  const auto run = [](const states_view<const double>& content, const degrees& degree, const biases& bias,
                      const mask& see, const position_call& call) {
    tensor<double, 3> states = copy_of(content);
    const auto added = table_with_padding(9, layer_width, 425);
    for (index_t b = 0; b < entries; ++b) {
      for (index_t row = 0; row < stored; ++row) {
        const auto from = added.row(degree.at(b, row));
        const auto to = states.view().row(b, row);
        for (std::size_t d = 0; d < to.size(); ++d) to[d] += from[d];
      }
    }
    const auto query = projected(states, layer_heads.query, 426);
    const auto key = projected(states, layer_heads.key_value, 427);
    const tensor_view<const double, 4> dense(bias.values().data(), {entries, 1, stored, stored});
    const visible::custom shown([&see](const position_call&, batch_index b, query_index i, key_index j) {
      return see.at(b.value(), i.value(), j.value()) != 0;
    });
    const attention model{layer_heads, scale::inverse_sqrt_head_dim{}, bias::pair(dense), shown, visible::active{}};
    return attend(eager{}, model.compile<double>(call), {query.view(), key.view(), key.view()}, also::everything);
  };
  const auto plain = run(whole.content(), whole.column<0>(), whole.column<1>(), whole.column<2>(), whole.call());
  const auto all = run(moved.content(), moved.column<0>(), moved.column<1>(), moved.column<2>(), moved.call());
  CHECK(away(plain, all, moved.rows(), order) < 1e-13);

  // The old distances or mask beside the new rows: the right shape, another graph.
  const auto old_bias = run(moved.content(), moved.column<0>(), whole.column<1>(), moved.column<2>(), moved.call());
  const auto old_mask = run(moved.content(), moved.column<0>(), moved.column<1>(), whole.column<2>(), moved.call());
  CHECK(away(plain, old_bias, moved.rows(), order) > 0.1);
  CHECK(away(plain, old_mask, moved.rows(), order) > 0.1);
  using rows = annotated_rows<double, degrees, biases, mask>;
  const auto refused = [&](const degrees& degree, const biases& bias, const mask& see) {
    return refusal([&] { return rows(moved.rows(), moved.content(), degree, bias, see); }).code();
  };
  CHECK(refused(whole.column<0>(), moved.column<1>(), moved.column<2>()) == errc::row_identity);
  CHECK(refused(moved.column<0>(), whole.column<1>(), moved.column<2>()) == errc::row_identity);
  CHECK(refused(moved.column<0>(), moved.column<1>(), whole.column<2>()) == errc::row_identity);
}

TEST_CASE("policies over different graphs do not make one attention", "[laws]") {
  const std::vector<coordinate::graph_edge> path{{0, 1}, {1, 2}};
  const std::vector<coordinate::graph_edge> star{{0, 1}, {0, 2}};
  const auto over = [](const std::vector<coordinate::graph_edge>& edges) {
    return graph_rows({coordinate::graph::undirected(3, edges)}, graph_token::none());
  };
  const auto attention_over = [&](const graph_rows& distances, const graph_rows& near) {
    return attention{layer_heads, scale::inverse_sqrt_head_dim{},
                     bias::spatial(random_table(12, 4, 432), coordinate::distance_id(11), distances),
                     visible::within_hops(near, {.most = 1, .unreachable = visible::unreachable_pairs::hidden})};
  };
  const auto content = random_tensor<double, 3>({1, 3, 2}, 433);
  const auto call = annotated_rows<double>(row_identity(1, 3, {{0, 0}, {0, 1}, {0, 2}}), content.view()).call();
  CHECK(attention_over(over(path), over(path)).check(call).empty());  // equal graphs, made twice
  CHECK(codes(attention_over(over(path), over(star)).check(call)) == std::vector{errc::graph_structure});
}

}  // namespace graph_permutation_test
