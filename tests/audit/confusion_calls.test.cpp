// SPDX-License-Identifier: MIT
#include <posgeo/audit/confusion_calls.hpp>

#include <vector>

#include "support/calls.hpp"
#include "support/catch.hpp"
#include "support/refusal.hpp"
#include "support/uneven_call.hpp"

namespace posgeo::confusion_calls_test {

using audit::misread;
using audit::misread_call;

std::vector<index_t> positions(const row_space& space, index_t b) {
  std::vector<index_t> out;
  for (index_t row = 0; row < space.rows(); ++row) out.push_back(space.at(b, row).value());
  return out;
}

TEST_CASE("a mirrored call has every offset with the other sign") {
  const position_call call = test::uneven_call(3);
  const position_call mirrored = misread_call(call, misread::mirrored);
  for (const batch_index b : indices<batch_index>(call.batch())) {
    for (const query_index i : indices<query_index>(call.queries())) {
      for (const key_index j : indices<key_index>(call.keys())) {
        CHECK(mirrored.offset(b, i, j).value() == -call.offset(b, i, j).value());
        CHECK(mirrored.active(b, j) == call.active(b, j));
        CHECK(mirrored.sequence(b, j) == call.sequence(b, j));
      }
    }
  }
}

TEST_CASE("queries and memory move as the misreading says") {
  const position_call call = test::call_at({9, 10}, {3, 8, 9, 10});
  using list = std::vector<index_t>;
  const auto moved = [&](misread how) {
    const position_call other = misread_call(call, how);
    return std::pair{positions(other.query_space(), 0), positions(other.key_space(), 0)};
  };
  CHECK(moved(misread::mirrored) == std::pair{list{4, 3}, list{10, 5, 4, 3}});  // within the same bounds
  CHECK(moved(misread::query_at_zero) == std::pair{list{0, 1}, list{3, 8, 9, 10}});
  CHECK(moved(misread::query_at_memory) == std::pair{list{2, 3}, list{3, 8, 9, 10}});
  CHECK(moved(misread::query_behind) == std::pair{list{8, 9}, list{3, 8, 9, 10}});
  CHECK(moved(misread::query_ahead) == std::pair{list{10, 11}, list{3, 8, 9, 10}});
  CHECK(moved(misread::memory_behind) == std::pair{list{9, 10}, list{2, 7, 9, 10}});
  CHECK(moved(misread::memory_ahead) == std::pair{list{9, 10}, list{4, 9, 9, 10}});
  CHECK(moved(misread::rows_from_top) == std::pair{list{0, 1}, list{0, 1, 2, 3}});
  CHECK(moved(misread::rows_from_bottom) == std::pair{list{2, 3}, list{0, 1, 2, 3}});
  CHECK(moved(misread::all_active) == std::pair{list{9, 10}, list{3, 8, 9, 10}});
}

TEST_CASE("padding and sequences are forgotten as the misreading says") {
  const position_call call = test::uneven_call();
  REQUIRE(call.key_space().has_padding());
  CHECK_FALSE(misread_call(call, misread::all_active).key_space().has_padding());
  CHECK(misread_call(call, misread::one_sequence).key_space().has_padding());
  const std::vector<index_t> places{0, 1, 2, 3};
  const std::vector<index_t> of{5, 5, 7, 7};
  const position_call packed = call::explicit_positions({.query = {.positions = places, .sequences = of, .rows = 4},
                                                         .key = {.positions = places, .sequences = of, .rows = 4}});
  REQUIRE(packed.mixes_sequences());
  CHECK_FALSE(misread_call(packed, misread::one_sequence).mixes_sequences());
}

TEST_CASE("positions that would leave their range are refused") {
  const position_call call = test::call_at({-position_limit}, {-position_limit});
  CHECK(test::refusal([&] { (void)misread_call(call, misread::query_behind); }).code() == errc::position_overflow);
}

}  // namespace posgeo::confusion_calls_test
