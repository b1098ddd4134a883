// SPDX-License-Identifier: MIT
#include <posgeo/content/bert_relative.hpp>
#include <posgeo/content/deberta.hpp>
#include <posgeo/content/shaw_key.hpp>
#include <posgeo/content/transformer_xl.hpp>
#include <posgeo/content/tupe.hpp>
#include <posgeo/frequency/dynamic_ntk.hpp>
#include <posgeo/frequency/geometric.hpp>
#include <posgeo/transform/multi_axis_rotary.hpp>
#include <posgeo/transform/rotary.hpp>
#include <posgeo/value/shaw_value.hpp>

#include "support/random_calls.hpp"
#include "support/verdicts.hpp"

// Each content term, value term and transform under every intervention, against what it declares.
namespace expected_content_test {

using namespace posgeo;
using namespace posgeo::test;

constexpr heads grouped{.query = 4, .key_value = 2, .dim = 4};

head_tables<double> rows(index_t count, unsigned seed) {
  return head_tables<double>::stacked(random_table(4 * count, 4, seed), 4);
}
coordinate::clipped classes(coordinate::beyond_ends beyond, index_t behind, index_t ahead) {
  return coordinate::clipped(
      {.behind = behind, .ahead = ahead, .sign = offset_sign::key_minus_query, .beyond = beyond});
}

TEST_CASE("relation vectors keep to their declared verdicts and their range", "[expected]") {
  using enum coordinate::beyond_ends;
  expect_declared_verdicts_of(content::shaw_key(rows(6, 61), classes(clipped, 3, 2)), grouped);
  expect_declared_verdicts_of(content::shaw_key(rows(12, 62), classes(refused, 11, 0)), grouped);
  expect_declared_verdicts_of(value::shaw_value(rows(6, 63), classes(clipped, 3, 2)), grouped);
  expect_declared_verdicts_of(value::shaw_value(rows(27, 64), classes(refused, 9, 17)), grouped);
  expect_declared_verdicts_of(content::relative_key_query(random_table(25, 4, 65), 13), grouped);
}

TEST_CASE("disentangled terms keep to their declared verdicts", "[expected]") {
  expect_declared_verdicts_of(
      content::deberta<double>(content::deberta_terms::both(content::p2c_index::released_code),
                               coordinate::deberta_span::exact(6),
                               {.position_keys = rows(12, 66), .position_queries = rows(12, 67)}),
      grouped);
}

TEST_CASE("distances of a memory keep to their declared verdicts and their range", "[expected]") {
  const content::global_biases<double> biases{.content = random_table(4, 4, 68), .position = random_table(4, 4, 69)};
  const auto held = [&](index_t lowest, index_t count) {
    return content::transformer_xl<double, content::distance_rows<double>>(
        biases, {rows(count, 70), {.lowest = lowest, .order = content::distance_order::descending}});
  };
  expect_declared_verdicts_of(held(-9, 20), grouped);
  expect_declared_verdicts_of(held(0, 13), grouped);
  expect_declared_verdicts_of(content::transformer_xl<double>(biases, {random_table(16, 6, 71),
                                                                       {.reach = content::distance_reach::both_ways,
                                                                        .clamp = content::clamp_len::unlimited()}}),
                              grouped);
}

TEST_CASE("untied positions keep to their declared verdicts and their range", "[expected]") {
  const auto held = [](index_t count, content::tupe_cls cls) {
    return content::tupe<double>({.queries = rows(count, 72), .keys = rows(count, 73)}, cls);
  };
  expect_declared_verdicts_of(held(64, content::tupe_cls::untouched()), grouped);
  expect_declared_verdicts_of(held(20, content::tupe_cls::released(position{8})), grouped);
}

TEST_CASE("rotations keep to their declared verdicts and their range", "[expected]") {
  const transform::rotary_settings halves{.pairs = transform::pairing::halves, .offset = 2};
  expect_declared_verdicts_of(transform::rotary(frequency::geometric({.base = 100.0, .rotary_dim = 4}), halves),
                              grouped);
  expect_declared_verdicts_of(
      transform::rotary(
          frequency::dynamic_ntk(
              {.base = 100.0, .rotary_dim = 4, .factor = 2.0, .original_max_position = 8, .sequence_length = 20}),
          halves),
      grouped);
}

TEST_CASE("rotations on several axes keep to the rows that they were made for", "[expected]") {
  const auto expect = [](const position_call& call, const chosen_mask& mask) {
    unsigned seed = 74;
    const auto column = [&](const row_space& space) {
      std::vector<coordinate::axis_positions<2>> places;
      dice roll(seed++);
      for (index_t n = 0; n < space.entries() * space.rows(); ++n) {
        places.push_back({roll.between(0, 9), roll.between(0, 9)});
      }
      return row_column<coordinate::axis_positions<2>>(row_identity::of(space), std::move(places));
    };
    const transform::multi_axis_rotary<2> turn(frequency::geometric({.base = 100.0, .rotary_dim = 4}),
                                               transform::axis_sections<2>::blocks({1, 1}), transform::pairing::halves,
                                               column(call.query_space()), column(call.key_space()));
    CHECK(expect_declared_verdicts(attention{grouped, scale::inverse_sqrt_terms{}, mask, turn}, call) == 15);
  };
  expect(uneven_call(), hides_all);
  expect(dense_call(), hides_nothing);
}

}  // namespace expected_content_test
