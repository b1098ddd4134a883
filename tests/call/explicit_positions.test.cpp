// SPDX-License-Identifier: MIT
#include <posgeo/call/explicit_positions.hpp>

#include <vector>

#include "support/call_rows.hpp"
#include "support/catch.hpp"
#include "support/refusal.hpp"

namespace {

using namespace posgeo;
using posgeo::test::active;
using posgeo::test::numbers;
using posgeo::test::positions;
using posgeo::test::refusal;
using posgeo::test::sequences;

const numbers one_query{5};

TEST_CASE("a ring buffer keeps each key at the position it was written at", "[explicit_positions]") {
  const numbers slots{4, 5, 2, 3};
  const cache_state cache{.committed_length = 5, .past_length = 3};
  const position_call call = call::explicit_positions(
      {.query = {.positions = one_query, .rows = 1}, .key = {.positions = slots, .rows = 4}, .cache = {&cache, 1}});
  CHECK(call.kind() == call_kind::explicit_positions);
  CHECK(positions<key_index>(call, 0) == slots);
  for (const key_index j : indices<key_index>(4)) {
    CHECK(call.offset(batch_index{0}, query_index{0}, j).value() ==
          slots[static_cast<std::size_t>(j.value())] - one_query[0]);
  }
  CHECK(call.committed_length(batch_index{0}) == 5);
  CHECK(call.past_length(batch_index{0}) == 3);
  CHECK(active<key_index>(call, 0) == numbers(4, 1));
  CHECK(sequences<key_index>(call, 0) == numbers(4, 0));
}

TEST_CASE("explicit entries are read one behind another", "[explicit_positions]") {
  const numbers at_query{9, -2, 40, 3};
  const numbers at_key{7, 0, 1, -5, 8, 2};
  const numbers of_key{1, 1, 4, 0, 2, 2};
  const std::vector<std::uint8_t> tokens{1, 0, 1, 1, 1, 0};
  const position_call call = call::explicit_positions(
      {.entries = 2,
       .query = {.positions = at_query, .rows = 2, .origin = stream::decoder},
       .key = {.positions = at_key, .sequences = of_key, .active = tokens, .rows = 3, .origin = stream::encoder}});
  CHECK(positions<query_index>(call, 0) == numbers{9, -2});
  CHECK(positions<query_index>(call, 1) == numbers{40, 3});
  CHECK(sequences<query_index>(call, 1) == numbers{1, 1});
  CHECK(positions<key_index>(call, 1) == numbers{-5, 8, 2});
  CHECK(sequences<key_index>(call, 0) == numbers{1, 1, 4});
  CHECK(active<key_index>(call, 0) == numbers{1, 0, 1});
  CHECK(active<key_index>(call, 1) == numbers{1, 1, 0});
  CHECK(call.query_space().origin() == stream::decoder);
  CHECK(call.key_space().origin() == stream::encoder);
}

TEST_CASE("a position that one sequence uses twice is refused unless intended", "[explicit_positions]") {
  const auto make = [](const numbers& at, const numbers& of, const std::vector<std::uint8_t>& tokens,
                       position_reuse reuse, index_t entries = 1) {
    const auto rows = static_cast<index_t>(at.size()) / entries;
    return call::explicit_positions({.entries = entries,
                                     .query = {.positions = numbers(static_cast<std::size_t>(entries), 9), .rows = 1},
                                     .key = {.positions = at, .sequences = of, .active = tokens, .rows = rows},
                                     .reuse = reuse});
  };
  const numbers reset{0, 1, 2, 0, 1};
  CHECK(refusal([&] { return make(reset, {}, {}, position_reuse::refused); }).code() == errc::position_reused);
  CHECK(positions<key_index>(make(reset, {}, {}, position_reuse::intended), 0) == reset);
  CHECK_NOTHROW(make(reset, {0, 0, 0, 1, 1}, {}, position_reuse::refused));
  CHECK(refusal([&] {
          return make(reset, {0, 0, 1, 0, 1}, {}, position_reuse::refused);
        }).code() == errc::position_reused);
  CHECK_NOTHROW(make(reset, {}, {1, 1, 1, 0, 0}, position_reuse::refused));
  CHECK_NOTHROW(make({3, 4, 3, 4}, {}, {}, position_reuse::refused, 2));
  CHECK_NOTHROW(make({3, 4, 3, 4}, {0, 0, 0, 0}, {}, position_reuse::refused, 2));
}

TEST_CASE("explicit arrays of other sizes than the rows are refused", "[explicit_positions]") {
  const numbers two{0, 1};
  const numbers three{0, 1, 2};
  const std::vector<std::uint8_t> tokens{1, 1, 1};
  const auto refused = [](const call::explicit_side& key, index_t entries = 1) {
    return refusal([&] {
             return call::explicit_positions(
                 {.entries = entries, .query = {.positions = one_query, .rows = 1}, .key = key});
           })
        .code();
  };
  CHECK(refused({.positions = three, .rows = 2}) == errc::row_count);
  CHECK(refused({.positions = two, .rows = 3}) == errc::row_count);
  CHECK(refused({.positions = three, .sequences = two, .rows = 3}) == errc::row_count);
  CHECK(refused({.positions = two, .active = tokens, .rows = 2}) == errc::row_count);
  CHECK(refused({.positions = three, .rows = -3}) == errc::row_count);
  CHECK(refused({.positions = three, .rows = 0}) == errc::row_count);
  CHECK(refused({.positions = two, .rows = 2}, 2) == errc::row_count);
  CHECK(refused({.positions = two, .rows = 2}, 0) == errc::empty_batch);
  CHECK(refused({.positions = two, .rows = 2}, -1) == errc::empty_batch);
}

TEST_CASE("explicit positions reach 2 to the 62nd on both sides and no further", "[explicit_positions]") {
  const auto call_of = [](index_t query, index_t key) {
    return call::explicit_positions(
        {.query = {.positions = {&query, 1}, .rows = 1}, .key = {.positions = {&key, 1}, .rows = 1}});
  };
  CHECK(call_of(-position_limit, position_limit).offset(batch_index{0}, query_index{0}, key_index{0}).value() ==
        2 * position_limit);
  CHECK(call_of(position_limit, -position_limit).offset(batch_index{0}, query_index{0}, key_index{0}).value() ==
        -2 * position_limit);
  for (const index_t far : {position_limit + 1, -position_limit - 1, std::numeric_limits<index_t>::max(),
                            std::numeric_limits<index_t>::min()}) {
    CHECK(refusal([&] { return call_of(far, 0); }).code() == errc::position_overflow);
    CHECK(refusal([&] { return call_of(0, far); }).code() == errc::position_overflow);
  }
}

TEST_CASE("cache states must be one for each entry or none", "[explicit_positions]") {
  const std::vector<cache_state> caches(2);
  CHECK(refusal([&] {
          return call::explicit_positions({.query = {.positions = one_query, .rows = 1},
                                           .key = {.positions = one_query, .rows = 1},
                                           .cache = caches});
        }).code() == errc::row_count);
}

TEST_CASE("a cache beside explicit positions must end where the queries begin", "[explicit_positions]") {
  const std::vector<index_t> keys{4, 5, 2, 3};
  const std::vector<cache_state> cache{{.committed_length = 5, .past_length = 3}};
  const auto call_with = [&](const std::vector<index_t>& queries) {
    return call::explicit_positions({.query = {.positions = queries, .rows = static_cast<index_t>(queries.size())},
                                     .key = {.positions = keys, .rows = 4},
                                     .cache = cache});
  };
  CHECK(call_with({5}).committed_length(batch_index{0}) == 5);
  CHECK(call_with({6, 5}).queries() == 2);
  CHECK(refusal([&] { return call_with({0}); }).code() == errc::committed_length);
  CHECK(refusal([&] { return call_with({6, 7}); }).code() == errc::committed_length);
}

TEST_CASE("sequences mix when queries and keys do not name one", "[explicit_positions]") {
  const std::vector<index_t> queries{5, 6};
  const std::vector<index_t> keys{0, 1};
  const auto mixes = [&](const std::vector<index_t>& of_queries, const std::vector<index_t>& of_keys) {
    return call::explicit_positions({.query = {.positions = queries, .sequences = of_queries, .rows = 2},
                                     .key = {.positions = keys, .sequences = of_keys, .rows = 2}})
        .mixes_sequences();
  };
  CHECK_FALSE(mixes({3, 3}, {3, 3}));
  CHECK(mixes({3, 3}, {3, 4}));
  CHECK(mixes({3, 4}, {3, 3}));
  CHECK(mixes({}, {7, 7}));
  CHECK_FALSE(mixes({}, {}));
}

TEST_CASE("a hostile number of entries is refused at once", "[explicit_positions]") {
  const auto many = [] {
    return call::explicit_positions(
        {.entries = index_t{1} << 61, .query = {.positions = {}, .rows = 0}, .key = {.positions = {}, .rows = 0}});
  };
  CHECK(refusal(many).code() == errc::row_count);
}

}  // namespace
