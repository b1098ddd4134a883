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
  const position_call call = call::packed_batch({.lengths = lengths});
  CHECK(call.kind() == call_kind::packed_batch);
  CHECK(call.batch() == 1);
  CHECK(positions<query_index>(call, 0) == numbers{0, 1, 2, 0, 1, 0});
  CHECK(positions<key_index>(call, 0) == positions<query_index>(call, 0));
  CHECK(sequences<query_index>(call, 0) == numbers{0, 0, 0, 2, 2, 3});
  CHECK(sequences<key_index>(call, 0) == sequences<query_index>(call, 0));
  CHECK(active<key_index>(call, 0) == numbers(6, 1));
  CHECK(call.key_space().packed());
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
  CHECK_FALSE(call::packed_batch({.lengths = one}).key_space().packed());
  const numbers empty{0, 0};
  CHECK(call::packed_batch({.lengths = empty}).queries() == 0);
}

TEST_CASE("a packed batch refuses no sequences and negative lengths", "[packed_batch]") {
  const numbers none;
  const numbers negative{3, -1};
  CHECK(refusal([&] { return call::packed_batch({.lengths = none}); }).code() == errc::empty_batch);
  CHECK(refusal([&] { return call::packed_batch({.lengths = negative}); }).code() == errc::row_count);
}

}  // namespace
