// SPDX-License-Identifier: MIT
#include <posgeo/call/decode_step.hpp>
#include <posgeo/call/explicit_positions.hpp>
#include <posgeo/coordinate/pairwise_offsets.hpp>

#include "support/calls.hpp"
#include "support/catch.hpp"
#include "support/random_calls.hpp"
#include "support/refusal.hpp"

namespace {

using namespace posgeo;
using coordinate::pairwise_offsets;
using posgeo::test::refusal;

TEST_CASE("one decoded query looks back at every cached key", "[pairwise_offsets]") {
  const position_call call = call::decode_step(512, 512);
  const auto shaw = pairwise_offsets(call, offset_sign::key_minus_query);
  const auto deberta = pairwise_offsets(call, offset_sign::query_minus_key);
  REQUIRE(shaw.extents() == std::array<index_t, 3>{1, 1, 513});
  REQUIRE(deberta.extents() == shaw.extents());
  for (index_t j = 0; j <= 512; ++j) {
    REQUIRE(shaw(0, 0, j) == j - 512);
    REQUIRE(deberta(0, 0, j) == 512 - j);
  }
}

TEST_CASE("offsets under the two signs are opposite for every kind of call", "[pairwise_offsets]") {
  for (const position_call& call : posgeo::test::random_calls(31)) {
    const auto shaw = pairwise_offsets(call, offset_sign::key_minus_query);
    const auto deberta = pairwise_offsets(call, offset_sign::query_minus_key);
    REQUIRE(shaw.extents() == std::array<index_t, 3>{call.batch(), call.queries(), call.keys()});
    for (const batch_index b : indices<batch_index>(call.batch())) {
      for (const query_index i : indices<query_index>(call.queries())) {
        for (const key_index j : indices<key_index>(call.keys())) {
          const index_t expected = call.at(b, j).value() - call.at(b, i).value();
          REQUIRE(shaw(b.value(), i.value(), j.value()) == expected);
          REQUIRE(deberta(b.value(), i.value(), j.value()) == -expected);
        }
      }
    }
  }
}

TEST_CASE("offsets follow positions and not storage order", "[pairwise_offsets]") {
  const auto offsets = pairwise_offsets(posgeo::test::call_at({5, 2}, {4, 5, 2, 3}), offset_sign::key_minus_query);
  const index_t expected[2][4] = {{-1, 0, -3, -2}, {2, 3, 0, 1}};
  for (index_t i = 0; i < 2; ++i) {
    for (index_t j = 0; j < 4; ++j) CHECK(offsets(0, i, j) == expected[i][j]);
  }
}

TEST_CASE("positions of two frames are never subtracted", "[pairwise_offsets]") {
  posgeo::test::dice roll(3);
  const position_call call = posgeo::test::random_cross(roll);
  for (const offset_sign sign : {offset_sign::key_minus_query, offset_sign::query_minus_key}) {
    CHECK(refusal([&] { return pairwise_offsets(call, sign); }).code() == errc::frame_mismatch);
  }
}

}  // namespace
