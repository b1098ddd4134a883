// SPDX-License-Identifier: MIT
#include <posgeo/coordinate/log_bucket.hpp>

#include <algorithm>
#include <limits>

#include "support/catch.hpp"
#include "support/random_calls.hpp"
#include "support/refusal.hpp"

namespace log_bucket_test {

using namespace posgeo;
using namespace posgeo::test;
using coordinate::beyond_max_position;
using coordinate::log_bucket;
using coordinate::log_bucket_settings;

/// A product of powers, in base 10^9, lowest digits first.
class decimal {
 public:
  decimal& times_power(index_t base, index_t exponent) {
    for (index_t n = 0; n < exponent; ++n) {
      index_t carry = 0;
      for (index_t& digit : digits_) {
        carry += digit * base;
        digit = carry % unit;
        carry /= unit;
      }
      for (; carry > 0; carry /= unit) digits_.push_back(carry % unit);
    }
    return *this;
  }
  [[nodiscard]] bool at_most(const decimal& other) const {
    if (digits_.size() != other.digits_.size()) return digits_.size() < other.digits_.size();
    return !std::lexicographical_compare(other.digits_.rbegin(), other.digits_.rend(), digits_.rbegin(),
                                         digits_.rend());
  }

 private:
  static constexpr index_t unit = 1'000'000'000;
  std::vector<index_t> digits_{1};
};

/// mid plus the smallest n with (distance / mid)^(mid - 1) <= ((max_position - 1) / mid)^n, by whole numbers.
index_t by_formula(const log_bucket_settings& s, index_t distance) {
  const index_t mid = s.num_buckets / 2;
  const index_t last = s.max_position - 1;
  if (s.beyond == beyond_max_position::clamped) distance = std::min(distance, last);
  if (distance <= mid) return distance;
  decimal left;
  left.times_power(distance, mid - 1);
  decimal right;
  right.times_power(mid, mid - 1);
  for (index_t n = 0;; ++n) {
    if (left.at_most(right)) return mid + n;
    left.times_power(mid, 1);
    right.times_power(last, 1);
  }
}

/// The bucket of a key that far behind its query.
index_t behind(const log_bucket& bucket, index_t distance) { return bucket(relative_offset{-distance}); }

void check_formula(const log_bucket_settings& s, index_t distance) {
  const log_bucket bucket(s);
  CAPTURE(index_t{s.num_buckets}, index_t{s.max_position}, distance);
  REQUIRE(behind(bucket, distance) == by_formula(s, distance));
  REQUIRE(behind(bucket, -distance) == -by_formula(s, distance));
}

TEST_CASE("log buckets equal the formula in exact arithmetic for random settings", "[log_bucket]") {
  dice roll(601);
  for (int round = 0; round < 150; ++round) {
    const index_t buckets = 2 * roll.between(2, 24);
    const index_t reach = buckets / 2 + 1 + roll.between(1, 300);
    for (const auto beyond : {beyond_max_position::clamped, beyond_max_position::runs_on}) {
      const log_bucket_settings s{.num_buckets = buckets, .max_position = reach, .beyond = beyond};
      if (!log_bucket::check(s).empty()) continue;
      for (int n = 0; n < 12; ++n) check_formula(s, roll.between(0, 2 * reach));
      for (const index_t d : {index_t{0}, buckets / 2, buckets / 2 + 1, reach - 2, reach - 1, reach, reach + 1}) {
        check_formula(s, d);
      }
    }
  }
}

TEST_CASE("log buckets whose edges are whole numbers are exact there", "[log_bucket]") {
  // mid 4, (32 / 4)^(1 / 3) = 2: edges 8, 16, 32, 64, ...
  const log_bucket_settings doubling{.num_buckets = 8, .max_position = 33, .beyond = beyond_max_position::runs_on};
  const log_bucket bucket(doubling);
  for (index_t n = 1; n < 20; ++n) {
    CHECK(behind(bucket, index_t{4} << n) == 4 + n);
    CHECK(behind(bucket, (index_t{4} << n) + 1) == 4 + n + 1);
  }
  // mid 3, (40 - 1) / 3 = 13 in 2 steps: 39 and 39 * 13 are edges, the square roots between them are not whole.
  const log_bucket thirteen({.num_buckets = 6, .max_position = 40, .beyond = beyond_max_position::runs_on});
  CHECK(std::vector<index_t>(thirteen.edges().begin(), thirteen.edges().begin() + 4) ==
        std::vector<index_t>{10, 39, 140, 507});
  // Settings at which logarithms in float32 or in double fall on the wrong side.
  for (const auto& [buckets, reach, distance] :
       {std::array<index_t, 3>{18, 65, 24}, {10, 400, 399}, {32, 129, 32}, {32, 129, 64}}) {
    check_formula({.num_buckets = buckets, .max_position = reach, .beyond = beyond_max_position::clamped}, distance);
  }
}

TEST_CASE("the released log buckets equal the formula at every distance", "[log_bucket]") {
  const log_bucket_settings s{.num_buckets = 256, .max_position = 512, .beyond = beyond_max_position::clamped};
  const log_bucket bucket(s);
  for (index_t distance = 120; distance < 520; ++distance) REQUIRE(behind(bucket, distance) == by_formula(s, distance));
  CHECK(bucket.edges().size() == 126);
  CHECK(behind(bucket, 511) == 255);
}

TEST_CASE("log buckets grow with the distance and mirror each other", "[log_bucket]") {
  dice roll(607);
  for (int round = 0; round < 60; ++round) {
    const index_t buckets = 2 * roll.between(2, 200);
    const index_t reach = buckets + roll.between(0, 4000);
    for (const auto beyond : {beyond_max_position::clamped, beyond_max_position::runs_on}) {
      const log_bucket bucket({.num_buckets = buckets, .max_position = reach, .beyond = beyond});
      index_t last = 0;
      for (index_t distance = 1; distance < 3 * reach; distance += roll.between(1, 50)) {
        const index_t here = behind(bucket, distance);
        REQUIRE(here >= last);
        REQUIRE(here <= distance);
        REQUIRE(behind(bucket, -distance) == -here);
        last = here;
      }
    }
  }
}

TEST_CASE("beyond max position log buckets stop or run on, as named", "[log_bucket]") {
  const auto at = [](beyond_max_position beyond) {
    return log_bucket({.num_buckets = 16, .max_position = 64, .beyond = beyond});
  };
  const log_bucket clamped = at(beyond_max_position::clamped);
  const log_bucket running = at(beyond_max_position::runs_on);
  for (index_t distance = 0; distance < 64; ++distance) CHECK(behind(clamped, distance) == behind(running, distance));
  CHECK(behind(clamped, 63) == 15);
  CHECK(behind(clamped, 64) == 15);
  CHECK(behind(running, 64) == 16);
  for (const index_t far : {index_t{1} << 40, 2 * position_limit, std::numeric_limits<index_t>::max()}) {
    CHECK(behind(clamped, far) == 15);
    CHECK(behind(running, far) == behind(running, index_t{1} << 31));
    CHECK(clamped(relative_offset{far}) == -15);
  }
}

TEST_CASE("log bucket settings without room are refused", "[log_bucket]") {
  const auto refused = [](index_t buckets, index_t reach, beyond_max_position beyond = beyond_max_position::clamped) {
    const log_bucket_settings s{.num_buckets = buckets, .max_position = reach, .beyond = beyond};
    if (log_bucket::check(s).empty()) {
      CHECK_NOTHROW(log_bucket{s});
      return false;
    }
    CHECK(refusal([&] { return log_bucket{s}; }).code() == errc::bucket_settings);
    return true;
  };
  constexpr auto runs_on = beyond_max_position::runs_on;
  CHECK(refused(0, 512));
  CHECK(refused(-8, 512));
  CHECK(refused(2, 512));
  CHECK_FALSE(refused(4, 512));
  CHECK(refused(9, 512));
  CHECK(refused(8, 4));
  CHECK(refused(8, 5));
  CHECK_FALSE(refused(8, 6));
  CHECK(refused(8, -1));
  CHECK_FALSE(refused(8, index_t{1} << 31));
  CHECK(refused(8, (index_t{1} << 31) + 1));
  CHECK(refused((index_t{1} << 13) + 2, index_t{1} << 20));
  CHECK_FALSE(refused(512, 1024, runs_on));
  CHECK_FALSE(refused(1024, 514));
  CHECK(refused(1024, 514, runs_on));
}

}  // namespace log_bucket_test
