// SPDX-License-Identifier: MIT
#include <posgeo/encode/learned_absolute.hpp>
#include <posgeo/encode/sinusoidal.hpp>

#include "support/calls.hpp"
#include "support/catch.hpp"
#include "support/compare.hpp"
#include "support/random.hpp"
#include "support/refusal.hpp"

namespace {

using namespace posgeo;
using namespace posgeo::test;

const encode::sinusoidal width_four({.width = 4,
                                     .layout = encode::sinusoid_layout::concatenated,
                                     .exponent = encode::sinusoid_exponent::paper});

TEST_CASE("positions are added once to strided states and nowhere else", "[state_encoder]") {
  const std::vector<index_t> positions{2, 9, 4};
  auto memory = random_tensor<double, 3>({1, 3, 7}, 81);
  auto expected = memory;
  encode::add_positions(width_four, call_at(positions),
                        states_view<double>(memory.values().data(), {1, 3, 4}, {21, 7}));
  for (index_t row = 0; row < 3; ++row) {
    const auto where = static_cast<double>(positions[static_cast<std::size_t>(row)]);
    width_four.for_each_column(where, [&](index_t column, double value) { expected(0, row, column) += value; });
  }
  CHECK(largest_difference(memory.values(), expected.values()) == 0.0);
}

TEST_CASE("nothing is added when the states or the positions do not fit", "[state_encoder]") {
  const auto call = call_at({0, 1, 2});
  const auto refused = [](const auto& encoder, const position_call& at, const std::array<index_t, 3>& extents) {
    auto states = random_tensor<double, 3>(extents, 82);
    const auto before = states;
    const errc code = refusal([&] { encode::add_positions(encoder, at, states.view()); }).code();
    CHECK(largest_difference(states.values(), before.values()) == 0.0);
    return code;
  };
  CHECK(refused(width_four, call, {2, 3, 4}) == errc::shape_mismatch);
  CHECK(refused(width_four, call, {1, 4, 4}) == errc::shape_mismatch);
  CHECK(refused(width_four, call, {1, 3, 5}) == errc::shape_mismatch);
  CHECK(refused(width_four, call_at({0, 1, (index_t{1} << 53) + 1}), {1, 3, 4}) == errc::position_precision);
  const encode::learned_absolute learned(table<double>(random_values<double>(8, 83), 2, 4), {.row_offset = 0});
  CHECK(refused(learned, call, {1, 3, 4}) == errc::position_out_of_table);
}

}  // namespace
