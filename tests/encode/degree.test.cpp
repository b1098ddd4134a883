// SPDX-License-Identifier: MIT
#include <posgeo/call/padded_batch.hpp>
#include <posgeo/encode/degree.hpp>

#include <limits>

#include "support/catch.hpp"
#include "support/compare.hpp"
#include "support/encoded.hpp"
#include "support/random.hpp"
#include "support/refusal.hpp"

namespace degree_test {

using namespace posgeo;
using namespace posgeo::test;
using coordinate::graph;
using coordinate::graph_rows;
using coordinate::graph_token;
using encode::degree;
using encode::degree_count;
using encode::high_degree;

static_assert(state_encoder<degree<float>, float> && state_encoder<degree<float>, double>);

constexpr index_t width = 5;

table<double> rows_of(index_t rows, unsigned seed) { return random_table(rows, width, seed); }
/// In-degrees 0, 1, 2 and out-degrees 2, 1, 0; then a graph of two nodes and no edge.
graph_rows two_graphs(graph_token token) {
  const std::vector<coordinate::graph_edge> edges{{0, 2}, {1, 2}, {0, 1}};
  return {{graph::directed(3, edges), graph::directed(2, {})}, token};
}
/// Whether the row is in[in_row] + out[out_row].
bool is_sum(std::span<const double> row, const table<double>& in, index_t in_row, const table<double>& out,
            index_t out_row) {
  for (std::size_t c = 0; c < row.size(); ++c) {
    if (row[c] != in.row(in_row)[c] + out.row(out_row)[c]) return false;
  }
  return true;
}

TEST_CASE("a node receives a row for each of its degrees", "[degree]") {
  const auto in = rows_of(6, 361);
  const auto out = rows_of(7, 362);
  const auto rows = two_graphs(graph_token::at(-1));
  const std::vector<index_t> lengths{4, 3};
  const auto call = call::padded_batch({.lengths = lengths,
                                        .rows = 5,
                                        .side = call::padding_side::right,
                                        .positions = call::padded_positions::contiguous(-1)});
  const degree<double> encoder({.in = in, .out = out}, rows, {.row_offset = 3, .count = degree_count::by_direction});
  CHECK(encoder.width() == width);
  const auto added = encoded(encoder, call);
  const auto row = [&](index_t b, index_t r) { return added.view().row(b, r); };
  for (const auto& [b, r] : {std::pair<index_t, index_t>{0, 0}, {1, 0}, {0, 4}, {1, 3}, {1, 4}}) {
    CHECK(all_equal(row(b, r), 0.0));  // the token and padding
  }
  CHECK(is_sum(row(0, 1), in, 3 + 0, out, 3 + 2));
  CHECK(is_sum(row(0, 2), in, 3 + 1, out, 3 + 1));
  CHECK(is_sum(row(0, 3), in, 3 + 2, out, 3 + 0));
  CHECK(is_sum(row(1, 1), in, 3, out, 3));

  const degree<double> released({.in = in, .out = out}, rows,
                                {.row_offset = 3, .count = degree_count::outgoing_for_both});
  const auto both = encoded(released, call);
  CHECK(is_sum(both.view().row(0, 1), in, 3 + 2, out, 3 + 2));
}

TEST_CASE("the degree of a row is that of its node wherever it is stored", "[degree]") {
  const auto in = rows_of(3, 363);
  const auto out = rows_of(3, 364);
  const degree<double> encoder({.in = in, .out = out}, two_graphs(graph_token::none()),
                               {.row_offset = 0, .count = degree_count::by_direction});
  const auto added = encoded(encoder, call_at({2, 0, 1}));
  CHECK(is_sum(added.view().row(0, 0), in, 2, out, 0));
  CHECK(is_sum(added.view().row(0, 1), in, 0, out, 2));
}

TEST_CASE("a degree beyond the table is refused or reads the last row", "[degree]") {
  const auto in = rows_of(3, 365);
  const auto out = rows_of(3, 366);
  const auto rows = two_graphs(graph_token::none());
  const auto refused = [&](const encode::degree_settings& settings) {
    return refusal([&] { return degree<double>({.in = in, .out = out}, rows, settings); }).code();
  };
  CHECK(refused({.row_offset = 1, .count = degree_count::by_direction}) == errc::graph_structure);
  const degree<double> clamped({.in = in, .out = out}, rows,
                               {.row_offset = 1, .count = degree_count::by_direction, .beyond = high_degree::last_row});
  const auto added = encoded(clamped, call_at({0, 2}));
  CHECK(is_sum(added.view().row(0, 0), in, 1, out, 2));
  CHECK(is_sum(added.view().row(0, 1), in, 2, out, 1));

  CHECK(refused({.row_offset = 3, .count = degree_count::by_direction}) == errc::table_rows);
  CHECK(refused({.row_offset = -1, .count = degree_count::by_direction, .beyond = high_degree::last_row}) ==
        errc::table_rows);
  CHECK(refused({.row_offset = std::numeric_limits<index_t>::min(), .count = degree_count::by_direction}) ==
        errc::table_rows);
}

TEST_CASE("degrees refuse tables of two widths and rows that are no nodes", "[degree]") {
  const auto rows = two_graphs(graph_token::none());
  const table<double> narrow(random_values<double>(12, 367), 3, 4);
  const encode::degree_settings settings{.row_offset = 0, .count = degree_count::by_direction};
  CHECK(refusal([&] { return degree<double>({.in = rows_of(3, 368), .out = narrow}, rows, settings); }).code() ==
        errc::shape_mismatch);
  const degree<double> encoder({.in = rows_of(3, 368), .out = rows_of(3, 369)}, rows, settings);
  CHECK(refusal([&] { return encoder.compile<float>(call_at({0, 3})); }).code() == errc::graph_structure);
  std::vector<double> large(15, 1e39);
  const degree<double> wide({.in = rows_of(3, 368), .out = table<double>(large, 3, 5)}, rows, settings);
  CHECK(refusal([&] { return wide.compile<float>(call_at({0})); }).code() == errc::non_finite);
  const table<double> half(std::vector<double>(15, 2e38), 3, 5);  // each fits, two do not
  const degree<double> doubled({.in = half, .out = half}, rows, settings);
  CHECK(refusal([&] { return doubled.compile<float>(call_at({0})); }).code() == errc::non_finite);
  CHECK_NOTHROW(doubled.compile<double>(call_at({0})));
}

}  // namespace degree_test
