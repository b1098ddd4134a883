// SPDX-License-Identifier: MIT
#include <posgeo/frequency/longrope.hpp>

#include <array>

#include "support/catch.hpp"
#include "support/frequencies.hpp"
#include "support/refusal.hpp"

namespace longrope_test {

using namespace posgeo;
using namespace posgeo::test;
using frequency::geometric;
using frequency::longrope;

static_assert(frequency_rule<longrope>);

constexpr std::array<double, 5> short_list{1.0, 1.1, 0.9, 1.7, 1.3};
constexpr std::array<double, 5> long_list{1.2, 2.5, 9.0, 31.0, 17.0};

frequency::longrope_settings settings_of(index_t sequence_length) {
  return {.base = 800.0,
          .rotary_dim = 10,
          .short_factor = short_list,
          .long_factor = long_list,
          .original_max_position = 256,
          .max_position = 4096,
          .sequence_length = sequence_length};
}

TEST_CASE("longrope takes its table by the whole length", "[longrope]") {
  const geometric unscaled({.base = 800.0, .rotary_dim = 10});
  for (const index_t length : {1, 255, 256, 257, 4096}) {
    const longrope rule(settings_of(length));
    const auto& table = length <= 256 ? short_list : long_list;
    for (index_t pair = 0; pair < 5; ++pair) {
      CHECK_THAT(rule.at(pair) * table[static_cast<std::size_t>(pair)], WithinRel(unscaled.at(pair), 1e-15));
    }
    CHECK(rule.sequence_length() == std::max<index_t>(length, 256));
  }
}

TEST_CASE("longrope with unit factors is geometric", "[longrope]") {
  constexpr std::array<double, 5> ones{1.0, 1.0, 1.0, 1.0, 1.0};
  auto settings = settings_of(300);
  settings.long_factor = ones;
  CHECK(speeds_of(longrope(settings)) == speeds_of(geometric({.base = 800.0, .rotary_dim = 10})));
}

TEST_CASE("longrope has the attention factor of the two lengths, or a given one", "[longrope]") {
  auto settings = settings_of(300);
  CHECK_THAT(longrope(settings).attention_factor(), WithinRel(std::sqrt(1.5), 1e-15));  // 4096 = 256 * sqrt(256)
  settings.attention_factor = 1.31;
  CHECK(longrope(settings).attention_factor() == 1.31);
  auto not_extended = settings_of(9);
  not_extended.max_position = 256;
  CHECK(longrope(not_extended).attention_factor() == 1.0);
}

TEST_CASE("longrope keeps its own copy of the factors", "[longrope]") {
  std::vector<double> factors(short_list.begin(), short_list.end());
  auto settings = settings_of(9);
  settings.short_factor = factors;
  const longrope rule(settings);
  const auto before = speeds_of(rule);
  std::fill(factors.begin(), factors.end(), 99.0);
  CHECK(speeds_of(rule) == before);
}

TEST_CASE("longrope refuses lists and lengths that do not fit", "[longrope]") {
  const auto refused = [](const auto& change) {
    auto settings = settings_of(300);
    change(settings);
    return refusal([&] { return longrope(settings); }).code();
  };
  using settings = frequency::longrope_settings;
  constexpr std::array<double, 5> zero{1.0, 1.0, 0.0, 1.0, 1.0};
  const std::array<double, 5> no_number{1.0, 1.0, 1.0, 1.0, std::nan("")};
  CHECK(refused([](settings& s) { s.short_factor = s.short_factor.first(4); }) == errc::shape_mismatch);
  CHECK(refused([](settings& s) { s.long_factor = {}; }) == errc::shape_mismatch);
  CHECK(refused([&](settings& s) { s.short_factor = zero; }) == errc::frequency_settings);
  CHECK(refused([&](settings& s) { s.long_factor = no_number; }) == errc::frequency_settings);
  CHECK(refused([](settings& s) { s.original_max_position = 1; }) == errc::frequency_settings);
  CHECK(refused([](settings& s) { s.max_position = 255; }) == errc::frequency_settings);
  CHECK(refused([](settings& s) { s.sequence_length = 0; }) == errc::frequency_settings);
  CHECK(refused([](settings& s) { s.sequence_length = 4097; }) == errc::sequence_length);
  CHECK(refused([](settings& s) { s.attention_factor = -1.0; }) == errc::frequency_settings);
  CHECK(refused([](settings& s) { s.rotary_dim = 9; }) == errc::odd_width);
}

}  // namespace longrope_test
