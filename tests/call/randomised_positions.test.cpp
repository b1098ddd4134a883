// SPDX-License-Identifier: MIT
#include <posgeo/call/randomised_positions.hpp>

#include <algorithm>
#include <array>
#include <functional>
#include <map>

#include "support/catch.hpp"
#include "support/refusal.hpp"

namespace randomised_positions_test {

using namespace posgeo;
using namespace posgeo::test;
using call::random_ordered_positions;

TEST_CASE("the generator gives the published numbers of splitmix64", "[randomised_positions]") {
  call::detail::splitmix64 generator(1234567);
  for (const std::uint64_t number :
       {6457827717110365317U, 3203168211198807973U, 9817491932198370423U, 4593380528125082431U}) {
    CHECK(generator() == number);
  }
}

TEST_CASE("randomised positions increase strictly within their range", "[randomised_positions]") {
  for (const std::uint64_t seed : {0U, 7U, 99U}) {
    for (const auto& [rows, most] : {std::pair<index_t, index_t>{0, 0}, {0, 5}, {1, 1}, {13, 14}, {40, 2048}}) {
      const auto drawn = random_ordered_positions({.rows = rows, .max_position = most, .seed = seed});
      REQUIRE(std::cmp_equal(drawn.size(), rows));
      CHECK(std::adjacent_find(drawn.begin(), drawn.end(), std::greater_equal<>{}) == drawn.end());
      if (rows > 0) CHECK((drawn.front() >= 0 && drawn.back() < most));
    }
  }
}

TEST_CASE("randomised positions without room for gaps are a count", "[randomised_positions]") {
  const auto drawn = random_ordered_positions({.rows = 9, .max_position = 9, .seed = 3U});
  for (index_t k = 0; k < 9; ++k) CHECK(drawn[static_cast<std::size_t>(k)] == k);
}

TEST_CASE("a seed repeats its positions and another seed does not", "[randomised_positions]") {
  const auto of = [](std::uint64_t seed) {
    return random_ordered_positions({.rows = 24, .max_position = 1000, .seed = seed});
  };
  CHECK(of(5) == of(5));
  CHECK(of(5) != of(6));
}

TEST_CASE("every subset is drawn equally often", "[randomised_positions]") {
  std::map<std::vector<index_t>, int> seen;
  constexpr int draws = 20000;
  for (std::uint64_t seed = 0; seed < draws; ++seed) {
    ++seen[random_ordered_positions({.rows = 2, .max_position = 5, .seed = seed})];
  }
  REQUIRE(seen.size() == 10);  // 5 over 2
  constexpr double expected = draws / 10.0;
  double chi_square = 0.0;
  for (const auto& [subset, count] : seen) chi_square += (count - expected) * (count - expected) / expected;
  CHECK(chi_square < 33.7);  // nine degrees of freedom exceed it once in ten thousand
}

TEST_CASE("a call of randomised positions has one draw for each seed", "[randomised_positions]") {
  const std::array<std::uint64_t, 3> seeds{11, 4, 11};
  const auto call = call::randomised_positions({.seeds = seeds, .rows = 6, .max_position = 50});
  REQUIRE(call.batch() == 3);
  const auto& space = call.query_space();
  for (index_t b = 0; b < 3; ++b) {
    const auto expected =
        random_ordered_positions({.rows = 6, .max_position = 50, .seed = seeds[static_cast<std::size_t>(b)]});
    for (index_t row = 0; row < 6; ++row) {
      CHECK(space.at(b, row).value() == expected[static_cast<std::size_t>(row)]);
      CHECK(call.key_space().at(b, row) == space.at(b, row));
      CHECK(space.sequence(b, row) == b);
      CHECK(space.at(2, row) == space.at(0, row));
    }
  }
}

TEST_CASE("randomised positions refuse what does not fit", "[randomised_positions]") {
  const auto refused = [](index_t rows, index_t most) {
    return refusal([&] { return random_ordered_positions({.rows = rows, .max_position = most, .seed = 1U}); }).code();
  };
  CHECK(refused(10, 9) == errc::position_rule);
  CHECK(refused(-1, 9) == errc::position_rule);
  CHECK(refused(0, -1) == errc::position_rule);
  CHECK(refused(1, position_limit + 1) == errc::position_rule);
  const std::vector<std::uint64_t> none;
  CHECK(refusal([&] { return call::randomised_positions({.seeds = none, .rows = 2, .max_position = 9}); }).code() ==
        errc::empty_batch);
}

}  // namespace randomised_positions_test
