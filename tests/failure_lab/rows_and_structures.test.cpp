// SPDX-License-Identifier: MIT
#include <posgeo/call/annotated_rows.hpp>
#include <posgeo/call/chunk_positions.hpp>
#include <posgeo/call/row_pairs.hpp>
#include <posgeo/call/row_values.hpp>
#include <posgeo/call/template_offset.hpp>
#include <posgeo/coordinate/elapsed_time.hpp>
#include <posgeo/coordinate/grid.hpp>
#include <posgeo/coordinate/shortest_path.hpp>
#include <posgeo/encode/grid_full.hpp>
#include <posgeo/encode/time2vec.hpp>
#include <posgeo/visible/active.hpp>
#include <posgeo/visible/everything.hpp>

#include <optional>

#include "support/catch.hpp"
#include "support/encoded.hpp"
#include "support/one_layer.hpp"
#include "support/refusal.hpp"

// Each case builds a mistake whose every tensor has the right shape, and shows what catches it.
namespace rows_and_structures_lab {

using namespace posgeo;
using namespace posgeo::test;

constexpr index_t rows = 4;

row_identity names_at(const std::vector<index_t>& positions, index_t sequence = 0) {
  std::vector<row_name> names;
  for (const index_t p : positions) names.push_back({sequence, p, true});
  return {1, static_cast<index_t>(positions.size()), std::move(names)};
}
tensor<double, 3> content_of(unsigned seed) { return random_tensor<double, 3>({1, rows, layer_width}, seed); }

TEST_CASE("two beginning tokens", "[failure_lab]") {
  const auto offset = [](index_t from_tokenizer, index_t from_template) {
    return call::template_offset(
        {.bos_wanted = 1, .bos_from_tokenizer = from_tokenizer, .bos_from_template = from_template, .markup = 6});
  };
  CHECK(offset(1, 0) == 7);
  CHECK(offset(0, 1) == 7);
  CHECK(refusal([&] { (void)offset(1, 1); }).code() == errc::position_rule);
  CHECK(refusal([&] { (void)offset(0, 0); }).code() == errc::position_rule);
}

TEST_CASE("chunks that reset or go on against the rule", "[failure_lab]") {
  const index_t length = 2 * rows;
  const auto chunks = [&](call::chunk_origin rule) {
    return call::chunk_positions({.length = length, .chunk_rows = rows, .origin_of_chunks = rule});
  };
  // The same content in both chunks: under a reset nothing tells them apart, under global positions everything does.
  const auto once = content_of(111);
  tensor<double, 3> twice({2, rows, layer_width});
  std::copy(once.values().begin(), once.values().end(), twice.values().begin());
  std::copy(once.values().begin(), once.values().end(),
            twice.values().begin() + static_cast<std::ptrdiff_t>(once.values().size()));
  const auto apart = [&](call::chunk_origin rule) {
    const auto result = one_layer(mechanism::learned, chunks(rule), twice, visible::everything{});
    return row_difference(result, {0, 1, counted(0, rows)}, result, {1, 1, counted(0, rows)});
  };
  CHECK(apart(call::chunk_origin::reset) == 0.0);
  CHECK(apart(call::chunk_origin::global) > 0.01);
}

TEST_CASE("document boxes detached from their rows", "[failure_lab]") {
  using document = annotated_rows<double, row_column<document_box>>;
  const auto names = names_at({0, 1, 2, 3});
  const std::vector<document_box> boxes{{0, 30, 9, 40}, {0, 10, 9, 20}, {0, 0, 9, 10}, {0, 20, 9, 30}};
  const auto content = content_of(112);
  const document page(names, content.view(), row_column<document_box>(names, boxes));
  const auto sorted = page.sorted_by<document_box>([](const document_box& box) { return box.y0; });
  // Sorted together, every row keeps its box.
  for (index_t row = 0; row < rows; ++row) {
    const auto origin = sorted.rows().name(0, row).position;
    CHECK(sorted.column<row_column<document_box>>().at(0, row) == boxes[static_cast<std::size_t>(origin)]);
    CHECK(largest_difference(sorted.content().row(0, row), content.view().row(0, origin)) == 0.0);
  }
  // The sorted boxes beside the unsorted rows, and the other way round: equal extents, refused.
  const auto mixed = [](const document& of_rows, const document& of_boxes) {
    return refusal(
        [&] { (void)document(of_rows.rows(), of_rows.content(), of_boxes.column<row_column<document_box>>()); });
  };
  CHECK(mixed(page, sorted).code() == errc::row_identity);
  CHECK(mixed(sorted, page).code() == errc::row_identity);
}

encode::grid_full<double> grid_table(const coordinate::grid& grid) {
  return encode::grid_full<double>(random_table(grid.positions(), 5, 113), grid);
}

TEST_CASE("patches flattened in another order", "[failure_lab]") {
  using coordinate::traversal;
  const auto flattened = [](traversal order) { return coordinate::grid({.rows = 2, .columns = 3, .order = order}); };
  const coordinate::grid by_row = flattened(traversal::row_major);
  const coordinate::grid by_column = flattened(traversal::column_major);
  const auto encoder = grid_table(by_row);
  const auto right = by_row.call(1);
  const auto other = by_column.call(1);
  // The oracle: the two traversals give other cells to the same storage rows.
  const auto of_rows = encoded(encoder.at(by_row.cells_of(right.query_space())), right);
  const auto of_columns = encoded(encoder.at(by_column.cells_of(other.query_space())), other);
  CHECK(largest_difference(of_rows.view().row(0, 1), of_columns.view().row(0, 1)) > 0.1);
  // The guard: cells of one traversal do not go to rows of the other.
  tensor<double, 3> states({1, 6, 5});
  const auto stale = encoder.at(by_row.cells_of(right.query_space()));
  CHECK(refusal([&] { encode::add_positions(stale, other, states.view()); }).code() == errc::row_identity);
  CHECK(all_equal(states.values(), 0.0));
}

TEST_CASE("time stamps of another stride", "[failure_lab]") {
  using clip = annotated_rows<double, row_column<media_time>>;
  const auto names = names_at({0, 1, 2, 3});
  const std::vector<media_time> times{{0.0, 0.04}, {0.04, 0.04}, {0.08, 0.04}, {0.12, 0.04}};
  const auto content = content_of(114);
  const clip video(names, content.view(), row_column<media_time>(names, times));
  const std::vector<index_t> every_second{0, 2};
  const auto dropped =
      video.resampled({.take = every_second, .rows = 2, .numbers = row_numbers::kept, .times = row_times::kept()});
  CHECK(dropped.column<row_column<media_time>>().at(0, 1) == times[2]);
  // The mistake: the dropped frames with the times of the first two.
  const row_column<media_time> first_two(names_at({0, 1}), {times[0], times[1]});
  CHECK(refusal([&] { (void)clip(dropped.rows(), dropped.content(), first_two); }).code() == errc::row_identity);
  // Renumbered, the dropped frames have the names of the first two, and are still others.
  const auto renumbered =
      video.resampled({.take = every_second, .rows = 2, .numbers = row_numbers::restarted, .times = row_times::kept()});
  CHECK(renumbered.rows().name(0, 1) == first_two.rows().name(0, 1));
  CHECK(refusal([&] { (void)clip(renumbered.rows(), renumbered.content(), first_two); }).code() == errc::row_identity);
}

TEST_CASE("parts joined without their metadata", "[failure_lab]") {
  using part = annotated_rows<double, row_column<page_place>>;
  const auto make = [](const std::vector<index_t>& at, index_t page, unsigned seed) {
    const auto names = names_at(at);
    std::vector<page_place> places;
    for (std::size_t n = 0; n < at.size(); ++n) places.push_back({page, static_cast<index_t>(n)});
    const auto content = content_of(seed);
    return part(names, content.view(), row_column<page_place>(names, std::move(places)));
  };
  const std::vector<part> parts{make({0, 1, 2, 3}, 0, 115), make({4, 5, 6, 7}, 1, 116)};
  const auto joined = part::concatenated(parts, row_numbers::kept);
  CHECK(joined.column<row_column<page_place>>().at(0, 5) == page_place{1, 1});
  // The mistake: states joined in one order, metadata in the other.
  const std::vector<part> turned{parts[1], parts[0]};
  const auto other = part::concatenated(turned, row_numbers::kept);
  CHECK(refusal([&] { (void)part(joined.rows(), joined.content(), other.column<row_column<page_place>>()); }).code() ==
        errc::row_identity);
}

TEST_CASE("parents of events dropped", "[failure_lab]") {
  using trace = annotated_rows<double, row_column<event>>;
  const auto names = names_at({0, 1, 2, 3});
  const std::vector<event> events{{.order = 0}, {.order = 1, .parent = 0}, {.order = 2}, {.order = 3, .parent = 1}};
  const auto content = content_of(117);
  const trace all(names, content.view(), row_column<event>(names, events));
  const std::vector<std::uint8_t> without_call{1, 0, 1, 1};
  CHECK(refusal([&] { (void)all.filtered(without_call, orphans::refused); }).code() == errc::missing_value);
  const auto detached = all.filtered(without_call, orphans::detached);
  CHECK(detached.column<row_column<event>>().at(0, 2).parent == std::nullopt);
  // Turned around, each event still names its parent.
  const std::vector<index_t> backwards{3, 2, 1, 0};
  CHECK(all.permuted(backwards).column<row_column<event>>().at(0, 0).parent == 1);
}

TEST_CASE("seconds taken for milliseconds", "[failure_lab]") {
  using coordinate::time_unit;
  const auto names = names_at({0, 1, 2});
  const std::vector<std::optional<index_t>> stamps{5, 17, 92};
  const auto omega = random_values<double>(6, 118);
  const auto phi = random_values<double>(6, 119);
  const auto trained_on = [&](time_unit unit) {
    return encode::time2vec<double>(
        {.time = coordinate::elapsed_time(
             {.clock = coordinate::clock_name("recording"), .stamp_unit = unit, .origin = 0, .unit = unit}),
         .function = encode::periodic::sine,
         .linear = encode::linear_term::first,
         .missing = encode::missing_time::refused},
        {.omega = table<double>(omega, 1, 6), .phi = table<double>(phi, 1, 6)});
  };
  const coordinate::time_column in_seconds{{names, stamps}, time_unit::seconds, coordinate::clock_name("recording")};
  const auto call = call_at({0, 1, 2});
  const auto right = encoded(trained_on(time_unit::seconds).at(in_seconds), call);
  CHECK(refusal([&] { (void)trained_on(time_unit::milliseconds).at(in_seconds); }).code() == errc::unit_mismatch);
  // What it would have changed: every phase, a thousandfold.
  const auto milliseconds = coordinate::in_unit(in_seconds, time_unit::milliseconds);
  const auto wrong = encoded(trained_on(time_unit::milliseconds).at(milliseconds), call);
  for (index_t row = 0; row < 3; ++row) {
    const double tau_term = right(0, row, 0) - phi[0];
    CHECK_THAT(wrong(0, row, 0) - phi[0], WithinAbs(1000.0 * tau_term, 1e-9 * std::abs(1000.0 * tau_term)));
  }
}

TEST_CASE("a graph permuted on one side only", "[failure_lab]") {
  // A path 0 - 1 - 2 - 3. Hops between every two nodes belong to both of their rows.
  const std::vector<coordinate::graph_edge> edges{{0, 1}, {1, 2}, {2, 3}};
  const coordinate::shortest_paths paths(coordinate::graph::undirected(rows, edges));
  std::vector<index_t> hops;
  for (index_t from = 0; from < rows; ++from) {
    for (index_t to = 0; to < rows; ++to) hops.push_back(paths.distance(from, to).value());
  }
  using with_hops = annotated_rows<double, row_pairs<index_t>>;
  const auto names = names_at({0, 1, 2, 3});
  const auto content = content_of(120);
  const with_hops graph(names, content.view(), row_pairs<index_t>(names, hops));
  const std::vector<index_t> order{2, 0, 3, 1};
  const auto moved = graph.permuted(order);
  const auto& pairs = moved.column<row_pairs<index_t>>();
  for (index_t i = 0; i < rows; ++i) {
    for (index_t j = 0; j < rows; ++j) {
      CHECK(pairs.at(0, i, j) == hops[static_cast<std::size_t>(order[static_cast<std::size_t>(i)] * rows +
                                                               order[static_cast<std::size_t>(j)])]);
    }
  }
  // The moved nodes beside the old pairs: another graph, of the same shape.
  CHECK(pairs.values() != hops);
  CHECK(refusal([&] { (void)with_hops(moved.rows(), moved.content(), graph.column<row_pairs<index_t>>()); }).code() ==
        errc::row_identity);
}

}  // namespace rows_and_structures_lab
