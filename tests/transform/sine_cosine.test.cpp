// SPDX-License-Identifier: MIT
#include <posgeo/transform/sine_cosine.hpp>

#include <algorithm>
#include <random>

#include "support/catch.hpp"

namespace sine_cosine_test {

using posgeo::transform::quick_angle_limit;
using posgeo::transform::quick_sine_cosine;

/// The larger relative error of the two, against wider arithmetic.
double error_at(double angle) {
  const auto [sine, cosine] = quick_sine_cosine(angle);
  const long double wide = static_cast<long double>(angle);
  const auto error = [](double got, long double exact) {
    if (exact == 0.0L) return got == 0.0 ? 0.0 : 1.0;
    return static_cast<double>(std::abs((static_cast<long double>(got) - exact) / exact));
  };
  return std::max(error(sine, std::sin(wide)), error(cosine, std::cos(wide)));
}

TEST_CASE("quick sines and cosines are right to 1e-13 over their whole range", "[sine_cosine]") {
  std::mt19937_64 engine(981);
  double worst = 0.0;
  for (const double limit : {1.0, 10.0, 1000.0, quick_angle_limit}) {
    std::uniform_real_distribution<double> angle(-limit, limit);
    for (int n = 0; n < 40000; ++n) worst = std::max(worst, error_at(angle(engine)));
  }
  for (const double end : {0.0, 1e-300, 1e-9, quick_angle_limit}) {
    worst = std::max({worst, error_at(end), error_at(-end)});
  }
  CHECK(worst < 1e-13);
}

TEST_CASE("quick sines and cosines keep their digits where one of them nearly vanishes", "[sine_cosine]") {
  const double quarter = std::acos(0.0);
  double worst = 0.0;
  for (int n = 1; n < 1000000; n += 37) {
    const double close = static_cast<double>(n) * quarter;
    for (const double angle : {close, std::nextafter(close, 0.0), std::nextafter(close, 1e9), close + quarter / 2.0}) {
      worst = std::max({worst, error_at(angle), error_at(-angle)});
    }
  }
  CHECK(worst < 1e-13);
}

}  // namespace sine_cosine_test
