// SPDX-License-Identifier: MIT
#include <posgeo/manifest/span.hpp>

#include "support/catch.hpp"
#include "support/manifests.hpp"
#include "support/random_calls.hpp"

namespace span_test {

using namespace posgeo;
using namespace posgeo::test;
using manifest::span;
using manifest::spans;

spans of(const std::vector<index_t>& numbers) {
  manifest::span_builder all;
  for (const index_t one : numbers) all.add(one);
  return std::move(all).finish();
}

TEST_CASE("a line of any step is one span", "[manifest]") {
  CHECK(of({}) == spans{});
  CHECK(of({7}) == spans{{7, 1, 1}});
  CHECK(of({7, 8, 9, 10}) == spans{{7, 4, 1}});
  CHECK(of({5, 5, 5}) == spans{{5, 3, 0}});
  CHECK(of({9, 7, 5, 3}) == spans{{9, 4, -2}});
}

TEST_CASE("two numbers are a span only of step 0 or 1", "[manifest]") {
  CHECK(of({4, 9}) == spans{{4, 1, 1}, {9, 1, 1}});
  CHECK(of({4, 5}) == spans{{4, 2, 1}});
  CHECK(of({6, 6}) == spans{{6, 2, 0}});
  CHECK(of({7, 0, 1, 2}) == spans{{7, 1, 1}, {0, 3, 1}});
  CHECK(of({0, 1, 2, 10, 11, 12}) == spans{{0, 3, 1}, {10, 3, 1}});
}

TEST_CASE("spans give back the numbers and none could be one with its neighbour", "[manifest]") {
  dice roll(8101);
  for (int round = 0; round < 500; ++round) {
    const auto numbers = roll.row(roll.between(0, 40), -3, 3);
    const spans all = of(numbers);
    REQUIRE(numbers_of(all) == numbers);
    for (std::size_t n = 0; n < all.size(); ++n) {
      REQUIRE_FALSE(broken(all[n]));
      if (n > 0) REQUIRE_FALSE(continues(all[n - 1], all[n]));
    }
  }
}

TEST_CASE("lines give the spans that their numbers give", "[manifest]") {
  dice roll(8102);
  for (int round = 0; round < 1000; ++round) {
    manifest::span_builder lines;
    std::vector<index_t> numbers;
    for (index_t piece = roll.between(0, 5); piece > 0; --piece) {
      const index_t first = roll.between(-4, 8);
      const index_t count = roll.between(0, 9);
      const index_t step = roll.between(0, 1);
      lines.add_line(first, count, step);
      for (index_t n = 0; n < count; ++n) numbers.push_back(first + n * step);
    }
    REQUIRE(std::move(lines).finish() == of(numbers));
  }
}

TEST_CASE("a long line takes constant time", "[manifest]") {
  manifest::span_builder all;
  all.add_line(-5, index_t{1} << 60, 1);
  CHECK(std::move(all).finish() == spans{{-5, index_t{1} << 60, 1}});
}

TEST_CASE("a span that is empty or leaves the positions is broken", "[manifest]") {
  CHECK(broken(span{3, 0, 1})->key == "count");
  CHECK(broken(span{position_limit + 1, 1, 1})->key == "first");
  CHECK(broken(span{-position_limit - 1, 1, 1})->key == "first");
  CHECK(broken(span{3, 1, 4})->key == "step");
  CHECK(broken(span{position_limit, 2, 1})->key == "count");
  CHECK(broken(span{0, index_t{1} << 40, index_t{1} << 40})->key == "count");
  CHECK_FALSE(broken(span{position_limit, 1, 1}));
  CHECK_FALSE(broken(span{position_limit, 3, -7}));
  CHECK(broken(manifest::run<index_t>{0, 5})->key == "count");
  CHECK_FALSE(broken(manifest::run<index_t>{1, 5}));
}

TEST_CASE("equal neighbours are one run", "[manifest]") {
  manifest::runs<index_t> all;
  for (const index_t value : {4, 4, 9, 4, 4, 4}) add_run<index_t>(all, 1, value);
  add_run<index_t>(all, 0, 7);
  CHECK(all == manifest::runs<index_t>{{2, 4}, {1, 9}, {3, 4}});
  CHECK(rows_of(all) == 6);
}

}  // namespace span_test
