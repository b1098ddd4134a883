// SPDX-License-Identifier: MIT
#include <posgeo/call/cross_attention.hpp>
#include <posgeo/coordinate/clipped.hpp>

#include <limits>
#include <string>

#include "support/calls.hpp"
#include "support/catch.hpp"
#include "support/random_calls.hpp"
#include "support/refusal.hpp"

namespace clipped_test {

using namespace posgeo;
using namespace posgeo::test;
using coordinate::beyond_ends;
using coordinate::clipped;

std::vector<index_t> rows_of(const clipped& classes, const std::vector<index_t>& offsets) {
  std::vector<index_t> out;
  for (const index_t offset : offsets) out.push_back(classes(relative_offset{offset}));
  return out;
}

std::vector<errc> listed(const clipped& classes, const position_call& call) {
  violations found;
  classes.check(call, "test", found);
  return codes(found);
}

TEST_CASE("the paper's clip has 2k + 1 rows from the past to the future", "[clipped]") {
  const auto classes = clipped::symmetric(2);
  CHECK(classes.classes() == 5);
  CHECK(rows_of(classes, {-3, -2, -1, 0, 1, 2, 900}) == std::vector<index_t>{0, 0, 1, 2, 3, 4, 4});
}

TEST_CASE("an asymmetric clip starts at its own far end", "[clipped]") {
  const clipped forward(
      {.behind = 3, .ahead = 1, .sign = offset_sign::key_minus_query, .beyond = beyond_ends::clipped});
  CHECK(forward.classes() == 5);
  CHECK(rows_of(forward, {-7, -3, -2, 0, 1, 2}) == std::vector<index_t>{0, 0, 1, 3, 4, 4});
  const clipped backward(
      {.behind = 3, .ahead = 1, .sign = offset_sign::query_minus_key, .beyond = beyond_ends::clipped});
  CHECK(rows_of(backward, {-7, -3, -2, 0, 1, 2}) == std::vector<index_t>{4, 4, 3, 1, 0, 0});
}

TEST_CASE("a clip merges the far offsets of a side and no others", "[clipped]") {
  dice roll(51);
  for (int round = 0; round < 4000; ++round) {
    const index_t behind = roll.between(0, 6);
    const index_t ahead = roll.between(0, 6);
    const auto sign = roll.chance(0.5) ? offset_sign::key_minus_query : offset_sign::query_minus_key;
    const clipped classes({.behind = behind, .ahead = ahead, .sign = sign, .beyond = beyond_ends::clipped});
    const index_t a = roll.between(-9, 9);
    const index_t b = roll.between(-9, 9);
    // Classes c and c + 1 are told apart for -behind <= c < ahead; nothing else is.
    const bool merged = std::max(std::min(a, b), -behind) >= std::min(std::max(a, b), ahead);
    CAPTURE(behind, ahead, a, b);
    REQUIRE((classes(relative_offset{a}) == classes(relative_offset{b})) == merged);
    REQUIRE(classes(relative_offset{a}) >= 0);
    REQUIRE(classes(relative_offset{a}) < classes.classes());
  }
}

TEST_CASE("the furthest offsets of 64 bits are in the last classes", "[clipped]") {
  constexpr auto lowest = std::numeric_limits<index_t>::min();
  constexpr auto highest = std::numeric_limits<index_t>::max();
  CHECK(rows_of(clipped::symmetric(5), {lowest, highest}) == std::vector<index_t>{0, 10});
}

TEST_CASE("classes that refuse name the offset beyond them", "[clipped]") {
  const clipped classes(
      {.behind = 4, .ahead = 2, .sign = offset_sign::key_minus_query, .beyond = beyond_ends::refused});
  CHECK(listed(classes, call_at({10, 8}, {10, 6})).empty());
  CHECK(listed(classes, call_at({10}, {5})) == std::vector{errc::offset_out_of_table});
  CHECK(listed(classes, call_at({10}, {13})) == std::vector{errc::offset_out_of_table});
  CHECK(listed(clipped::symmetric(1), call_at({10}, {500})).empty());
  violations found;
  classes.check(call_at({10}, {5}), "test", found);
  CHECK(found.front().message == "test, key - query: expected from -4 to 2, got -5");
}

TEST_CASE("classes without a key ahead are asked for the past alone", "[clipped]") {
  for (const auto sign : {offset_sign::key_minus_query, offset_sign::query_minus_key}) {
    const auto reaching = [&](index_t behind, index_t ahead) {
      return clipped({.behind = behind, .ahead = ahead, .sign = sign, .beyond = beyond_ends::refused});
    };
    CHECK(reaching(4, 0).looks_back_only());
    CHECK(listed(reaching(4, 0), call_at({5, 6, 9})).empty());  // whether 9 is seen by 5 is the attention's
    CHECK(listed(reaching(3, 0), call_at({5, 6, 9})) == std::vector{errc::offset_out_of_table});
    CHECK_FALSE(reaching(4, 3).looks_back_only());
    CHECK(listed(reaching(4, 3), call_at({5, 6, 9})) == std::vector{errc::offset_out_of_table});
    CHECK_FALSE(reaching(0, 0).looks_back_only());  // one class for everything
    CHECK(listed(reaching(0, 0), call_at({5}, {6})) == std::vector{errc::offset_out_of_table});
  }
  CHECK_FALSE(clipped::symmetric(0).looks_back_only());
}

TEST_CASE("clipped classes refuse two frames and an impossible reach", "[clipped]") {
  const std::vector<index_t> lengths{2};
  const auto cross =
      call::cross_attention({.target_lengths = lengths, .source_lengths = lengths, .target_rows = 2, .source_rows = 2});
  CHECK(listed(clipped::symmetric(4), cross) == std::vector{errc::frame_mismatch});
  const auto negative = refusal([] { return clipped::symmetric(-1); });
  CHECK(negative.code() == errc::bucket_settings);
  CHECK(negative.what() == std::string("clipped offset, max_distance: expected from 0 to 2^31 - 1, got -1"));
  CHECK(refusal([] { return clipped::symmetric(index_t{1} << 31); }).code() == errc::bucket_settings);
}

}  // namespace clipped_test
