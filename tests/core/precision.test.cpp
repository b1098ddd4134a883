// SPDX-License-Identifier: MIT
#include <posgeo/core/precision.hpp>

#include <cmath>
#include <limits>
#include <random>

#include "support/catch.hpp"
#include "support/refusal.hpp"

namespace {

using namespace posgeo;
using posgeo::test::codes;

struct format_bits {
  precision format;
  int bits;  ///< of the significand, the leading one included
};
constexpr format_bits formats[] = {
    {precision::bfloat16, 8}, {precision::binary16, 11}, {precision::binary32, 24}, {precision::binary64, 53}};

/// The nearest number with so many significant bits, ties to even; for normal numbers.
double nearest(double value, int bits) {
  int exponent = 0;
  const double fraction = std::frexp(value, &exponent);
  return std::ldexp(std::nearbyint(std::ldexp(fraction, bits)), exponent - bits);
}

TEST_CASE("each format first confuses two integers just beyond its significand", "[precision]") {
  for (const auto [format, bits] : formats) {
    const double last = std::ldexp(1.0, bits);
    CHECK(round_to(format, last - 1.0) == last - 1.0);
    CHECK(round_to(format, last) == last);
    if (format != precision::binary64) CHECK(round_to(format, last + 1.0) == last);
    CHECK(round_to(format, last + 2.0) == last + 2.0);
    CHECK(round_to(format, -last + 1.0) == -last + 1.0);
  }
  CHECK(round_to(precision::bfloat16, 257.0) == 256.0);
  CHECK(round_to(precision::binary16, 2049.0) == 2048.0);
  CHECK(round_to(precision::binary32, 16777217.0) == 16777216.0);
}

TEST_CASE("rounding to a format rounds once to the nearest, ties to even", "[precision]") {
  std::mt19937_64 engine(19);
  std::uniform_real_distribution<double> any(-4.0, -0.5);
  std::uniform_int_distribution<int> exponents(-10, 12);
  std::uniform_int_distribution<int> integers(1, 1 << 12);
  for (const auto [format, bits] : formats) {
    for (int round = 0; round < 2000; ++round) {
      const double value = std::ldexp(any(engine), exponents(engine));
      REQUIRE(round_to(format, value) == nearest(value, bits));
      // Midpoints of neighbouring numbers, and what lies less than a float's step beside them.
      const double near_tie = std::ldexp(2.0 * integers(engine) + 1.0, exponents(engine) / 2 - 5);
      for (const double nudge : {0.0, 0x1p-40, -0x1p-40}) {
        const double beside = near_tie * (1.0 + nudge);
        REQUIRE(round_to(format, beside) == nearest(beside, bits));
      }
    }
  }
}

TEST_CASE("rounding keeps infinities, NaN and signed zero and overflows to infinity", "[precision]") {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  for (const auto [format, bits] : formats) {
    CHECK(round_to(format, infinity) == infinity);
    CHECK(round_to(format, -infinity) == -infinity);
    CHECK(std::isnan(round_to(format, std::numeric_limits<double>::quiet_NaN())));
    CHECK(std::signbit(round_to(format, -0.0)));
    if (format != precision::binary64) CHECK(round_to(format, 1e300) == infinity);
  }
  CHECK(round_to(precision::binary16, 65504.0) == 65504.0);
  CHECK(round_to(precision::binary16, 65520.0) == infinity);
}

TEST_CASE("angles are refused beyond the integers that a double tells apart", "[precision]") {
  const auto refused = [](index_t p) {
    violations found;
    expect_distinct_angle(position{p}, "rotary", found);
    return codes(found);
  };
  constexpr index_t last = index_t{1} << 53;
  for (const index_t sign : {-1, 1}) {
    CHECK(refused(sign * last).empty());
    CHECK(refused(sign * (last + 1)) == std::vector{errc::position_precision});
    CHECK(refused(sign * position_limit) == std::vector{errc::position_precision});
  }
  CHECK(static_cast<double>(last) == static_cast<double>(last + 1));
}

}  // namespace
