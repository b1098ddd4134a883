// SPDX-License-Identifier: MIT
#include <posgeo/coordinate/t5_bucket.hpp>

#include <cmath>
#include <limits>
#include <optional>

#include "support/catch.hpp"
#include "support/random_calls.hpp"
#include "support/refusal.hpp"

namespace {

using namespace posgeo;
using coordinate::bucket_direction;
using coordinate::odd_buckets;
using coordinate::t5_bucket;
using coordinate::t5_bucket_settings;
using posgeo::test::codes;
using posgeo::test::dice;
using posgeo::test::refusal;

__extension__ using wide = unsigned __int128;

wide power(index_t base, index_t exponent) {
  wide product = 1;
  for (index_t n = 0; n < exponent; ++n) product *= static_cast<wide>(base);
  return product;
}

/// Buckets of one direction.
index_t half_of(const t5_bucket_settings& s) {
  return s.direction == bucket_direction::bidirectional ? s.num_buckets / 2 : index_t{s.num_buckets};
}

/// The bucket of a distance by the formula, its logarithms compared as products of whole numbers:
/// step <= steps * log(n / exact) / log(reach / exact)  <=>  reach^step * exact^(steps - step) <= n^steps.
index_t by_formula(const t5_bucket_settings& s, index_t distance) {
  const index_t exact = half_of(s) / 2;
  const index_t steps = half_of(s) - exact;
  if (distance < exact) return distance;
  if (distance >= s.max_distance) return half_of(s) - 1;
  index_t step = 0;
  while (step + 1 < steps &&
         power(s.max_distance, step + 1) * power(exact, steps - step - 1) <= power(distance, steps)) {
    ++step;
  }
  return exact + step;
}

/// Whether by_formula's products fit in 128 bits.
bool fits(const t5_bucket_settings& s) {
  const index_t steps = half_of(s) - half_of(s) / 2;
  return static_cast<double>(steps) * std::log2(static_cast<double>(s.max_distance)) < 127.0;
}

/// The bucket of a distance behind the query.
index_t behind(const t5_bucket& bucket, index_t distance) { return bucket(relative_offset{-distance}); }

void check_formula(const t5_bucket_settings& s) {
  const t5_bucket bucket{s};
  for (index_t distance = 0; distance <= s.max_distance + 3; ++distance) {
    CAPTURE(index_t{s.num_buckets}, index_t{s.max_distance}, distance);
    REQUIRE(behind(bucket, distance) == by_formula(s, distance));
    const bool both = s.direction == bucket_direction::bidirectional;
    if (distance > 0) {
      REQUIRE(bucket(relative_offset{distance}) == (both ? half_of(s) + by_formula(s, distance) : 0));
    }
  }
}

std::optional<t5_bucket_settings> random_settings(dice& roll) {
  const auto direction = roll.chance(0.5) ? bucket_direction::bidirectional : bucket_direction::causal;
  const index_t buckets = roll.between(direction == bucket_direction::bidirectional ? 4 : 2, 44);
  const index_t exact = buckets / (direction == bucket_direction::bidirectional ? 4 : 2);
  const t5_bucket_settings s{.num_buckets = buckets,
                             .max_distance = exact + roll.between(1, 150),
                             .direction = direction,
                             .odd = odd_buckets::last_unused};
  return fits(s) ? std::optional{s} : std::nullopt;
}

TEST_CASE("buckets equal the formula in exact arithmetic for random settings", "[t5_bucket]") {
  dice roll(53);
  int tried = 0;
  for (int round = 0; round < 600; ++round) {
    const auto s = random_settings(roll);
    if (!s) continue;
    check_formula(*s);
    ++tried;
  }
  CHECK(tried > 400);
}

TEST_CASE("buckets equal the formula for the released settings", "[t5_bucket]") {
  check_formula({.num_buckets = 32, .max_distance = 128, .direction = bucket_direction::bidirectional});
  check_formula({.num_buckets = 32, .max_distance = 128, .direction = bucket_direction::causal});
  check_formula({.num_buckets = 32, .max_distance = 20, .direction = bucket_direction::causal});
  // Small settings whose powers meet often.
  for (index_t buckets = 4; buckets <= 24; buckets += 2) {
    for (const index_t reach : {8, 9, 16, 25, 27, 32, 36, 49, 64, 81, 100, 128, 256, 1024}) {
      const t5_bucket_settings s{
          .num_buckets = buckets, .max_distance = reach, .direction = bucket_direction::bidirectional};
      if (reach > buckets / 4 && fits(s)) check_formula(s);
    }
  }
}

TEST_CASE("the edges of 32 buckets over 128 tokens", "[t5_bucket]") {
  const t5_bucket both{{.num_buckets = 32, .max_distance = 128, .direction = bucket_direction::bidirectional}};
  CHECK(both.max_exact() == 8);
  CHECK(both.thresholds().size() == 7);
  CHECK(behind(both, 0) == 0);
  CHECK(behind(both, 7) == 7);
  CHECK(behind(both, 8) == 8);
  // 8 * 16^(step / 8): whole at every second step.
  for (const index_t step : {2, 4, 6}) {
    const index_t edge = 8 << (step / 2);
    CHECK(behind(both, edge - 1) == 8 + step - 1);
    CHECK(behind(both, edge) == 8 + step);
  }
  CHECK(behind(both, 127) == 15);
  CHECK(behind(both, 128) == 15);
  CHECK(both(relative_offset{1}) == 17);
  CHECK(both(relative_offset{128}) == 31);

  const t5_bucket causal{{.num_buckets = 32, .max_distance = 128, .direction = bucket_direction::causal}};
  CHECK(causal.max_exact() == 16);
  CHECK(behind(causal, 15) == 15);
  CHECK(behind(causal, 31) == 21);
  CHECK(behind(causal, 32) == 21);
  CHECK(behind(causal, 127) == 31);
  CHECK(causal(relative_offset{0}) == 0);
  CHECK(causal(relative_offset{1}) == 0);
}

TEST_CASE("distances where a logarithm in double falls on the wrong side", "[t5_bucket]") {
  const t5_bucket eighteen{{.num_buckets = 18, .max_distance = 128, .direction = bucket_direction::bidirectional}};
  CHECK(behind(eighteen, 8) == 5);
  CHECK(behind(eighteen, 16) == 6);
  CHECK(behind(eighteen, 64) == 8);
  CHECK(eighteen(relative_offset{8}) == 9 + 5);
  const t5_bucket causal{{.num_buckets = 36, .max_distance = 50, .direction = bucket_direction::causal}};
  CHECK(behind(causal, 30) == 27);
  CHECK(behind(causal, 29) == 26);
  const t5_bucket six{{.num_buckets = 6,
                       .max_distance = 100,
                       .direction = bucket_direction::bidirectional,
                       .odd = odd_buckets::refused}};
  CHECK(behind(six, 9) == 1);
  CHECK(behind(six, 10) == 2);
}

TEST_CASE("buckets grow with distance and the two directions mirror each other", "[t5_bucket]") {
  dice roll(59);
  for (int round = 0; round < 100; ++round) {
    const index_t buckets = roll.between(4, 200);
    const index_t reach = buckets + roll.between(0, 5000);
    const t5_bucket both{{.num_buckets = buckets,
                          .max_distance = reach,
                          .direction = bucket_direction::bidirectional,
                          .odd = odd_buckets::last_unused}};
    const t5_bucket causal{{.num_buckets = buckets, .max_distance = reach, .direction = bucket_direction::causal}};
    index_t last_both = 0;
    index_t last_causal = 0;
    for (index_t distance = 1; distance < reach + 10; distance += roll.between(1, 9)) {
      REQUIRE(behind(both, distance) >= last_both);
      REQUIRE(behind(causal, distance) >= last_causal);
      last_both = behind(both, distance);
      last_causal = behind(causal, distance);
      REQUIRE(both(relative_offset{distance}) == buckets / 2 + last_both);
    }
    REQUIRE(last_both == buckets / 2 - 1);
    REQUIRE(last_causal == buckets - 1);
  }
}

TEST_CASE("offsets without end fall into the last bucket", "[t5_bucket]") {
  const t5_bucket both{{.num_buckets = 32, .max_distance = 128, .direction = bucket_direction::bidirectional}};
  const t5_bucket causal{{.num_buckets = 32, .max_distance = 128, .direction = bucket_direction::causal}};
  for (const index_t far : {index_t{1} << 40, 2 * position_limit}) {
    CHECK(both(relative_offset{-far}) == 15);
    CHECK(both(relative_offset{far}) == 31);
    CHECK(causal(relative_offset{-far}) == 31);
    CHECK(causal(relative_offset{far}) == 0);
  }
}

TEST_CASE("an odd number of buckets leaves the last one unused when told to", "[t5_bucket]") {
  const t5_bucket odd{{.num_buckets = 33,
                       .max_distance = 128,
                       .direction = bucket_direction::bidirectional,
                       .odd = odd_buckets::last_unused}};
  const t5_bucket even{{.num_buckets = 32, .max_distance = 128, .direction = bucket_direction::bidirectional}};
  for (index_t offset = -200; offset <= 200; ++offset) {
    REQUIRE(odd(relative_offset{offset}) == even(relative_offset{offset}));
  }
}

TEST_CASE("settings without room for both ranges are refused", "[t5_bucket]") {
  const auto refused = [](index_t buckets, index_t reach, bucket_direction direction) {
    const t5_bucket_settings s{.num_buckets = buckets, .max_distance = reach, .direction = direction};
    const auto found = codes(t5_bucket::check(s));
    if (found.empty()) {
      CHECK_NOTHROW(t5_bucket{s});
    } else {
      CHECK(refusal([&] { return t5_bucket{s}; }).code() == errc::bucket_settings);
    }
    return !found.empty();
  };
  constexpr auto both = bucket_direction::bidirectional;
  constexpr auto causal = bucket_direction::causal;
  CHECK(refused(2, 128, both));
  CHECK(refused(3, 128, both));
  CHECK_FALSE(refused(4, 128, both));
  CHECK(refused(33, 128, both));
  CHECK(refused(0, 128, causal));
  CHECK(refused(1, 128, causal));
  CHECK_FALSE(refused(2, 128, causal));
  CHECK_FALSE(refused(33, 128, causal));
  CHECK(refused(-32, 128, both));
  CHECK(refused(32, 16, causal));
  CHECK_FALSE(refused(32, 17, causal));
  CHECK(refused(32, 8, both));
  CHECK_FALSE(refused(32, 9, both));
  CHECK(refused(32, -1, both));
  CHECK(refused((index_t{1} << 16) + 2, index_t{1} << 20, both));
  CHECK(refused(32, index_t{1} << 31, both));
  CHECK_FALSE(refused(32, (index_t{1} << 31) - 1, both));
}

TEST_CASE("large settings are built at once and the farthest offset has a bucket", "[t5_bucket]") {
  const t5_bucket large(
      {.num_buckets = 8192, .max_distance = (index_t{1} << 31) - 1, .direction = bucket_direction::causal});
  CHECK(std::is_sorted(large.thresholds().begin(), large.thresholds().end()));
  CHECK(large(relative_offset{std::numeric_limits<index_t>::min()}) == 8191);
}

}  // namespace
