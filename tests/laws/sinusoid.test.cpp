// SPDX-License-Identifier: MIT
#include <posgeo/encode/sinusoidal.hpp>

#include <cmath>
#include <functional>

#include "support/catch.hpp"
#include "support/compare.hpp"
#include "support/random.hpp"

namespace sinusoid_test {

using namespace posgeo;
using namespace posgeo::test;

constexpr index_t width = 12;
constexpr std::size_t n = width;

const encode::sinusoidal& paper() {
  static const encode::sinusoidal encoder({.width = width,
                                           .layout = encode::sinusoid_layout::interleaved,
                                           .exponent = encode::sinusoid_exponent::paper,
                                           .base = 50.0});
  return encoder;
}

std::vector<double> row(index_t position) {
  std::vector<double> out(n);
  paper().for_each_column(static_cast<double>(position),
                          [&](index_t c, double value) { out[static_cast<std::size_t>(c)] = value; });
  return out;
}

using square = std::vector<std::vector<double>>;

/// A(k): what moves every row by k, in one block for each pair of columns.
square shift_by(index_t k) {
  square a(n, std::vector<double>(n, 0.0));
  const auto& speeds = paper().frequencies();
  for (std::size_t pair = 0; pair < n / 2; ++pair) {
    const double angle = static_cast<double>(k) * speeds[pair];
    a[2 * pair][2 * pair] = a[2 * pair + 1][2 * pair + 1] = std::cos(angle);
    a[2 * pair][2 * pair + 1] = std::sin(angle);
    a[2 * pair + 1][2 * pair] = -std::sin(angle);
  }
  return a;
}

std::vector<double> times(const square& a, const std::vector<double>& x) {
  std::vector<double> out(n, 0.0);
  for (std::size_t r = 0; r < n; ++r) {
    for (std::size_t c = 0; c < n; ++c) out[r] += a[r][c] * x[c];
  }
  return out;
}

TEST_CASE("the squared norm of a sinusoid is half its width", "[laws]") {
  for (const index_t t : {0, 1, 17, -400, 99991}) CHECK_THAT(dot(row(t), row(t)), WithinAbs(width / 2.0, 1e-13));
}

TEST_CASE("a shift of sinusoids is one linear map that composes and keeps the norm", "[laws]") {
  for (const auto& [t, a, b] : {std::array<index_t, 3>{5, 3, 11}, {0, -7, 19}, {123, 40, -163}}) {
    CHECK(largest_difference(times(shift_by(a), row(t)), row(t + a)) < 1e-12);
    CHECK(largest_difference(times(shift_by(b), times(shift_by(a), row(t))), row(t + a + b)) < 1e-12);
    const auto x = random_values<double>(n, 61);  // a law of the matrices, not of their product with a sinusoid
    CHECK(largest_difference(times(shift_by(b), times(shift_by(a), x)), times(shift_by(a + b), x)) < 1e-12);
    CHECK(largest_difference(times(shift_by(-a), times(shift_by(a), x)), x) < 1e-12);
    const auto y = random_values<double>(n, 62);
    CHECK_THAT(dot(times(shift_by(a), x), y), WithinAbs(dot(x, times(shift_by(-a), y)), 1e-12));
    CHECK_THAT(dot(times(shift_by(a), x), times(shift_by(a), x)), WithinAbs(dot(x, x), 1e-12));
  }
}

TEST_CASE("the product of two sinusoids is the sum of the cosines of their distance", "[laws]") {
  for (const auto& [i, j] : {std::array<index_t, 2>{3, 8}, {70, 2}, {-5, 5}}) {
    double sum = 0.0;
    for (const double speed : paper().frequencies()) sum += std::cos(static_cast<double>(i - j) * speed);
    CHECK_THAT(dot(row(i), row(j)), WithinAbs(sum, 1e-12));
    CHECK_THAT(dot(row(i + 31), row(j + 31)), WithinAbs(sum, 1e-12));
  }
}

TEST_CASE("only maps that commute with the shift keep products translation invariant", "[laws]") {
  const auto score = [](const square& m, index_t i, index_t j) { return dot(row(i), times(m, row(j))); };
  const auto amount = random_values<double>(n, 63);
  square commuting(n, std::vector<double>(n, 0.0));  // a I + b J in each pair
  for (std::size_t pair = 0; pair < n / 2; ++pair) {
    commuting[2 * pair][2 * pair] = commuting[2 * pair + 1][2 * pair + 1] = amount[2 * pair];
    commuting[2 * pair][2 * pair + 1] = amount[2 * pair + 1];
    commuting[2 * pair + 1][2 * pair] = -amount[2 * pair + 1];
  }
  CHECK_THAT(score(commuting, 4 + 27, 9 + 27), WithinAbs(score(commuting, 4, 9), 1e-12));
  CHECK(std::abs(score(commuting, 4, 9) - score(commuting, 9, 4)) > 0.1);  // and it can tell directions apart

  square crossing = commuting;
  crossing[0][4] = 1.0;  // the fast sine of the query times a slower sine of the key
  CHECK(std::abs(score(crossing, 4 + 27, 9 + 27) - score(crossing, 4, 9)) > 0.1);

  square lopsided = commuting;
  lopsided[0][0] += 1.0;  // within one pair, but no longer a I + b J
  CHECK(std::abs(score(lopsided, 4 + 27, 9 + 27) - score(lopsided, 4, 9)) > 0.1);
}

}  // namespace sinusoid_test
