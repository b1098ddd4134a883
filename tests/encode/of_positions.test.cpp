// SPDX-License-Identifier: MIT
#include <posgeo/call/padded_batch.hpp>
#include <posgeo/encode/binary_index.hpp>

#include <string>

#include "support/catch.hpp"
#include "support/encoded.hpp"
#include "support/refusal.hpp"

namespace of_positions_test {

using namespace posgeo;
using namespace posgeo::test;

const encode::binary_index three_bits({.bits = 3, .order = encode::bit_order::most_significant_first});

TEST_CASE("padding has no position of its own and receives nothing", "[of_positions]") {
  const std::vector<index_t> lengths{1, 3};
  const auto call = call::padded_batch({.lengths = lengths,
                                        .rows = 3,
                                        .side = call::padding_side::right,
                                        .positions = call::padded_positions::fixed(5, -9)});
  const auto states = encoded(three_bits, call);
  for (index_t c = 0; c < 3; ++c) {
    CHECK(states(0, 0, c) == states(1, 0, c));
    CHECK(states(0, 2, c) == 0.0);
    CHECK(states(1, 2, c) == 1.0);  // position 7
  }
}

TEST_CASE("a position without a code is refused with its place", "[of_positions]") {
  const error refused = refusal([] { return three_bits.compile<float>(call_at({2, 8})); });
  CHECK(refused.code() == errc::position_out_of_table);
  const std::string message = refused.what();
  for (const char* part : {"binary_index", "row 1 in entry 0", "0..7", "got 8"}) {
    CHECK(message.find(part) != std::string::npos);
  }
}

}  // namespace of_positions_test
