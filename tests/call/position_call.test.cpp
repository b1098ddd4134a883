// SPDX-License-Identifier: MIT
#include <posgeo/call/decode_step.hpp>
#include <posgeo/call/explicit_positions.hpp>
#include <posgeo/call/padded_batch.hpp>
#include <posgeo/call/prefill_chunk.hpp>

#include <limits>
#include <string>
#include <vector>

#include "support/call_rows.hpp"
#include "support/catch.hpp"
#include "support/random_calls.hpp"
#include "support/refusal.hpp"

namespace {

using namespace posgeo;
using posgeo::test::codes;
using posgeo::test::numbers;
using posgeo::test::refusal;

TEST_CASE("check lists every broken rule of a description at once", "[position_call]") {
  const numbers reset{0, 1, 0};
  const numbers far{position_limit + 1};
  const cache_state cache{.committed_length = -4, .past_length = 2};
  const call_description d = call::describe(call::explicit_positions_spec{
      .query = {.positions = far, .rows = 1}, .key = {.positions = reset, .rows = 3}, .cache = {&cache, 1}});
  CHECK(codes(check(d)) ==
        std::vector{errc::position_overflow, errc::position_reused, errc::negative_offset, errc::committed_length});
  const error thrown = refusal([&] { return position_call{d}; });
  CHECK(thrown.code() == errc::position_overflow);
  std::string joined;
  for (const violation& v : check(d)) joined += (joined.empty() ? "" : "; ") + v.message;
  CHECK(thrown.what() == joined);
}

TEST_CASE("check and construction agree and name the entry", "[position_call]") {
  const std::vector<call::decode_entry> entries{{.committed_length = 3, .query_position = 3, .past_length = 3},
                                                {.committed_length = 5, .query_position = 4, .past_length = 2}};
  const auto found = check(call::describe(call::decode_step_spec{.entries = entries, .key_rows = 4}));
  REQUIRE(codes(found) == std::vector{errc::committed_length});
  CHECK(found.front().message == "call, first query position of entry 1: expected committed_length 5, got 4");
  CHECK(check(call::describe(call::decode_step_spec{.entries = {entries.data(), 1}, .key_rows = 4})).empty());
}

TEST_CASE("an offset is key position minus query position", "[position_call]") {
  for (const position_call& call : posgeo::test::random_calls(77)) {
    for (const batch_index b : indices<batch_index>(call.batch())) {
      for (const query_index i : indices<query_index>(call.queries())) {
        for (const key_index j : indices<key_index>(call.keys())) {
          REQUIRE(call.offset(b, i, j).value() == call.at(b, j).value() - call.at(b, i).value());
        }
      }
    }
  }
}

TEST_CASE("descriptions of the largest and smallest numbers are refused without overflow", "[position_call]") {
  constexpr index_t least = std::numeric_limits<index_t>::min();
  constexpr index_t most = std::numeric_limits<index_t>::max();
  const auto refused = [](const call_description& d) { return !check(d).empty(); };
  for (const index_t a : {least, -1 - position_limit, index_t{-1}, position_limit + 1, most}) {
    for (const index_t b : {least, index_t{-1}, index_t{1}, position_limit, most}) {
      CAPTURE(a, b);
      const numbers lengths{a};
      for (const auto side : {call::padding_side::left, call::padding_side::right}) {
        CHECK(refused(call::describe(call::padded_batch_spec{
            .lengths = lengths, .rows = b, .side = side, .positions = call::padded_positions::compressed(b, 0)})));
      }
      const std::vector<std::uint8_t> mask{1, 1};
      CHECK(refused(call::describe(
          call::masked_batch_spec{.active = mask,
                                  .entries = 1,
                                  .rows = 2,
                                  .positions = call::padded_positions::contiguous(a == -1 ? most : a)})));
      const call::decode_entry decode{.committed_length = a, .query_position = a, .past_length = b, .padding = b};
      CHECK(refused(call::describe(call::decode_step_spec{.entries = {&decode, 1}, .key_rows = most})));
      const call::prefill_entry chunk{.committed_length = a, .first_position = a, .length = b, .past_length = a};
      CHECK(refused(call::describe(call::prefill_chunk_spec{.entries = {&chunk, 1}, .query_rows = 2, .key_rows = 3})));
      CHECK_THROWS_AS(call::decode_step(a, b), error);
      CHECK_THROWS_AS(call::prefill_chunk(a, b), error);
    }
  }
}

TEST_CASE("frames are equal by name", "[position_call]") {
  const numbers at{0};
  const auto call_of = [&](const char* query, const char* key) {
    return call::explicit_positions({.query = {.positions = at, .rows = 1, .frame = coordinate_frame{query}},
                                     .key = {.positions = at, .rows = 1, .frame = coordinate_frame{key}}});
  };
  violations found;
  expect_same_frame(call_of("cache 1", "cache 1"), "t5 bias", found);
  CHECK(found.empty());
  expect_same_frame(call_of("cache 1", "cache 2"), "t5 bias", found);
  REQUIRE(codes(found) == std::vector{errc::frame_mismatch});
  CHECK(found.front().message ==
        "t5 bias, coordinate frames: expected the query frame 'cache 1' for both, got 'cache 2' for the keys");
  CHECK(coordinate_frame{}.name() == "sequence");
  CHECK(refusal([] { return coordinate_frame{std::string(32, 'f')}; }).code() == errc::label_length);
}

TEST_CASE("a copy of a call answers alike after the first is gone", "[position_call]") {
  for (const position_call& call : posgeo::test::random_calls(78)) {
    const auto copy = [&] { return position_call{call}; }();
    for (index_t b = 0; b < call.batch(); ++b) {
      REQUIRE(posgeo::test::positions<key_index>(copy, b) == posgeo::test::positions<key_index>(call, b));
      REQUIRE(posgeo::test::active<key_index>(copy, b) == posgeo::test::active<key_index>(call, b));
    }
  }
}

TEST_CASE("a decode step or a prefill chunk without a cache is refused", "[position_call]") {
  const row_space one(1, {1, [](index_t) { return affine_rows{.first = 5, .active_end = 1}; }}, {}, stream::decoder);
  for (const call_kind kind : {call_kind::decode_step, call_kind::prefill_chunk}) {
    CHECK(codes(check(call_description{.kind = kind, .query = one, .key = one, .cache = {}})) ==
          std::vector{errc::row_count});
  }
}

}  // namespace
