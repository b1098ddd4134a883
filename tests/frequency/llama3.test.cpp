// SPDX-License-Identifier: MIT
#include <posgeo/frequency/llama3.hpp>

#include "support/catch.hpp"
#include "support/frequencies.hpp"
#include "support/refusal.hpp"

namespace llama3_test {

using namespace posgeo;
using namespace posgeo::test;
using frequency::geometric;
using frequency::llama3;

static_assert(frequency_rule<llama3>);

llama3 made(double factor, double low = 1.0, double high = 4.0, index_t original = 600, index_t rotary_dim = 34) {
  return llama3({.base = 20000.0,
                 .rotary_dim = rotary_dim,
                 .factor = factor,
                 .low_freq_factor = low,
                 .high_freq_factor = high,
                 .original_max_position = original});
}

TEST_CASE("llama3 keeps short waves, divides long ones and blends between", "[llama3]") {
  const geometric unscaled({.base = 20000.0, .rotary_dim = 34});
  const llama3 rule = made(5.0);
  int kept = 0;
  int blended = 0;
  int divided = 0;
  for (index_t pair = 0; pair < rule.pairs(); ++pair) {
    const double speed = unscaled.at(pair);
    const double wavelength = 2.0 * std::numbers::pi / speed;
    if (wavelength < 600.0 / 4.0) {
      CHECK(rule.at(pair) == speed);
      ++kept;
    } else if (wavelength > 600.0 / 1.0) {
      CHECK(rule.at(pair) == speed / 5.0);
      ++divided;
    } else {
      const double g = (600.0 / wavelength - 1.0) / (4.0 - 1.0);
      CHECK_THAT(rule.at(pair), WithinRel((1.0 - g) * speed / 5.0 + g * speed, 1e-14));
      ++blended;
    }
  }
  CHECK(kept > 2);
  CHECK(blended > 1);
  CHECK(divided > 2);
}

TEST_CASE("llama3 with a factor of one is geometric", "[llama3]") {
  CHECK(speeds_of(made(1.0)) == speeds_of(geometric({.base = 20000.0, .rotary_dim = 34})));
}

TEST_CASE("llama3 refuses bounds out of order and settings that are none", "[llama3]") {
  const auto refused = [](double factor, double low, double high, index_t original, index_t rotary_dim) {
    return refusal([&] { return made(factor, low, high, original, rotary_dim); }).code();
  };
  CHECK(refused(5.0, 4.0, 1.0, 600, 8) == errc::frequency_settings);
  CHECK(refused(5.0, 2.0, 2.0, 600, 8) == errc::frequency_settings);
  CHECK(refused(5.0, 0.0, 2.0, 600, 8) == errc::frequency_settings);
  CHECK(refused(5.0, 1.0, std::nan(""), 600, 8) == errc::frequency_settings);
  CHECK(refused(0.2, 1.0, 4.0, 600, 8) == errc::frequency_settings);
  CHECK(refused(5.0, 1.0, 4.0, 0, 8) == errc::frequency_settings);
  CHECK(refused(5.0, 1.0, 4.0, 600, 5) == errc::odd_width);
}

}  // namespace llama3_test
