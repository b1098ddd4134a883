// SPDX-License-Identifier: MIT
#include <posgeo/call/chunk_positions.hpp>

#include "support/catch.hpp"
#include "support/refusal.hpp"

namespace chunk_positions_test {

using namespace posgeo;
using namespace posgeo::test;
using call::chunk_origin;

position_call cut(index_t length, index_t chunk_rows, chunk_origin origin) {
  return call::chunk_positions({.length = length, .chunk_rows = chunk_rows, .origin_of_chunks = origin});
}

TEST_CASE("chunks cover the document and end in padding", "[chunk_positions]") {
  for (const chunk_origin origin : {chunk_origin::reset, chunk_origin::global}) {
    const auto call = cut(23, 7, origin);
    REQUIRE(call.batch() == 4);
    REQUIRE(call.keys() == 7);
    index_t document_row = 0;
    for (index_t b = 0; b < 4; ++b) {
      for (index_t row = 0; row < 7; ++row) {
        CHECK(call.key_space().active(b, row) == (document_row < 23));
        if (document_row < 23) {
          CHECK(call.key_space().at(b, row).value() == (origin == chunk_origin::reset ? row : document_row));
          CHECK(call.key_space().sequence(b, row) == (origin == chunk_origin::reset ? b : 0));
        }
        CHECK(call.query_space().at(b, row) == call.key_space().at(b, row));
        ++document_row;
      }
    }
  }
  CHECK(cut(14, 7, chunk_origin::reset).batch() == 2);
  CHECK(cut(1, 7, chunk_origin::reset).batch() == 1);
}

TEST_CASE("reset chunks forget their order and global ones keep it", "[chunk_positions]") {
  const auto reset = cut(20, 5, chunk_origin::reset);
  const auto global = cut(20, 5, chunk_origin::global);
  for (index_t b = 1; b < 4; ++b) {
    for (index_t row = 0; row < 5; ++row) {
      CHECK(reset.key_space().at(b, row) == reset.key_space().at(0, row));
      CHECK(global.key_space().at(b, row) > global.key_space().at(b - 1, 4));
    }
  }
}

TEST_CASE("chunks refuse counts that are none", "[chunk_positions]") {
  const auto refused = [](index_t length, index_t chunk_rows) {
    return refusal([&] { return cut(length, chunk_rows, chunk_origin::reset); }).code();
  };
  CHECK(refused(0, 4) == errc::position_rule);
  CHECK(refused(-9, 4) == errc::position_rule);
  CHECK(refused(9, 0) == errc::position_rule);
  CHECK(refused(9, -4) == errc::position_rule);
  CHECK(refused((index_t{1} << 20) + 1, 1) == errc::position_rule);
}

}  // namespace chunk_positions_test
