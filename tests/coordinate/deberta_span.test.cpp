// SPDX-License-Identifier: MIT
#include <posgeo/coordinate/deberta_span.hpp>

#include <vector>

#include "support/catch.hpp"
#include "support/random_calls.hpp"
#include "support/refusal.hpp"

namespace deberta_span_test {

using namespace posgeo;
using namespace posgeo::test;
using coordinate::beyond_max_position;
using coordinate::deberta_span;
using coordinate::log_bucket;

/// The paper's delta(i, j), case by case.
index_t delta(index_t i, index_t j, index_t k) {
  if (i - j <= -k) return 0;
  if (i - j >= k) return 2 * k - 1;
  return i - j + k;
}

TEST_CASE("the row of a span without buckets is the delta of the paper", "[deberta_span]") {
  dice roll(613);
  for (int round = 0; round < 400; ++round) {
    const index_t k = roll.between(1, 40);
    const index_t i = roll.between(-60, 60);
    const index_t j = roll.between(-60, 60);
    const auto span = deberta_span::exact(k);
    CAPTURE(k, i, j);
    REQUIRE(span(relative_offset{j - i}) == delta(i, j, k));
    REQUIRE(span.relative(relative_offset{j - i}) == i - j);
    REQUIRE(span.rows() == 2 * k);
  }
}

TEST_CASE("a span merges the classes at its ends and no others", "[deberta_span]") {
  const auto span = deberta_span::exact(3);
  std::vector<index_t> rows;
  for (index_t ahead = -5; ahead <= 5; ++ahead) rows.push_back(span(relative_offset{ahead}));
  CHECK(rows == std::vector<index_t>{5, 5, 5, 5, 4, 3, 2, 1, 0, 0, 0});
  CHECK(span(relative_offset{2 * position_limit}) == 0);
  CHECK(span(relative_offset{-2 * position_limit}) == 5);
}

TEST_CASE("a bucketed span has a row for each bucket of each sign", "[deberta_span]") {
  const auto span_of = [](beyond_max_position beyond) {
    return deberta_span::bucketed(log_bucket({.num_buckets = 8, .max_position = 33, .beyond = beyond}));
  };
  const auto clamped = span_of(beyond_max_position::clamped);
  const auto running = span_of(beyond_max_position::runs_on);
  CHECK(clamped.span() == 8);
  CHECK(clamped.rows() == 16);
  // edges at 8, 16 and 32; the release stops at row 1, the other goes on to row 0
  CHECK(clamped(relative_offset{0}) == 8);
  CHECK(clamped(relative_offset{-4}) == 12);
  CHECK(clamped(relative_offset{4}) == 4);
  CHECK(clamped(relative_offset{-17}) == 15);
  CHECK(clamped(relative_offset{17}) == 1);
  for (const index_t far : {33, 34, 9999}) {
    CHECK(clamped(relative_offset{far}) == 1);
    CHECK(running(relative_offset{far}) == 0);
    CHECK(clamped(relative_offset{-far}) == 15);
    CHECK(running(relative_offset{-far}) == 15);
  }
  for (index_t ahead = -32; ahead <= 32; ++ahead) {
    CHECK(clamped(relative_offset{ahead}) == running(relative_offset{ahead}));
  }
}

TEST_CASE("a span without rows is refused", "[deberta_span]") {
  for (const index_t none : {index_t{0}, index_t{-4}, (index_t{1} << 31) + 1}) {
    CHECK(refusal([&] { return deberta_span::exact(none); }).code() == errc::bucket_settings);
  }
  CHECK(deberta_span::exact(1).rows() == 2);
}

}  // namespace deberta_span_test
