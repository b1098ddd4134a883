// SPDX-License-Identifier: MIT
#include <posgeo/call/decode_step.hpp>

#include <vector>

#include "support/call_rows.hpp"
#include "support/catch.hpp"
#include "support/refusal.hpp"

namespace {

using namespace posgeo;
using call::decode_entry;
using posgeo::test::active;
using posgeo::test::numbers;
using posgeo::test::positions;
using posgeo::test::refusal;
using posgeo::test::sequences;

errc refused(const decode_entry& entry, index_t key_rows) {
  return refusal([&] { return call::decode_step({.entries = {&entry, 1}, .key_rows = key_rows}); }).code();
}

TEST_CASE("a decode step puts its query behind everything committed", "[decode_step]") {
  const position_call call = call::decode_step(512, 512);
  CHECK(call.kind() == call_kind::decode_step);
  CHECK(call.queries() == 1);
  REQUIRE(call.keys() == 513);
  CHECK(positions<query_index>(call, 0) == numbers{512});
  for (const key_index j : indices<key_index>(513)) {
    REQUIRE(call.at(batch_index{0}, j).value() == j.value());
    REQUIRE(call.offset(batch_index{0}, query_index{0}, j).value() == j.value() - 512);
    REQUIRE(call.active(batch_index{0}, j));
  }
  CHECK(call.committed_length(batch_index{0}) == 512);
  CHECK(call.past_length(batch_index{0}) == 512);
  CHECK(call.same_frame());
  CHECK(call.query_space().origin() == stream::decoder);
  CHECK(positions<key_index>(call::decode_step(0, 0), 0) == numbers{0});
}

TEST_CASE("the keys of a ragged evicted and padded decode step end at each query", "[decode_step]") {
  const std::vector<decode_entry> entries{
      {.committed_length = 4, .query_position = 4, .past_length = 4, .sequence = 30},
      {.committed_length = 9, .query_position = 9, .past_length = 2, .padding = 2, .sequence = 10},
      {.committed_length = 7, .query_position = 7, .past_length = 0, .padding = 1, .sequence = 20}};
  const position_call call = call::decode_step(
      {.entries = entries, .key_rows = 6, .frame = coordinate_frame{"cache 3"}, .origin = stream::shared});
  REQUIRE(call.batch() == 3);
  REQUIRE(call.keys() == 6);
  const numbers expected_active[] = {{1, 1, 1, 1, 1, 0}, {0, 0, 1, 1, 1, 0}, {0, 1, 0, 0, 0, 0}};
  for (index_t b = 0; b < 3; ++b) {
    const decode_entry& e = entries[static_cast<std::size_t>(b)];
    const batch_index entry{b};
    CHECK(positions<query_index>(call, b) == numbers{e.query_position});
    CHECK(active<query_index>(call, b) == numbers{1});
    CHECK(active<key_index>(call, b) == expected_active[b]);
    const key_index own{e.padding + e.past_length};
    CHECK(call.offset(entry, query_index{0}, own).value() == 0);
    for (const key_index j : indices<key_index>(6)) {
      CHECK(call.offset(entry, query_index{0}, j).value() == j.value() - own.value());
      if (call.active(entry, j)) CHECK(call.sequence(entry, j) == e.sequence);
    }
    CHECK(sequences<query_index>(call, b) == numbers{e.sequence});
    CHECK(call.committed_length(entry) == e.committed_length);
    CHECK(call.past_length(entry) == e.past_length);
  }
  CHECK(positions<key_index>(call, 1) == numbers{5, 6, 7, 8, 9, 10});
  CHECK(call.key_space().frame().name() == "cache 3");
  CHECK(call.query_space().origin() == stream::shared);
}

TEST_CASE("a decode step refuses a query that does not stand at the committed length", "[decode_step]") {
  for (const index_t reset : {0, 511, 513}) {
    CHECK(refusal([&] { return call::decode_step(512, reset); }).code() == errc::committed_length);
  }
  // The cache has lost rows: its size is not the position.
  CHECK(refused({.committed_length = 9, .query_position = 3, .past_length = 3}, 4) == errc::committed_length);
}

TEST_CASE("a decode step refuses impossible caches", "[decode_step]") {
  CHECK(refused({.committed_length = 3, .query_position = 3, .past_length = 4}, 5) == errc::committed_length);
  CHECK(refused({.committed_length = 3, .query_position = 3, .past_length = 3}, 3) == errc::row_count);
  CHECK(refused({.committed_length = 3, .query_position = 3, .past_length = 1, .padding = 2}, 3) == errc::row_count);
  CHECK(refused({.committed_length = 3, .query_position = 3, .past_length = 1, .padding = -1}, 3) == errc::row_count);
  CHECK(refused({.committed_length = -1, .query_position = -1, .past_length = -1}, 1) == errc::negative_offset);
  CHECK(refused({.committed_length = 3, .query_position = 3, .past_length = -1, .padding = 1}, 4) ==
        errc::negative_offset);
  CHECK(refusal([] { return call::decode_step(-1, -1); }).code() == errc::negative_offset);
  CHECK(refusal([] { return call::decode_step(call::decode_step_spec{.entries = {}, .key_rows = 4}); }).code() ==
        errc::empty_batch);
}

TEST_CASE("a decode step reaches the last legal position and none behind it", "[decode_step]") {
  const decode_entry last{.committed_length = position_limit, .query_position = position_limit, .past_length = 2};
  CHECK(positions<key_index>(call::decode_step({.entries = {&last, 1}, .key_rows = 3}), 0) ==
        numbers{position_limit - 2, position_limit - 1, position_limit});
  CHECK(refused({.committed_length = position_limit + 1, .query_position = position_limit + 1, .past_length = 2}, 3) ==
        errc::position_overflow);
}

}  // namespace
