// SPDX-License-Identifier: MIT
#include <posgeo/call/padded_batch.hpp>

#include <vector>

#include "support/call_rows.hpp"
#include "support/catch.hpp"
#include "support/random_calls.hpp"
#include "support/refusal.hpp"

namespace {

using namespace posgeo;
using call::padded_positions;
using call::padding_side;
using posgeo::test::active;
using posgeo::test::dice;
using posgeo::test::numbers;
using posgeo::test::positions;
using posgeo::test::refusal;
using posgeo::test::sequences;

/// The positions of one entry by the words of padded_positions.
numbers by_rule(const numbers& mask, const padded_positions& rule) {
  numbers out;
  index_t tokens = 0;
  for (std::size_t row = 0; row < mask.size(); ++row) {
    const bool token = mask[row] != 0;
    switch (rule.how()) {
      case padded_positions::rule::contiguous:
        out.push_back(rule.first() + static_cast<index_t>(row));
        break;
      case padded_positions::rule::fixed:
        out.push_back(token ? rule.first() + static_cast<index_t>(row) : rule.padded());
        break;
      case padded_positions::rule::compressed:
        out.push_back(token ? rule.first() + tokens : rule.padded());
        break;
    }
    tokens += token ? 1 : 0;
  }
  return out;
}

/// Both sides of a self-attention call have the given rows.
void check_entry(const position_call& call, index_t b, const numbers& mask, const padded_positions& rule) {
  REQUIRE(active<query_index>(call, b) == mask);
  REQUIRE(active<key_index>(call, b) == mask);
  REQUIRE(positions<query_index>(call, b) == by_rule(mask, rule));
  REQUIRE(positions<key_index>(call, b) == by_rule(mask, rule));
  for (std::size_t row = 0; row < mask.size(); ++row) {
    if (mask[row] != 0) REQUIRE(sequences<key_index>(call, b)[row] == b);
  }
}

TEST_CASE("a padded batch numbers its rows by each rule on either side", "[padded_batch]") {
  const numbers lengths{3, 5, 0, 1};
  constexpr index_t rows = 5;
  for (const padding_side side : {padding_side::left, padding_side::right}) {
    for (const padded_positions& rule :
         {padded_positions::contiguous(), padded_positions::contiguous(7), padded_positions::fixed(4, -3),
          padded_positions::compressed(2, 1), padded_positions::compressed(-9, 2)}) {
      const position_call call =
          call::padded_batch({.lengths = lengths, .rows = rows, .side = side, .positions = rule});
      REQUIRE(call.kind() == call_kind::padded_batch);
      REQUIRE(call.batch() == 4);
      REQUIRE(call.queries() == rows);
      REQUIRE(call.keys() == rows);
      for (index_t b = 0; b < call.batch(); ++b) {
        numbers mask(rows, 0);
        const index_t length = lengths[static_cast<std::size_t>(b)];
        for (index_t n = 0; n < length; ++n) {
          mask[static_cast<std::size_t>(side == padding_side::left ? rows - 1 - n : n)] = 1;
        }
        check_entry(call, b, mask, rule);
        CHECK(call.committed_length(batch_index{b}) == 0);
        CHECK(call.past_length(batch_index{b}) == 0);
      }
    }
  }
}

TEST_CASE("left padding moves no compressed position", "[padded_batch]") {
  const numbers lengths{3};
  const auto at = [&](padding_side side, const padded_positions& rule) {
    return positions<key_index>(call::padded_batch({.lengths = lengths, .rows = 5, .side = side, .positions = rule}),
                                0);
  };
  CHECK(at(padding_side::left, padded_positions::compressed(0, -1)) == numbers{-1, -1, 0, 1, 2});
  CHECK(at(padding_side::right, padded_positions::compressed(0, -1)) == numbers{0, 1, 2, -1, -1});
  CHECK(at(padding_side::left, padded_positions::fixed(0, -1)) == numbers{-1, -1, 2, 3, 4});
  CHECK(at(padding_side::left, padded_positions::contiguous()) == numbers{0, 1, 2, 3, 4});
}

TEST_CASE("RoBERTa counts tokens from the padding index plus one", "[padded_batch]") {
  const std::vector<std::uint8_t> mask{1, 1, 1, 1, 1, 0, 1, 1, 0, 0};
  const position_call call =
      call::padded_batch({.active = mask, .entries = 2, .rows = 5, .positions = padded_positions::compressed(2, 1)});
  CHECK(positions<query_index>(call, 0) == numbers{2, 3, 4, 5, 6});
  CHECK(positions<query_index>(call, 1) == numbers{1, 2, 3, 1, 1});
}

TEST_CASE("a masked batch numbers rows around holes by each rule", "[padded_batch]") {
  dice roll(41);
  for (int round = 0; round < 100; ++round) {
    const index_t rows = roll.between(1, 6);
    const index_t entries = roll.between(1, 3);
    const auto drawn = roll.row(entries * rows, 0, 1);
    const std::vector<std::uint8_t> mask(drawn.begin(), drawn.end());
    const padded_positions rule = posgeo::test::random_padded_positions(roll);
    const position_call call =
        call::padded_batch({.active = mask, .entries = entries, .rows = rows, .positions = rule});
    for (index_t b = 0; b < entries; ++b) {
      check_entry(call, b, numbers(drawn.begin() + b * rows, drawn.begin() + (b + 1) * rows), rule);
      REQUIRE(sequences<query_index>(call, b) == numbers(static_cast<std::size_t>(rows), b));
    }
  }
}

TEST_CASE("a padded batch refuses lengths that do not fit its rows", "[padded_batch]") {
  for (const padding_side side : {padding_side::left, padding_side::right}) {
    const auto refused = [&](const numbers& lengths, index_t rows, index_t first = 0) {
      return refusal([&] {
               return call::padded_batch(
                   {.lengths = lengths, .rows = rows, .side = side, .positions = padded_positions::contiguous(first)});
             })
          .code();
    };
    CHECK(refused({3, 6}, 5) == errc::row_count);
    CHECK(refused({3, -1}, 5) == errc::row_count);
    CHECK(refused({0}, -1) == errc::row_count);
    CHECK(refused({}, 5) == errc::empty_batch);
    CHECK(refused({5}, 5, position_limit - 3) == errc::position_overflow);
    CHECK(refused({5}, 5, -position_limit - 1) == errc::position_overflow);
  }
  const numbers lengths{5};
  CHECK_NOTHROW(call::padded_batch({.lengths = lengths,
                                    .rows = 5,
                                    .side = call::padding_side::right,
                                    .positions = padded_positions::contiguous(position_limit - 4)}));
  CHECK(refusal([&] {
          return call::padded_batch({.lengths = lengths,
                                     .rows = 5,
                                     .side = call::padding_side::right,
                                     .positions = padded_positions::fixed(0, position_limit + 1)});
        }).code() == errc::position_overflow);
}

TEST_CASE("a masked batch refuses a mask of another size", "[padded_batch]") {
  const std::vector<std::uint8_t> mask{1, 1, 0, 1, 1, 1};
  const auto refused = [&](index_t entries, index_t rows) {
    return refusal([&] {
             return call::padded_batch(
                 {.active = mask, .entries = entries, .rows = rows, .positions = padded_positions::contiguous()});
           })
        .code();
  };
  CHECK_NOTHROW(
      call::padded_batch({.active = mask, .entries = 2, .rows = 3, .positions = padded_positions::contiguous()}));
  CHECK(refused(2, 2) == errc::row_count);
  CHECK(refused(3, 3) == errc::row_count);
  CHECK(refused(2, 0) == errc::row_count);
  CHECK(refused(0, 3) == errc::empty_batch);
}

}  // namespace
