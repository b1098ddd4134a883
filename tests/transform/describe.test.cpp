// SPDX-License-Identifier: MIT
#include <posgeo/frequency/geometric.hpp>
#include <posgeo/frequency/linear_interpolated.hpp>
#include <posgeo/transform/multi_axis_rotary.hpp>
#include <posgeo/transform/rotary.hpp>

#include "support/calls.hpp"
#include "support/catch.hpp"
#include "support/described.hpp"

namespace transform_describe_test {

using namespace posgeo;
using namespace posgeo::test;
using coordinate::thw;
using transform::axis_sections;
using transform::multi_axis_rotary;
using transform::pairing;
using transform::rotary;

frequency::geometric ladder(double base, index_t rotary_dim = 8) {
  return frequency::geometric({.base = base, .rotary_dim = rotary_dim});
}

description rotary_with(double base, pairing pairs, index_t offset) {
  return rotary(ladder(base), {.pairs = pairs, .offset = offset}).describe();
}

TEST_CASE("a rotary says its frequencies, pairs and offset", "[describe]") {
  const description base = rotary_with(100.0, pairing::halves, 3);
  check_described(
      base, rotary_with(100.0, pairing::halves, 3),
      {{{"frequencies.base"}, rotary_with(200.0, pairing::halves, 3)},
       {{"frequencies.rotary_dim"}, rotary(ladder(100.0, 6), {.pairs = pairing::halves, .offset = 3}).describe()},
       {{"frequencies"},
        rotary(frequency::linear_interpolated({.base = 100.0, .rotary_dim = 8, .factor = 1.0}),
               {.pairs = pairing::halves, .offset = 3})
            .describe()},
       {{"pairs"}, rotary_with(100.0, pairing::adjacent, 3)},
       {{"offset"}, rotary_with(100.0, pairing::halves, -3)}});
  REQUIRE(base.find("frequencies") != nullptr);
  CHECK(std::get<description>(*base.find("frequencies")) == ladder(100.0).describe());
}

/// Speeds without a description.
struct listed {
  double last;
  [[nodiscard]] index_t pairs() const { return 2; }
  [[nodiscard]] double at(index_t pair) const { return pair == 0 ? 1.0 : last; }
};

TEST_CASE("a rotary of a rule without a description says its speeds", "[describe]") {
  const auto said = [](double last) { return rotary(listed{last}, {.pairs = pairing::halves}).describe(); };
  CHECK(said(0.5) == said(0.5));
  CHECK(differing(said(0.5), said(0.25)) == field_paths{"frequencies.speeds"});
}

TEST_CASE("axis sections say their rule and their pairs", "[describe]") {
  check_described(axis_sections<3>::blocks({2, 1, 1}).describe(), axis_sections<3>::blocks({2, 1, 1}).describe(),
                  {{{"pairs"}, axis_sections<3>::blocks({1, 2, 1}).describe()},
                   {{"rule"}, axis_sections<3>::interleaved({2, 1, 1}).describe()},
                   {{"rule", "pairs"}, axis_sections<3>::repeated().describe()},
                   {{"rule", "pairs"}, axis_sections<3>::own_parts().describe()},
                   {{"axes", "pairs"}, axis_sections<2>::blocks({2, 1}).describe()}});
}

struct axes_case {
  double base = 100.0;
  axis_sections<3> sections = axis_sections<3>::blocks({2, 1, 1});
  pairing pairs = pairing::halves;
  std::vector<thw> queries = {{4, 5, 6}, {-7, 1, 2}};
  std::vector<thw> keys = {{3, 8, 9}, {1, 0, 4}, {2, 2, 7}};
  position_call call = call_at({5, 9}, {1, 2, 3});

  [[nodiscard]] description made() const {
    return multi_axis_rotary<3>(ladder(base), sections, pairs, {row_identity::of(call.query_space()), queries},
                                {row_identity::of(call.key_space()), keys})
        .describe();
  }
};

description axes_with(const auto& change) {
  axes_case made;
  change(made);
  return made.made();
}

TEST_CASE("a rotary over several axes says its rule and where every row stands", "[describe]") {
  check_described(axes_case{}.made(), axes_case{}.made(),
                  {{{"frequencies.base"}, axes_with([](axes_case& c) { c.base = 200.0; })},
                   {{"sections.pairs"}, axes_with([](axes_case& c) {
                      c.sections = axis_sections<3>::blocks({1, 2, 1});
                    })},
                   {{"sections.rule"}, axes_with([](axes_case& c) {
                      c.sections = axis_sections<3>::interleaved({2, 1, 1});
                    })},
                   {{"pairs"}, axes_with([](axes_case& c) { c.pairs = pairing::adjacent; })},
                   {{"queries.axes.0.positions"}, axes_with([](axes_case& c) { c.queries[1][0] = 7; })},
                   {{"queries.axes.1.positions"}, axes_with([](axes_case& c) { c.queries[0][1] = 6; })},
                   {{"keys.axes.1.positions"}, axes_with([](axes_case& c) { c.keys[0][1] = 6; })},
                   {{"keys.axes.2.positions"}, axes_with([](axes_case& c) { c.keys[2][2] = 6; })},
                   {{"queries.rows.positions"}, axes_with([](axes_case& c) {
                      c.call = call_at({5, 8}, {1, 2, 3});
                    })},
                   {{"keys.rows.positions"}, axes_with([](axes_case& c) {
                      c.call = call_at({5, 9}, {1, 2, 4});
                    })}},
                  {"frequencies.rotary_dim", "sections.axes", "queries.axes.2.positions", "keys.axes.0.positions",
                   "queries.rows.entries", "queries.rows.rows", "queries.rows.frame", "queries.rows.sequences",
                   "queries.rows.active", "keys.rows.entries", "keys.rows.rows", "keys.rows.frame",
                   "keys.rows.sequences", "keys.rows.active"});  // rows: tests/call/row_description.test.cpp
}

}  // namespace transform_describe_test
