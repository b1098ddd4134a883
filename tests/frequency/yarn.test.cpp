// SPDX-License-Identifier: MIT
#include <posgeo/frequency/yarn.hpp>

#include "support/catch.hpp"
#include "support/compare.hpp"
#include "support/frequencies.hpp"
#include "support/refusal.hpp"

namespace yarn_test {

using namespace posgeo;
using namespace posgeo::test;
using frequency::geometric;
using frequency::yarn;
using frequency::yarn_ramp;

static_assert(frequency_rule<yarn>);

constexpr std::array every_ramp{yarn_ramp::pair_index, yarn_ramp::exact_pair_index, yarn_ramp::turns};

frequency::yarn_settings settings_of(yarn_ramp ramp, double factor = 7.0) {
  return {.base = 10000.0, .rotary_dim = 42, .factor = factor, .original_max_position = 1500, .ramp = ramp};
}

/// The number, not necessarily whole, of the pair that turns b times over 1500 positions.
double pair_turning(double b) {
  const double speed = 2.0 * std::numbers::pi * b / 1500.0;  // = 10000^(-2 c / 42)
  return -std::log(speed) / std::log(10000.0) * 21.0;
}

TEST_CASE("yarn ramps over the pair index between the two edges", "[yarn]") {
  const geometric unscaled({.base = 10000.0, .rotary_dim = 42});
  const auto expect = [&](yarn_ramp ramp, double low, double high) {
    const yarn rule(settings_of(ramp));
    int between = 0;
    for (index_t pair = 0; pair < 21; ++pair) {
      const auto i = static_cast<double>(pair);
      const double speed = unscaled.at(pair);
      if (i <= low) {
        CHECK(rule.at(pair) == speed);
      } else if (i >= high) {
        CHECK(rule.at(pair) == speed / 7.0);
      } else {
        const double r = (i - low) / (high - low);
        CHECK_THAT(rule.at(pair), WithinRel(speed / 7.0 * r + speed * (1.0 - r), 1e-13));
        ++between;
      }
    }
    CHECK(between > 5);
    CHECK(low > 1.0);
    CHECK(high < 19.0);
  };
  expect(yarn_ramp::pair_index, std::floor(pair_turning(32.0)), std::ceil(pair_turning(1.0)));
  expect(yarn_ramp::exact_pair_index, pair_turning(32.0), pair_turning(1.0));
}

TEST_CASE("yarn ramps over the turns in the paper's form", "[yarn]") {
  const geometric unscaled({.base = 10000.0, .rotary_dim = 42});
  const yarn rule(settings_of(yarn_ramp::turns));
  for (index_t pair = 0; pair < 21; ++pair) {
    const double speed = unscaled.at(pair);
    const double r = 1500.0 / (2.0 * std::numbers::pi / speed);
    const double gamma = r < 1.0 ? 0.0 : r > 32.0 ? 1.0 : (r - 1.0) / 31.0;
    CHECK_THAT(rule.at(pair), WithinRel((1.0 - gamma) * speed / 7.0 + gamma * speed, 1e-13));
  }
}

TEST_CASE("the three ramps of yarn are three functions", "[yarn]") {
  const auto rounded = speeds_of(yarn(settings_of(yarn_ramp::pair_index)));
  const auto exact = speeds_of(yarn(settings_of(yarn_ramp::exact_pair_index)));
  const auto turns = speeds_of(yarn(settings_of(yarn_ramp::turns)));
  CHECK(largest_difference(rounded, exact) > 1e-4);
  CHECK(largest_difference(rounded, turns) > 1e-3);
  CHECK(largest_difference(exact, turns) > 1e-3);
}

TEST_CASE("yarn with a factor of one is geometric", "[yarn]") {
  for (const yarn_ramp ramp : every_ramp) {
    const yarn rule(settings_of(ramp, 1.0));
    CHECK(speeds_of(rule) == speeds_of(geometric({.base = 10000.0, .rotary_dim = 42})));
    CHECK(rule.attention_factor() == 1.0);
  }
}

TEST_CASE("yarn takes the attention factor of the paper, of mscale settings or a given one", "[yarn]") {
  auto settings = settings_of(yarn_ramp::turns, std::exp(2.0));
  CHECK_THAT(yarn(settings).attention_factor(), WithinRel(1.2, 1e-14));  // 0.1 * 2 + 1
  settings.attention_factor =
      frequency::mscale_ratio({.factor = settings.factor, .mscale = 1.5, .mscale_all_dim = 0.5});
  CHECK_THAT(yarn(settings).attention_factor(), WithinRel(1.3 / 1.1, 1e-14));
  settings.attention_factor =
      frequency::mscale_ratio({.factor = settings.factor, .mscale = 0.7, .mscale_all_dim = 0.7});
  CHECK(yarn(settings).attention_factor() == 1.0);
  settings.attention_factor = 0.83;
  CHECK(yarn(settings).attention_factor() == 0.83);
}

TEST_CASE("mscale does nothing where nothing is stretched", "[yarn]") {
  for (const double factor : {1.0, 0.25, 0.0, -3.0}) {
    CHECK(frequency::mscale_ratio({.factor = factor, .mscale = 1.5, .mscale_all_dim = 0.5}) == 1.0);
  }
}

TEST_CASE("a ramp over turns of yarn has no edges that could be out of order", "[yarn]") {
  auto settings = settings_of(yarn_ramp::turns);
  settings.original_max_position = 2;  // no pair makes a whole turn
  const yarn rule(settings);
  const geometric unscaled({.base = 10000.0, .rotary_dim = 42});
  for (index_t pair = 0; pair < 21; ++pair) CHECK(rule.at(pair) == unscaled.at(pair) / 7.0);
}

TEST_CASE("edges of yarn that meet make a step", "[yarn]") {
  auto settings = settings_of(yarn_ramp::pair_index);
  settings.original_max_position = 6;  // both edges are clamped to pair 0
  const yarn rule(settings);
  const geometric unscaled({.base = 10000.0, .rotary_dim = 42});
  CHECK(rule.at(0) == 1.0);
  for (index_t pair = 1; pair < 21; ++pair) CHECK(rule.at(pair) == unscaled.at(pair) / 7.0);
}

TEST_CASE("yarn refuses swapped bounds and settings that give no ramp", "[yarn]") {
  const auto refused = [](const auto& change) {
    auto settings = settings_of(yarn_ramp::pair_index);
    change(settings);
    return refusal([&] { return yarn(settings); }).code();
  };
  using settings = frequency::yarn_settings;
  CHECK(refused([](settings& s) { std::swap(s.beta_fast, s.beta_slow); }) == errc::frequency_settings);
  CHECK(refused([](settings& s) { s.beta_slow = s.beta_fast; }) == errc::frequency_settings);
  CHECK(refused([](settings& s) { s.beta_slow = 0.0; }) == errc::frequency_settings);
  CHECK(refused([](settings& s) { s.beta_fast = std::nan(""); }) == errc::frequency_settings);
  CHECK(refused([](settings& s) { s.factor = 0.25; }) == errc::frequency_settings);
  CHECK(refused([](settings& s) { s.base = 1.0; }) == errc::frequency_settings);
  CHECK(refused([](settings& s) { s.original_max_position = 0; }) == errc::frequency_settings);
  CHECK(refused([](settings& s) { s.original_max_position = 2; }) == errc::frequency_settings);  // both edges below 0
  CHECK(refused([](settings& s) { s.attention_factor = 0.0; }) == errc::frequency_settings);
  CHECK(refused([](settings& s) { s.attention_factor = std::nan(""); }) == errc::frequency_settings);
  CHECK(refused([](settings& s) { s.rotary_dim = 41; }) == errc::odd_width);
}

}  // namespace yarn_test
