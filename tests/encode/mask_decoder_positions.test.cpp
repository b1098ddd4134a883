// SPDX-License-Identifier: MIT
#include <posgeo/call/prefill_chunk.hpp>
#include <posgeo/encode/learned_absolute.hpp>
#include <posgeo/encode/mask_decoder_positions.hpp>
#include <posgeo/encode/sinusoidal.hpp>

#include "support/calls.hpp"
#include "support/catch.hpp"
#include "support/compare.hpp"
#include "support/random.hpp"
#include "support/refusal.hpp"

namespace mask_decoder_positions_test {

using namespace posgeo;
using namespace posgeo::test;
using encode::learned_absolute;
using encode::mask_decoder_positions;

static_assert(state_encoder<learned_absolute<double>>);
static_assert(!state_encoder<mask_decoder_positions<learned_absolute<double>>>);

learned_absolute<double> rows_of(index_t rows, index_t width) {
  return learned_absolute<double>(random_table(rows, width, 671), {.row_offset = 1});
}

TEST_CASE("the mask decoder's query states are the hidden states plus the position rows", "[mask_decoder]") {
  const auto call = call_at({3, 6, 0});
  const auto hidden = random_tensor<double, 3>({1, 3, 4}, 672);
  const tensor<double, 3> before = hidden;
  const mask_decoder_positions decoder{rows_of(8, 4)};
  const auto states = decoder.query_states<double>(call, hidden.view());
  auto written = hidden;  // a view that may be written will do
  const auto same = decoder.query_states(call, written.view());
  CHECK(std::equal(states.values().begin(), states.values().end(), same.values().begin()));
  const std::vector<double> table = random_values<double>(8 * 4, 671);
  for (index_t row = 0; row < 3; ++row) {
    const index_t table_row = call.at(batch_index{0}, query_index{row}).value() + 1;
    for (index_t d = 0; d < 4; ++d) {
      CHECK(states(0, row, d) == hidden(0, row, d) + table[static_cast<std::size_t>(table_row * 4 + d)]);
    }
  }
  // What keys and values are projected from stays as it was.
  CHECK(largest_difference(hidden.values(), before.values()) == 0.0);
}

TEST_CASE("the mask decoder reads states with strides and takes any encoder", "[mask_decoder]") {
  const auto memory = random_tensor<double, 3>({2, 3, 8}, 673);
  const states_view<const double> every_other(memory.values().data(), {3, 2, 4}, {8, 24});  // batch and rows swapped
  const encode::sinusoidal encoder(
      {.width = 4, .layout = encode::sinusoid_layout::interleaved, .exponent = encode::sinusoid_exponent::paper});
  const std::vector<call::prefill_entry> entries(3, {.committed_length = 5, .first_position = 5, .length = 2});
  const auto call = call::prefill_chunk({.entries = entries, .query_rows = 2, .key_rows = 2});
  const auto states = mask_decoder_positions{encoder}.query_states<double>(call, every_other);
  tensor<double, 3> expected({3, 2, 4});
  encode::add_positions(encoder, call, expected.view());
  for (index_t b = 0; b < 3; ++b) {
    for (index_t row = 0; row < 2; ++row) {
      for (index_t d = 0; d < 4; ++d) CHECK(states(b, row, d) == memory(row, b, d) + expected(b, row, d));
    }
  }
}

TEST_CASE("the mask decoder refuses what its encoder refuses", "[mask_decoder]") {
  const mask_decoder_positions decoder{rows_of(8, 4)};
  const auto refused = [&](const position_call& call, const std::array<index_t, 3>& extents) {
    const tensor<double, 3> hidden(extents);
    return refusal([&] { return decoder.query_states<double>(call, hidden.view()); }).code();
  };
  CHECK(refused(call_at({0, 1}), {1, 3, 4}) == errc::shape_mismatch);
  CHECK(refused(call_at({0, 1}), {1, 2, 5}) == errc::shape_mismatch);
  CHECK(refused(call_at({0, 7}), {1, 2, 4}) == errc::position_out_of_table);
}

}  // namespace mask_decoder_positions_test
