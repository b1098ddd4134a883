// SPDX-License-Identifier: MIT
#include <posgeo/encode/binary_index.hpp>
#include <posgeo/encode/degree.hpp>
#include <posgeo/encode/grid_full.hpp>
#include <posgeo/encode/grid_separable.hpp>
#include <posgeo/encode/learned_absolute.hpp>
#include <posgeo/encode/mask_decoder_positions.hpp>
#include <posgeo/encode/normalized_index.hpp>
#include <posgeo/encode/raw_index.hpp>
#include <posgeo/encode/sinusoidal.hpp>
#include <posgeo/encode/sinusoidal_grid.hpp>
#include <posgeo/encode/time2vec.hpp>

#include <limits>

#include "support/calls.hpp"
#include "support/catch.hpp"
#include "support/described.hpp"
#include "support/random.hpp"
#include "support/refusal.hpp"

namespace encode_describe_test {

using namespace posgeo;
using namespace posgeo::encode;
using namespace posgeo::test;
using coordinate::cell;
using coordinate::class_row;
using coordinate::grid_place;

/// The fields of a column's rows that tests/call/row_description.test.cpp changes.
field_paths fixed_rows(field_paths also = {}) {
  for (const char* field : {"entries", "rows", "frame", "sequences", "active"}) {
    also.insert(std::string("column.rows.") + field);
  }
  return also;
}

template <class Encoder, class Settings>
description with(Settings settings, const auto& change) {
  change(settings);
  return Encoder(settings).describe();
}

TEST_CASE("index codes say their settings", "[describe]") {
  const binary_index_settings bits{.bits = 7, .order = bit_order::most_significant_first};
  check_described(
      binary_index(bits).describe(), binary_index(bits).describe(),
      {{{"bits"}, with<binary_index>(bits, [](auto& s) { s.bits = 8; })},
       {{"order"}, with<binary_index>(bits, [](auto& s) { s.order = bit_order::least_significant_first; })}});
  const normalized_index_settings share{.width = 7, .length = 90};
  check_described(normalized_index(share).describe(), normalized_index(share).describe(),
                  {{{"width"}, with<normalized_index>(share, [](auto& s) { s.width = 8; })},
                   {{"length"}, with<normalized_index>(share, [](auto& s) { s.length = 91; })}});
  const raw_index_settings raw{.width = 7, .alpha = 0.5};
  check_described(raw_index(raw).describe(), raw_index(raw).describe(),
                  {{{"width"}, with<raw_index>(raw, [](auto& s) { s.width = 8; })},
                   {{"alpha"}, with<raw_index>(raw, [](auto& s) { s.alpha = -0.5; })}});
}

TEST_CASE("a sinusoid says its settings", "[describe]") {
  const sinusoidal_settings s{.width = 7,
                              .layout = sinusoid_layout::interleaved,
                              .exponent = sinusoid_exponent::paper,
                              .odd = odd_width::zero_column};
  const auto changed = [&s](const auto& change) { return with<sinusoidal>(s, change); };
  check_described(sinusoidal(s).describe(), sinusoidal(s).describe(),
                  {{{"width"}, changed([](auto& c) { c.width = 8; })},
                   {{"layout"}, changed([](auto& c) { c.layout = sinusoid_layout::concatenated; })},
                   {{"exponent"}, changed([](auto& c) { c.exponent = sinusoid_exponent::half_minus_one; })},
                   {{"exponent"}, changed([](auto& c) { c.exponent = sinusoid_exponent::tensor2tensor; })},
                   {{"base"}, changed([](auto& c) { c.base = 5000.0; })},
                   {{"frequency_scale"}, changed([](auto& c) { c.frequency_scale = 2.0; })},
                   {{"offset"}, changed([](auto& c) { c.offset = 2; })},
                   {{"odd"}, changed([](auto& c) { c.odd = odd_width::unpaired_sine; })},
                   {{"padding.rule"}, changed([](auto& c) { c.padding = padded_rows::untouched(); })},
                   {{"construction"}, changed([](auto& c) { c.construction = precision::bfloat16; })},
                   {{"construction"}, changed([](auto& c) { c.construction = precision::binary16; })},
                   {{"construction"}, changed([](auto& c) { c.construction = precision::binary32; })},
                   {{"width", "odd"}, changed([](auto& c) {
                      c.width = 6;
                      c.odd = odd_width::refused;
                    })}},
                  {"padding.row"});
}

description learned(unsigned seed, index_t row_offset, padded_rows padding) {
  return learned_absolute<double>(random_table(9, 5, seed), {.row_offset = row_offset, .padding = padding}).describe();
}

TEST_CASE("a learned table says its numbers, offset and padding", "[describe]") {
  const description base = learned(1, 2, padded_rows::by_position());
  check_described(base, learned(1, 2, padded_rows::by_position()),
                  {{{"table"}, learned(2, 2, padded_rows::by_position())},
                   {{"row_offset"}, learned(1, 1, padded_rows::by_position())},
                   {{"padding.rule"}, learned(1, 2, padded_rows::untouched())},
                   {{"padding.rule", "padding.row"}, learned(1, 2, padded_rows::table_row(0))},
                   {{"padding.rule", "padding.row"}, learned(1, 2, padded_rows::table_row(1))}});
  const auto one_number = [](double last) {
    auto values = random_values<double>(6, 3);
    values.back() = last;
    return learned_absolute<double>(table<double>(values, 3, 2), {.row_offset = 0}).describe();
  };
  CHECK(differing(one_number(0.5), one_number(0.25)) == field_paths{"table"});
  const std::vector<float> narrow(6, 0.5F);
  const std::vector<double> wide(6, 0.5);
  CHECK(differing(learned_absolute<float>(table<float>(narrow, 3, 2), {.row_offset = 0}).describe(),
                  learned_absolute<double>(table<double>(wide, 3, 2), {.row_offset = 0}).describe()) ==
        field_paths{"table"});
}

TEST_CASE("mask decoder positions say their encoder", "[describe]") {
  const auto said = [](index_t width) {
    return mask_decoder_positions(raw_index({.width = width, .alpha = 0.5})).describe();
  };
  CHECK(said(3) == said(3));
  CHECK(differing(said(3), said(4)) == field_paths{"positions.width"});
  CHECK_FALSE(said(3) == raw_index({.width = 3, .alpha = 0.5}).describe());
}

coordinate::graph_rows graphs(index_t to, coordinate::graph_token token) {
  const std::vector<coordinate::graph_edge> edges{{0, to}, {1, 2}};
  return {{coordinate::graph::directed(3, edges)}, token};
}
description degrees(const degree_settings& settings, unsigned in = 1, unsigned out = 2, index_t to = 2,
                    coordinate::graph_token token = coordinate::graph_token::none()) {
  return degree<double>({.in = random_table(6, 5, in), .out = random_table(7, 5, out)}, graphs(to, token), settings)
      .describe();
}

TEST_CASE("degrees say their tables, rules and graphs", "[describe]") {
  const degree_settings s{.row_offset = 1, .count = degree_count::by_direction};
  const description base = degrees(s);
  check_described(
      base, degrees(s),
      {{{"in_table"}, degrees(s, 3)},
       {{"out_table"}, degrees(s, 1, 3)},
       {{"row_offset"}, degrees({.row_offset = 0, .count = degree_count::by_direction})},
       {{"count"}, degrees({.row_offset = 1, .count = degree_count::outgoing_for_both})},
       {{"beyond"}, degrees({.row_offset = 1, .count = degree_count::by_direction, .beyond = high_degree::last_row})},
       {{"graphs.graphs.0.to"}, degrees(s, 1, 2, 1)},
       {{"graphs.token"}, degrees(s, 1, 2, 2, coordinate::graph_token::at(-1))}},
      {"graphs.graphs.0.nodes", "graphs.graphs.0.from", "graphs.graphs.0.attributes",
       "graphs.graphs.0.attributes_of_an_edge"});  // tests/coordinate/describe.test.cpp changes them
}

/// One value for each query of a call.
template <class Value>
row_column<Value> column_of(const position_call& call, std::vector<Value> values) {
  return {row_identity::of(call.query_space()), std::move(values)};
}
const std::vector<grid_place> places{cell{1, 0}, class_row{0}, cell{0, 2}};
coordinate::grid_cells cells(std::vector<grid_place> at = places, std::vector<index_t> positions = {4, -2, 9}) {
  return column_of(call_at(positions), std::move(at));
}
/// What becomes of a description when the places of its rows change.
std::vector<changed_policy> with_places(const auto& encoder) {
  return {{{"column.row"}, encoder.at(cells({cell{0, 0}, class_row{0}, cell{0, 2}})).describe()},
          {{"column.row"}, encoder.at(cells({cell{1, 0}, class_row{1}, cell{0, 2}})).describe()},
          {{"column.column"}, encoder.at(cells({cell{1, 0}, class_row{0}, cell{0, 1}})).describe()},
          {{"column.class_row"}, encoder.at(cells({cell{1, 0}, cell{0, 0}, cell{0, 2}})).describe()},
          {{"column.rows.positions"}, encoder.at(cells(places, {4, 2, 9})).describe()}};
}

TEST_CASE("grid encoders say their numbers and the place of each row", "[describe]") {
  const auto of = [](coordinate::traversal order, index_t class_rows = 2) {
    return coordinate::grid({.rows = 2, .columns = 3, .order = order, .class_rows = class_rows});
  };
  const auto full = [&of](unsigned seed, coordinate::traversal order) {
    return grid_full<double>(random_table(8, 5, seed), of(order));
  };
  using coordinate::traversal;
  const auto base = full(1, traversal::row_major);
  auto changes = with_places(base);
  changes.push_back({{"table"}, full(2, traversal::row_major).at(cells()).describe()});
  changes.push_back({{"grid.order"}, full(1, traversal::serpentine).at(cells()).describe()});
  check_described(base.at(cells()).describe(), base.at(cells()).describe(), changes,
                  fixed_rows({"grid.rows", "grid.columns", "grid.class_rows"}));

  const auto separable = [](unsigned down, unsigned across) {
    return grid_separable<double>(random_table(2, 5, down), random_table(3, 5, across));
  };
  changes = with_places(separable(1, 2));
  changes.push_back({{"row_table"}, separable(3, 2).at(cells()).describe()});
  changes.push_back({{"column_table"}, separable(1, 3).at(cells()).describe()});
  check_described(separable(1, 2).at(cells()).describe(), separable(1, 2).at(cells()).describe(), changes,
                  fixed_rows());

  const sinusoidal_grid_settings s{.width = 8, .layout = grid_sinusoid::mae};
  const sinusoidal_grid waves(s);
  changes = with_places(waves);
  const auto changed = [&](field_paths fields, const auto& change) {
    sinusoidal_grid_settings other = s;
    change(other);
    changes.push_back({std::move(fields), sinusoidal_grid(other).at(cells()).describe()});
  };
  changed({"width"}, [](auto& c) { c.width = 12; });
  changed({"layout"}, [](auto& c) { c.layout = grid_sinusoid::detr; });
  changed({"layout"}, [](auto& c) { c.layout = grid_sinusoid::tensor2tensor; });
  changed({"base"}, [](auto& c) { c.base = 100.0; });
  check_described(waves.at(cells()).describe(), waves.at(cells()).describe(), changes, fixed_rows());
}

TEST_CASE("points of a picture are in the description", "[describe]") {
  const sinusoidal_grid waves({.width = 8, .layout = grid_sinusoid::mae});
  const auto said = [&waves](double row, double column, index_t position = 3) {
    return waves.at(column_of<grid_point>(call_at({1, position}), {{0.5, -0.25}, {row, column}})).describe();
  };
  check_described(said(1.5, 2.5), said(1.5, 2.5),
                  {{{"column.row"}, said(1.25, 2.5)},
                   {{"column.column"}, said(1.5, 2.0)},
                   {{"column.rows.positions"}, said(1.5, 2.5, 4)}},
                  fixed_rows({"width", "layout", "base"}));
  const error refused = refusal([&] { (void)said(1.5, std::numeric_limits<double>::quiet_NaN()); });
  CHECK(refused.code() == errc::description);
  CHECK(std::string(refused.what()) ==
        "sinusoidal_grid, point of row 1 in entry 0: expected numbers, which equal themselves, got NaN");
}

struct time_case {
  coordinate::elapsed_time_settings time{.clock = coordinate::clock_name("unix utc"),
                                         .stamp_unit = coordinate::time_unit::seconds,
                                         .origin = 1790000000,
                                         .unit = coordinate::time_unit::hours};
  periodic function = periodic::sine;
  linear_term linear = linear_term::first;
  missing_time missing = missing_time::learned_row;
  unsigned omega = 1;
  unsigned phi = 2;
  std::optional<unsigned> missing_row = 3;
  std::vector<std::optional<index_t>> stamps = {1790000400, std::nullopt, 1789990000};
  position_call call = call_at({5, 2, 8});

  [[nodiscard]] description made() const {
    time2vec_parameters<double> parameters{.omega = random_table(1, 4, omega), .phi = random_table(1, 4, phi)};
    if (missing_row) parameters.missing_row = random_table(1, 4, *missing_row);
    const time2vec<double> encoder(
        {.time = coordinate::elapsed_time(time), .function = function, .linear = linear, .missing = missing},
        parameters);
    return encoder.at({column_of(call, stamps), time.stamp_unit, time.clock}).describe();
  }
};
description time_with(const auto& change) {
  time_case made;
  change(made);
  return made.made();
}

TEST_CASE("time2vec says its clock, rules, rows and times", "[describe]") {
  check_described(
      time_case{}.made(), time_case{}.made(),
      {{{"time.clock"}, time_with([](auto& c) { c.time.clock = coordinate::clock_name("gps"); })},
       {{"time.stamp_unit"}, time_with([](auto& c) { c.time.stamp_unit = coordinate::time_unit::minutes; })},
       {{"time.origin"}, time_with([](auto& c) { c.time.origin = 1790000001; })},
       {{"time.unit"}, time_with([](auto& c) { c.time.unit = coordinate::time_unit::days; })},
       {{"function"}, time_with([](auto& c) { c.function = periodic::cosine; })},
       {{"linear"}, time_with([](auto& c) { c.linear = linear_term::last; })},
       {{"missing", "missing_table"}, time_with([](auto& c) {
          c.missing = missing_time::zero_row;
          c.missing_row = std::nullopt;
        })},
       {{"missing", "missing_table"}, time_with([](auto& c) {
          c.missing = missing_time::refused;
          c.missing_row = std::nullopt;
        })},
       {{"omega_table"}, time_with([](auto& c) { c.omega = 4; })},
       {{"phi_table"}, time_with([](auto& c) { c.phi = 4; })},
       {{"missing_table"}, time_with([](auto& c) { c.missing_row = 4; })},
       {{"column.stamps"}, time_with([](auto& c) { c.stamps[2] = 1789990001; })},
       {{"column.recorded"}, time_with([](auto& c) { c.stamps[1] = 0; })},
       {{"column.rows.positions"}, time_with([](auto& c) {
          c.call = call_at({5, 3, 8});
        })}},
      fixed_rows());
}

}  // namespace encode_describe_test
