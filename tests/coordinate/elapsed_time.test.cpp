// SPDX-License-Identifier: MIT
#include <posgeo/coordinate/elapsed_time.hpp>

#include <limits>

#include "support/calls.hpp"
#include "support/catch.hpp"
#include "support/refusal.hpp"

namespace elapsed_time_test {

using namespace posgeo;
using namespace posgeo::test;
using coordinate::clock_name;
using coordinate::elapsed_time;
using coordinate::time_column;
using coordinate::time_unit;
using stamps = std::vector<std::optional<index_t>>;

const clock_name unix_utc("unix utc");

time_column column_of(const stamps& values, time_unit unit, const clock_name& clock = unix_utc) {
  std::vector<index_t> positions;
  for (std::size_t n = 0; n < values.size(); ++n) positions.push_back(static_cast<index_t>(n));
  return {{row_identity::of(call_at(positions).query_space()), values}, unit, clock};
}

elapsed_time scale(time_unit stamp_unit, index_t origin, time_unit unit) {
  return elapsed_time({.clock = unix_utc, .stamp_unit = stamp_unit, .origin = origin, .unit = unit});
}

TEST_CASE("elapsed time is the difference over the unit", "[elapsed_time]") {
  CHECK(scale(time_unit::seconds, 30, time_unit::seconds)(97) == 67.0);
  CHECK(scale(time_unit::seconds, 30, time_unit::minutes)(75) == 0.75);
  CHECK(scale(time_unit::milliseconds, -500, time_unit::seconds)(-2000) == -1.5);
  CHECK(scale(time_unit::hours, 5, time_unit::seconds)(7) == 7200.0);
  CHECK(scale(time_unit::days, 0, time_unit::hours)(3) == 72.0);
  CHECK(scale(time_unit::microseconds, 0, time_unit::nanoseconds)(11) == 11000.0);
}

TEST_CASE("the difference is formed before it is rounded", "[elapsed_time]") {
  const index_t now = 1790000000123456789;
  CHECK(static_cast<double>(now + 1) - static_cast<double>(now) == 0.0);  // what a double difference would give
  CHECK(scale(time_unit::nanoseconds, now, time_unit::nanoseconds)(now + 1) == 1.0);
  CHECK(scale(time_unit::nanoseconds, now, time_unit::seconds)(now + 1) == 1e-9);
}

TEST_CASE("a time that double cannot tell from the next is refused", "[elapsed_time]") {
  const auto found_at = [](const elapsed_time& time, index_t stamp) {
    violations found;
    time.expect(stamp, "time", "stamp", found);
    return codes(found);
  };
  const std::vector refused{errc::position_precision};
  const elapsed_time seconds = scale(time_unit::seconds, 7, time_unit::seconds);
  CHECK(found_at(seconds, 7 + angle_position_limit).empty());
  CHECK(found_at(seconds, 8 + angle_position_limit) == refused);
  CHECK(found_at(seconds, 6 - angle_position_limit) == refused);
  CHECK(found_at(seconds, std::numeric_limits<index_t>::min()) == refused);
  const elapsed_time multiplied = scale(time_unit::seconds, 0, time_unit::milliseconds);
  CHECK(found_at(multiplied, angle_position_limit / 1000).empty());
  CHECK(found_at(multiplied, angle_position_limit / 1000 + 1) == refused);
  // A quotient is rounded: the last stamps that pass have a tau each, and 2^52 further on they have not.
  const elapsed_time divided = scale(time_unit::milliseconds, 0, time_unit::seconds);
  constexpr index_t half = angle_position_limit / 2;
  CHECK(found_at(divided, half).empty());
  CHECK(found_at(divided, -half).empty());
  CHECK(found_at(divided, half + 1) == refused);
  CHECK(found_at(divided, -half - 1) == refused);
  index_t alike = 0;
  for (index_t n = 0; n < 2000; ++n) {
    CHECK(divided(half - n) != divided(half - n - 1));
    alike += divided(2 * half - n) == divided(2 * half - n - 1) ? 1 : 0;
  }
  CHECK(alike > 0);
  const auto beyond = [] { return scale(time_unit::seconds, position_limit + 1, time_unit::seconds); };
  CHECK(refusal(beyond).code() == errc::position_overflow);
}

TEST_CASE("another unit or clock is refused", "[elapsed_time]") {
  const elapsed_time time = scale(time_unit::seconds, 0, time_unit::hours);
  const auto found_in = [&](const time_column& column) {
    violations found;
    time.expect(column, "time", found);
    return codes(found);
  };
  CHECK(found_in(column_of({4, 9}, time_unit::seconds)).empty());
  CHECK(found_in(column_of({4, 9}, time_unit::milliseconds)) == std::vector{errc::unit_mismatch});
  CHECK(found_in(column_of({4, 9}, time_unit::seconds, clock_name("recording"))) == std::vector{errc::unit_mismatch});
}

TEST_CASE("conversion keeps every moment or refuses", "[elapsed_time]") {
  const auto seconds = column_of({-3, std::nullopt, 120}, time_unit::seconds);
  const auto fine = in_unit(seconds, time_unit::milliseconds);
  CHECK(fine.unit == time_unit::milliseconds);
  CHECK(fine.stamps.values() == stamps{-3000, std::nullopt, 120000});
  CHECK(fine.stamps.rows() == seconds.stamps.rows());
  CHECK(in_unit(fine, time_unit::seconds).stamps.values() == seconds.stamps.values());
  CHECK(refusal([&] { return in_unit(seconds, time_unit::minutes); }).code() == errc::unit_mismatch);
  CHECK(in_unit(column_of({-120}, time_unit::seconds), time_unit::minutes).stamps.values() == stamps{-2});
  for (const index_t far : {index_t{1} << 53, std::numeric_limits<index_t>::min()}) {
    CHECK(refusal([&] { return in_unit(column_of({far}, time_unit::seconds), time_unit::nanoseconds); }).code() ==
          errc::position_overflow);
  }
}

TEST_CASE("another clock shows other stamps of the same moments", "[elapsed_time]") {
  const clock_name local("recording");
  const auto moved = on_clock(column_of({1005, std::nullopt}, time_unit::seconds), local, -1000);
  CHECK(moved.clock == local);
  CHECK(moved.stamps.values() == stamps{5, std::nullopt});
  const auto again = column_of({5}, time_unit::seconds, local);
  CHECK(on_clock(again, local, 0).stamps.values() == stamps{5});
  CHECK(refusal([&] { return on_clock(again, local, 3); }).code() == errc::unit_mismatch);
  CHECK(refusal([] { return clock_name(""); }).code() == errc::missing_value);
  const auto overflowing = [&] { return on_clock(column_of({position_limit}, time_unit::days), local, 1); };
  CHECK(refusal(overflowing).code() == errc::position_overflow);
}

}  // namespace elapsed_time_test
