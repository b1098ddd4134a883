// SPDX-License-Identifier: MIT
#include <posgeo/coordinate/grid_selection.hpp>
#include <posgeo/encode/time2vec.hpp>

#include <cmath>
#include <string>

#include "support/catch.hpp"
#include "support/compare.hpp"
#include "support/encoded.hpp"
#include "support/random.hpp"
#include "support/refusal.hpp"

namespace time2vec_test {

using namespace posgeo;
using namespace posgeo::test;
using coordinate::clock_name;
using coordinate::elapsed_time;
using coordinate::time_column;
using coordinate::time_unit;
using encode::linear_term;
using encode::missing_time;
using encode::periodic;
using encode::time2vec;
using stamps = std::vector<std::optional<index_t>>;

using at_times = encode::of_rows<time2vec<float>, std::optional<index_t>>;
static_assert(state_encoder<at_times, float> && state_encoder<at_times, double>);

constexpr index_t width = 5;
const clock_name unix_utc("unix utc");
const index_t origin = 1790000000;  // seconds

table<double> row_of(unsigned seed, index_t columns = width) { return random_table(1, columns, seed); }
const table<double> omega = row_of(361);
const table<double> phi = row_of(362);

encode::time2vec_settings settings(periodic function = periodic::sine, linear_term linear = linear_term::first,
                                   missing_time missing = missing_time::refused) {
  return {.time = elapsed_time(
              {.clock = unix_utc, .stamp_unit = time_unit::seconds, .origin = origin, .unit = time_unit::hours}),
          .function = function,
          .linear = linear,
          .missing = missing};
}

time_column times(const position_call& call, const stamps& values, time_unit unit = time_unit::seconds,
                  const clock_name& clock = unix_utc) {
  return {{row_identity::of(call.query_space()), values}, unit, clock};
}

TEST_CASE("one column is linear in time and the others periodic", "[time2vec]") {
  const auto call = call_at({4, 1, 9});
  const stamps when{origin + 1800, origin - 36000, origin};
  for (const periodic function : {periodic::sine, periodic::cosine}) {
    for (const linear_term linear : {linear_term::first, linear_term::last}) {
      const time2vec<double> encoder(settings(function, linear), {.omega = omega, .phi = phi});
      const auto states = encoded(encoder.at(times(call, when)), call);
      const index_t straight = linear == linear_term::first ? 0 : width - 1;
      for (index_t row = 0; row < 3; ++row) {
        const double tau = static_cast<double>(*when[static_cast<std::size_t>(row)] - origin) / 3600.0;
        for (index_t c = 0; c < width; ++c) {
          const double phase = omega(0, c) * tau + phi(0, c);
          const double bent = function == periodic::sine ? std::sin(phase) : std::cos(phase);
          CHECK(states(0, row, c) == (c == straight ? phase : bent));
        }
      }
    }
  }
}

TEST_CASE("milliseconds for seconds multiply every phase by a thousand and are refused", "[time2vec]") {
  const auto call = call_at({0, 1});
  const time2vec<double> encoder(settings(), {.omega = omega, .phi = phi});
  const auto right = times(call, {origin + 7, origin + 5000});
  const auto fine = in_unit(right, time_unit::milliseconds);
  CHECK(refusal([&] { return encoder.at(fine); }).code() == errc::unit_mismatch);
  const auto converted = encoded(encoder.at(in_unit(fine, time_unit::seconds)), call);
  const auto stated = encoded(encoder.at(right), call);
  CHECK(largest_difference(converted.values(), stated.values()) == 0.0);

  // what passes if the unit is not declared: stamps of milliseconds under frequencies made for seconds
  const stamps elapsed{7, 5000};
  const auto linear_phase = [&](index_t times_each) {
    const elapsed_time since_start(
        {.clock = clock_name("recording"), .stamp_unit = time_unit::seconds, .origin = 0, .unit = time_unit::seconds});
    const time2vec<double> unaware({.time = since_start,
                                    .function = periodic::sine,
                                    .linear = linear_term::last,
                                    .missing = missing_time::refused},
                                   {.omega = omega, .phi = phi});
    const auto mistaken =
        times(call, {*elapsed[0] * times_each, *elapsed[1] * times_each}, time_unit::seconds, clock_name("recording"));
    const auto states = encoded(unaware.at(mistaken), call);
    return std::vector{states(0, 0, width - 1) - phi(0, width - 1), states(0, 1, width - 1) - phi(0, width - 1)};
  };
  const auto seconds = linear_phase(1);
  const auto milliseconds = linear_phase(1000);
  for (std::size_t n = 0; n < 2; ++n) CHECK(difference(milliseconds[n], 1000.0 * seconds[n]) < 1e-9);
}

TEST_CASE("times of another clock are refused until they are named as those of this one", "[time2vec]") {
  const auto call = call_at({0, 1});
  const time2vec<double> encoder(settings(), {.omega = omega, .phi = phi});
  const auto recorded = times(call, {12, 90}, time_unit::seconds, clock_name("recording"));
  CHECK(refusal([&] { return encoder.at(recorded); }).code() == errc::unit_mismatch);
  const auto moved = encoded(encoder.at(on_clock(recorded, unix_utc, origin)), call);
  const auto stated = encoded(encoder.at(times(call, {origin + 12, origin + 90})), call);
  CHECK(largest_difference(moved.values(), stated.values()) == 0.0);
}

TEST_CASE("a missing time is refused or follows the named rule", "[time2vec]") {
  const auto call = call_at({0, 1});
  const auto gap = times(call, {origin + 7, std::nullopt});
  const time2vec<double> strict(settings(), {.omega = omega, .phi = phi});
  CHECK(refusal([&] { return strict.at(gap).compile<float>(call); }).code() == errc::missing_value);

  const time2vec<double> zero(settings(periodic::sine, linear_term::first, missing_time::zero_row),
                              {.omega = omega, .phi = phi});
  const auto nothing = encoded(zero.at(gap), call);
  CHECK(all_equal(nothing.view().row(0, 1), 0.0));
  CHECK(nothing(0, 0, 0) != 0.0);

  const auto own = row_of(363);
  const time2vec<double> learned(settings(periodic::sine, linear_term::first, missing_time::learned_row),
                                 {.omega = omega, .phi = phi, .missing_row = own});
  const auto filled = encoded(learned.at(gap), call);
  CHECK(largest_difference(filled.view().row(0, 1), own.row(0)) == 0.0);
}

TEST_CASE("sorted events take their times along or are refused", "[time2vec]") {
  const auto call = call_at({0, 1, 2, 3});
  const time2vec<double> encoder(settings(), {.omega = omega, .phi = phi});
  const auto column = times(call, {origin + 70, origin + 10, origin + 40, origin + 20});
  const auto before = encoded(encoder.at(column), call);
  const std::vector<index_t> by_time{1, 3, 2, 0};
  const auto sorted = call_at(by_time);
  CHECK(refusal([&] { return encoder.at(column).compile<float>(sorted); }).code() == errc::row_identity);
  const time_column moved{coordinate::selected(column.stamps, by_time), column.unit, column.clock};
  const auto after = encoded(encoder.at(moved), sorted);
  for (index_t row = 0; row < 4; ++row) {
    CHECK(largest_difference(after.view().row(0, row), before.view().row(0, by_time[static_cast<std::size_t>(row)])) ==
          0.0);
  }
}

TEST_CASE("elapsed time is no event number", "[time2vec]") {
  const auto call = call_at({0, 1});
  const time2vec<double> encoder(settings(), {.omega = omega, .phi = phi});
  const auto at_once = encoded(encoder.at(times(call, {origin + 9, origin + 9})), call);
  CHECK(largest_difference(at_once.view().row(0, 0), at_once.view().row(0, 1)) == 0.0);
  const auto apart = encoded(encoder.at(times(call, {origin + 9, origin + 9000})), call);
  CHECK(largest_difference(apart.view().row(0, 0), apart.view().row(0, 1)) > 0.1);
}

TEST_CASE("time2vec refuses parameters that do not fit each other", "[time2vec]") {
  const auto refused = [](const encode::time2vec_settings& s, const table<double>& w, const table<double>& p,
                          const std::optional<table<double>>& row) {
    return refusal([&] { return time2vec<double>(s, {.omega = w, .phi = p, .missing_row = row}); }).code();
  };
  CHECK(refused(settings(), omega, row_of(364, 4), std::nullopt) == errc::shape_mismatch);
  CHECK(refused(settings(), row_of(365, 1), row_of(366, 1), std::nullopt) == errc::shape_mismatch);
  const table<double> two_rows(random_values<double>(10, 367), 2, 5);
  CHECK(refused(settings(), two_rows, phi, std::nullopt) == errc::shape_mismatch);
  const auto learned = settings(periodic::sine, linear_term::first, missing_time::learned_row);
  CHECK(refused(learned, omega, phi, std::nullopt) == errc::missing_value);
  CHECK(refused(learned, omega, phi, row_of(368, 6)) == errc::shape_mismatch);
  CHECK(refused(settings(), omega, phi, row_of(369)) == errc::missing_value);
}

TEST_CASE("time2vec refuses times and numbers that cannot be held", "[time2vec]") {
  const auto call = call_at({0});
  const time2vec<double> encoder(settings(), {.omega = omega, .phi = phi});
  const auto far = encoder.at(times(call, {origin + angle_position_limit + 1}));
  const error too_far = refusal([&] { return far.compile<double>(call); });
  CHECK(too_far.code() == errc::position_precision);
  CHECK(std::string(too_far.what()).find("time of row 0 in entry 0") != std::string::npos);

  const std::vector<double> steep{1e38, 1.0};
  const std::vector<double> flat{0.0, 0.0};
  const time2vec<double> large(settings(), {.omega = table<double>(steep, 1, 2), .phi = table<double>(flat, 1, 2)});
  const auto at_ten_hours = large.at(times(call, {origin + 36000}));
  CHECK(refusal([&] { return at_ten_hours.compile<float>(call); }).code() == errc::non_finite);
  CHECK_NOTHROW(at_ten_hours.compile<double>(call));

  const auto learned = settings(periodic::sine, linear_term::first, missing_time::learned_row);
  const std::vector<double> too_large{1e39, 0.0};
  const time2vec<double> own(learned, {.omega = table<double>(flat, 1, 2),
                                       .phi = table<double>(flat, 1, 2),
                                       .missing_row = table<double>(too_large, 1, 2)});
  const auto without = own.at(times(call, {std::nullopt}));
  CHECK(refusal([&] { return without.compile<float>(call); }).code() == errc::non_finite);
}

}  // namespace time2vec_test
