// SPDX-License-Identifier: MIT
#include <posgeo/call/explicit_positions.hpp>
#include <posgeo/call/padded_batch.hpp>
#include <posgeo/call/within_length.hpp>

#include "support/catch.hpp"
#include "support/refusal.hpp"

namespace within_length_test {

using namespace posgeo;
using namespace posgeo::test;

std::vector<errc> refused(const position_call& call, index_t offset, index_t length) {
  violations found;
  expect_within_length(call.key_space(), offset, length, "toy", found);
  return codes(found);
}

TEST_CASE("the highest active position is that of a token, wherever it is stored", "[within_length]") {
  const std::vector<index_t> positions{4, 90, -7, 12, -3, -5, -2, -9};
  const std::vector<std::uint8_t> active{1, 0, 1, 1, 0, 1, 0, 1};
  const call::explicit_side side{.positions = positions, .active = active, .rows = 4};
  const auto call = call::explicit_positions({.entries = 2, .query = side, .key = side});
  CHECK(highest_active_position(call.key_space(), 0) == 12);
  CHECK(highest_active_position(call.key_space(), 1) == -5);

  const std::vector<index_t> lengths{3, 0, 5};
  const auto padded = call::padded_batch({.lengths = lengths,
                                          .rows = 5,
                                          .side = call::padding_side::right,
                                          .positions = call::padded_positions::contiguous(11)});
  CHECK(highest_active_position(padded.key_space(), 0) == 13);
  CHECK(highest_active_position(padded.key_space(), 1) == std::nullopt);
  CHECK(highest_active_position(padded.key_space(), 2) == 15);
}

TEST_CASE("each entry beyond the length is refused", "[within_length]") {
  const std::vector<index_t> positions{4, 9, 30, 2, 31, 8};
  const call::explicit_side side{.positions = positions, .rows = 2};
  const auto call = call::explicit_positions({.entries = 3, .query = side, .key = side});
  CHECK(refused(call, 0, 32).empty());
  CHECK(refused(call, 0, 31) == std::vector<errc>{errc::sequence_length});
  CHECK(refused(call, 1, 31) == std::vector<errc>{errc::sequence_length, errc::sequence_length});
  CHECK(refused(call, -1, 31).empty());
}

}  // namespace within_length_test
