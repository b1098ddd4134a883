// SPDX-License-Identifier: MIT
#include <posgeo/call/prefill_chunk.hpp>

#include <vector>

#include "support/call_rows.hpp"
#include "support/catch.hpp"
#include "support/refusal.hpp"

namespace {

using namespace posgeo;
using call::prefill_entry;
using posgeo::test::active;
using posgeo::test::numbers;
using posgeo::test::positions;
using posgeo::test::refusal;
using posgeo::test::sequences;

TEST_CASE("a chunk goes on from the committed length", "[prefill_chunk]") {
  const position_call call = call::prefill_chunk(4, 3);
  CHECK(call.kind() == call_kind::prefill_chunk);
  CHECK(positions<query_index>(call, 0) == numbers{4, 5, 6});
  CHECK(positions<key_index>(call, 0) == numbers{0, 1, 2, 3, 4, 5, 6});
  CHECK(call.offset(batch_index{0}, query_index{1}, key_index{6}).value() == 1);
  CHECK(call.committed_length(batch_index{0}) == 4);
  CHECK(call.past_length(batch_index{0}) == 4);
  CHECK_FALSE(call.key_space().has_padding());
}

TEST_CASE("chunks of a ragged batch keep what their caches still hold", "[prefill_chunk]") {
  const std::vector<prefill_entry> entries{
      {.committed_length = 6, .first_position = 6, .length = 2, .past_length = 3, .sequence = 8},
      {.committed_length = 0, .first_position = 0, .length = 4, .past_length = 0, .sequence = 5},
      {.committed_length = 9, .first_position = 9, .length = 0, .past_length = 1, .sequence = 6}};
  const position_call call = call::prefill_chunk({.entries = entries, .query_rows = 4, .key_rows = 5});
  CHECK(active<query_index>(call, 0) == numbers{1, 1, 0, 0});
  CHECK(active<query_index>(call, 1) == numbers{1, 1, 1, 1});
  CHECK(active<query_index>(call, 2) == numbers{0, 0, 0, 0});
  CHECK(active<key_index>(call, 0) == numbers{1, 1, 1, 1, 1});
  CHECK(active<key_index>(call, 1) == numbers{1, 1, 1, 1, 0});
  CHECK(active<key_index>(call, 2) == numbers{1, 0, 0, 0, 0});
  for (index_t b = 0; b < 3; ++b) {
    const prefill_entry& e = entries[static_cast<std::size_t>(b)];
    for (index_t i = 0; i < e.length; ++i) {
      const batch_index entry{b};
      CHECK(call.at(entry, query_index{i}).value() == e.committed_length + i);
      CHECK(call.at(entry, key_index{e.past_length + i}) == call.at(entry, query_index{i}));
    }
    CHECK(call.at(batch_index{b}, key_index{0}).value() == e.committed_length - e.past_length);
    CHECK(sequences<query_index>(call, b)[0] == e.sequence);
    CHECK(sequences<key_index>(call, b)[0] == e.sequence);
    CHECK(call.committed_length(batch_index{b}) == e.committed_length);
    CHECK(call.past_length(batch_index{b}) == e.past_length);
  }
}

TEST_CASE("a chunk refuses positions that do not go on and rows that do not fit", "[prefill_chunk]") {
  const auto refused = [](const prefill_entry& entry, index_t query_rows, index_t key_rows) {
    return refusal([&] {
             return call::prefill_chunk({.entries = {&entry, 1}, .query_rows = query_rows, .key_rows = key_rows});
           })
        .code();
  };
  CHECK(refused({.committed_length = 4, .first_position = 0, .length = 2, .past_length = 4}, 2, 6) ==
        errc::committed_length);
  CHECK(refused({.committed_length = 4, .first_position = 5, .length = 2, .past_length = 4}, 2, 6) ==
        errc::committed_length);
  CHECK(refused({.committed_length = 4, .first_position = 4, .length = 2, .past_length = 5}, 2, 7) ==
        errc::committed_length);
  CHECK(refused({.committed_length = 4, .first_position = 4, .length = 3, .past_length = 4}, 2, 7) == errc::row_count);
  CHECK(refused({.committed_length = 4, .first_position = 4, .length = 2, .past_length = 4}, 2, 5) == errc::row_count);
  CHECK(refused({.committed_length = 4, .first_position = 4, .length = -1, .past_length = 4}, 2, 6) == errc::row_count);
  CHECK(refused({.committed_length = -2, .first_position = -2, .length = 2, .past_length = -2}, 2, 2) ==
        errc::negative_offset);
  CHECK(refusal([] { return call::prefill_chunk(-2, 2); }).code() == errc::negative_offset);
  CHECK(refusal([] { return call::prefill_chunk(2, -1); }).code() == errc::row_count);
  CHECK(refused({.committed_length = position_limit, .first_position = position_limit, .length = 2}, 2, 2) ==
        errc::position_overflow);
}

}  // namespace
