// SPDX-License-Identifier: MIT
#include <posgeo/call/packed_batch.hpp>

#include "support/call_rows.hpp"
#include "support/catch.hpp"
#include "support/refusal.hpp"

namespace {

using namespace posgeo;
using call::packed_positions;
using posgeo::test::active;
using posgeo::test::numbers;
using posgeo::test::positions;
using posgeo::test::refusal;
using posgeo::test::sequences;

TEST_CASE("packed sequences restart and keep their numbers around an empty one", "[packed_batch]") {
  const numbers lengths{3, 0, 2, 1};
  const position_call call = call::packed_batch({.lengths = lengths, .positions = call::packed_positions::restart});
  CHECK(call.kind() == call_kind::packed_batch);
  CHECK(call.batch() == 1);
  CHECK(positions<query_index>(call, 0) == numbers{0, 1, 2, 0, 1, 0});
  CHECK(positions<key_index>(call, 0) == positions<query_index>(call, 0));
  CHECK(sequences<query_index>(call, 0) == numbers{0, 0, 0, 2, 2, 3});
  CHECK(sequences<key_index>(call, 0) == sequences<query_index>(call, 0));
  CHECK(active<key_index>(call, 0) == numbers(6, 1));
  CHECK(call.mixes_sequences());
  CHECK_FALSE(call.key_space().has_padding());
}

TEST_CASE("packed positions can run on through the row", "[packed_batch]") {
  const numbers lengths{2, 0, 3};
  const position_call call = call::packed_batch({.lengths = lengths, .positions = packed_positions::continuing});
  CHECK(positions<key_index>(call, 0) == numbers{0, 1, 2, 3, 4});
  CHECK(sequences<key_index>(call, 0) == numbers{0, 0, 2, 2, 2});
}

TEST_CASE("one packed sequence needs no isolation and no token at all is legal", "[packed_batch]") {
  const numbers one{4};
  CHECK_FALSE(call::packed_batch({.lengths = one, .positions = call::packed_positions::restart}).mixes_sequences());
  const numbers empty{0, 0};
  CHECK(call::packed_batch({.lengths = empty, .positions = call::packed_positions::restart}).queries() == 0);
}

TEST_CASE("a packed batch refuses no sequences and negative lengths", "[packed_batch]") {
  const numbers none;
  const numbers negative{3, -1};
  CHECK(refusal([&] {
          return call::packed_batch({.lengths = none, .positions = call::packed_positions::restart});
        }).code() == errc::empty_batch);
  CHECK(refusal([&] {
          return call::packed_batch({.lengths = negative, .positions = call::packed_positions::restart});
        }).code() == errc::row_count);
}

TEST_CASE("a packed batch of absurd lengths is refused before it is spelled out", "[packed_batch]") {
  const std::vector<index_t> huge{index_t{1} << 40, std::numeric_limits<index_t>::max()};
  CHECK(refusal([&] { return call::packed_batch({.lengths = huge, .positions = packed_positions::restart}); }).code() ==
        errc::row_count);
}

}  // namespace
