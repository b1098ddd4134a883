// SPDX-License-Identifier: MIT
#include <posgeo/call/padded_batch.hpp>
#include <posgeo/call/prefill_chunk.hpp>
#include <posgeo/encode/sinusoidal.hpp>

#include <numbers>

#include "support/catch.hpp"
#include "support/compare.hpp"
#include "support/encoded.hpp"
#include "support/random.hpp"
#include "support/refusal.hpp"

namespace {

using namespace posgeo;
using namespace posgeo::test;
using encode::odd_width;
using encode::padded_rows;
using encode::sinusoid_exponent;
using encode::sinusoid_layout;
using encode::sinusoidal;
using encode::sinusoidal_settings;

static_assert(state_encoder<sinusoidal, float> && state_encoder<sinusoidal, double>);

sinusoidal_settings of_width(index_t width) {
  return {.width = width, .layout = sinusoid_layout::interleaved, .exponent = sinusoid_exponent::paper};
}

TEST_CASE("interleaved sinusoids follow the paper", "[sinusoidal]") {
  auto settings = of_width(6);
  settings.base = 500.0;
  const sinusoidal encoder(settings);
  for (const index_t p : {0, 1, 29, -8}) {
    const auto row = encoded_row(encoder, p);
    for (std::size_t i = 0; i < 3; ++i) {
      const double phase = static_cast<double>(p) / std::pow(500.0, 2.0 * static_cast<double>(i) / 6.0);
      CHECK_THAT(row[2 * i], WithinAbs(std::sin(phase), 1e-14));
      CHECK_THAT(row[2 * i + 1], WithinAbs(std::cos(phase), 1e-14));
    }
  }
}

TEST_CASE("concatenated sinusoids are the interleaved ones in other columns", "[sinusoidal]") {
  auto settings = of_width(10);
  const sinusoidal interleaved(settings);
  settings.layout = sinusoid_layout::concatenated;
  const sinusoidal concatenated(settings);
  for (const index_t p : {1, 6, 1234}) {
    const auto a = encoded_row(interleaved, p);
    const auto b = encoded_row(concatenated, p);
    for (std::size_t pair = 0; pair < 5; ++pair) {
      CHECK(a[2 * pair] == b[pair]);
      CHECK(a[2 * pair + 1] == b[5 + pair]);
    }
    CHECK(largest_difference(a, b) > 0.1);
  }
}

TEST_CASE("the spacing of the frequencies is part of the table", "[sinusoidal]") {
  auto settings = of_width(8);
  const sinusoidal paper(settings);
  settings.exponent = sinusoid_exponent::half_minus_one;
  const sinusoidal half(settings);
  CHECK_THAT(half.frequencies().back(), WithinRel(1e-4, 1e-14));  // reaches the base itself
  CHECK_THAT(paper.frequencies().back(), WithinRel(1e-3, 1e-14));
  CHECK(largest_difference(encoded_row(paper, 5), encoded_row(half, 5)) > 0.1);
  const auto expect_ratio = [](const sinusoidal& encoder, double ratio) {
    const auto& speeds = encoder.frequencies();
    for (std::size_t i = 1; i < speeds.size(); ++i) {
      const double longer = 2 * std::numbers::pi / speeds[i];  // wavelengths, in tokens
      const double shorter = 2 * std::numbers::pi / speeds[i - 1];
      CHECK_THAT(longer / shorter, WithinRel(ratio, 1e-14));
    }
  };
  expect_ratio(paper, std::pow(10000.0, 2.0 / 8.0));
  expect_ratio(half, std::pow(10000.0, 1.0 / 3.0));
}

TEST_CASE("a single pair turns at the scale under tensor2tensor spacing", "[sinusoidal]") {
  auto settings = of_width(2);
  settings.exponent = sinusoid_exponent::tensor2tensor;
  settings.frequency_scale = 0.25;
  CHECK(sinusoidal(settings).frequencies() == std::vector{0.25});
  settings.width = 8;
  const auto spaced = sinusoidal(settings).frequencies();
  settings.exponent = sinusoid_exponent::half_minus_one;
  CHECK(sinusoidal(settings).frequencies() == spaced);
}

TEST_CASE("frequency scale multiplies every frequency", "[sinusoidal]") {
  auto settings = of_width(6);
  const sinusoidal plain(settings);
  settings.frequency_scale = 4.0;
  const sinusoidal scaled(settings);
  for (std::size_t i = 0; i < 3; ++i) CHECK(scaled.frequencies()[i] == 4.0 * plain.frequencies()[i]);
  CHECK(encoded_row(scaled, 7) == encoded_row(plain, 28));
}

TEST_CASE("a chunk that knows its offset is the slice of the whole", "[sinusoidal]") {
  auto settings = of_width(6);
  const auto whole = encoded(sinusoidal(settings), call::prefill_chunk(0, 11));
  const auto chunk = encoded(sinusoidal(settings), call::prefill_chunk(7, 4));
  CHECK(std::equal(chunk.values().begin(), chunk.values().end(), whole.values().begin() + 7 * 6));

  settings.offset = 7;
  const auto moved = encoded(sinusoidal(settings), call::prefill_chunk(0, 4));
  CHECK(std::equal(moved.values().begin(), moved.values().end(), chunk.values().begin()));
}

TEST_CASE("an odd width is refused or has a named last column", "[sinusoidal]") {
  auto settings = of_width(7);
  CHECK(refusal([&] { return sinusoidal(settings); }).code() == errc::odd_width);

  SECTION("the sine of one more frequency") {
    settings.odd = odd_width::unpaired_sine;
    const sinusoidal interleaved(settings);
    const double next = std::pow(10000.0, -6.0 / 7.0);
    CHECK_THAT(encoded_row(interleaved, 900)[6], WithinAbs(std::sin(900.0 * next), 1e-13));
    settings.layout = sinusoid_layout::concatenated;
    const auto row = encoded_row(sinusoidal(settings), 900);
    CHECK_THAT(row[3], WithinAbs(std::sin(900.0 * next), 1e-13));  // four sines, then three cosines
    CHECK(row[4] == encoded_row(interleaved, 900)[1]);
    settings.exponent = sinusoid_exponent::half_minus_one;
    CHECK(refusal([&] { return sinusoidal(settings); }).code() == errc::odd_width);
  }
  SECTION("nothing") {
    settings.odd = odd_width::zero_column;
    for (const sinusoid_layout layout : {sinusoid_layout::interleaved, sinusoid_layout::concatenated}) {
      settings.layout = layout;
      const auto row = encoded_row(sinusoidal(settings), 900);
      CHECK(row[6] == 0.0);
      for (std::size_t c = 0; c < 6; ++c) CHECK(row[c] != 0.0);
    }
  }
}

TEST_CASE("every broken sinusoidal setting is refused by name", "[sinusoidal]") {
  const auto refused = [](auto&& spoil) {
    auto settings = of_width(8);
    spoil(settings);
    CHECK(refusal([&] { return sinusoidal(settings); }).code() == sinusoidal::check(settings).front().code);
    return codes(sinusoidal::check(settings));
  };
  using found = std::vector<errc>;
  CHECK(sinusoidal::check(of_width(8)).empty());
  CHECK(refused([](auto& s) { s.width = 0; }) == found{errc::shape_mismatch});
  CHECK(refused([](auto& s) { s.width = -4; }) == found{errc::shape_mismatch});
  CHECK(refused([](auto& s) { s.width = 2, s.exponent = sinusoid_exponent::half_minus_one; }) ==
        found{errc::frequency_settings});
  for (const double bad : {0.0, -1.0, HUGE_VAL, std::nan("")}) {
    CHECK(refused([&](auto& s) { s.base = bad; }) == found{errc::frequency_settings});
    CHECK(refused([&](auto& s) { s.frequency_scale = bad; }) == found{errc::frequency_settings});
  }
  CHECK(refused([](auto& s) { s.padding = padded_rows::table_row(0); }) == found{errc::table_rows});
  CHECK(refused([](auto& s) { s.offset = position_limit + 1; }) == found{errc::position_overflow});
  CHECK(refused([](auto& s) { s.width = 3, s.base = 0.0; }) == found{errc::odd_width, errc::frequency_settings});
}

TEST_CASE("a position that is not exact in double is refused", "[sinusoidal]") {
  constexpr index_t limit = index_t{1} << 53;
  auto settings = of_width(4);
  const auto compiled = [&](index_t p) { return sinusoidal(settings).compile<float>(call_at({p})); };
  CHECK_NOTHROW(compiled(limit));
  CHECK(refusal([&] { return compiled(limit + 1); }).code() == errc::position_precision);
  CHECK(refusal([&] { return compiled(-limit - 1); }).code() == errc::position_precision);
  for (const index_t beyond : {limit + 1, -limit - 1}) {  // whichever end it is
    const auto call = call_at({3, beyond, 5});
    CHECK(refusal([&] { return sinusoidal(settings).compile<float>(call); }).code() == errc::position_precision);
  }
  settings.offset = 1;
  CHECK(refusal([&] { return compiled(limit); }).code() == errc::position_precision);
}

TEST_CASE("padded rows receive what their position says or nothing", "[sinusoidal]") {
  const std::vector<index_t> lengths{2, 3};
  const auto call = call::padded_batch({.lengths = lengths,
                                        .rows = 3,
                                        .side = call::padding_side::left,
                                        .positions = call::padded_positions::fixed(4, 77)});
  auto settings = of_width(4);
  const auto by_position = encoded(sinusoidal(settings), call);
  settings.padding = padded_rows::untouched();
  const auto untouched = encoded(sinusoidal(settings), call);
  const auto padded = encoded_row(sinusoidal(settings), 77);
  for (index_t b = 0; b < 2; ++b) {
    for (index_t row = 0; row < 3; ++row) {
      const bool padding = b == 0 && row == 0;
      const auto own = encoded_row(sinusoidal(settings), 4 + row);
      CHECK(largest_difference(by_position.view().row(b, row), padding ? padded : own) == 0.0);
      CHECK(largest_difference(untouched.view().row(b, row), padding ? std::vector<double>(4, 0.0) : own) == 0.0);
    }
  }
}

TEST_CASE("single precision output is the double one rounded", "[sinusoidal]") {
  const sinusoidal encoder(of_width(12));
  for (const index_t p : {3, 5000, 1 << 25}) {
    const auto wide = encoded_row<double>(encoder, p);
    const auto narrow = encoded_row<float>(encoder, p);
    for (std::size_t c = 0; c < 12; ++c) CHECK(narrow[c] == static_cast<float>(wide[c]));
  }
}

TEST_CASE("construction in a narrow format aliases positions from its limit on and not before", "[sinusoidal]") {
  const auto rows_equal = [](precision construction, index_t p) {
    auto settings = of_width(6);
    settings.construction = construction;
    const sinusoidal encoder(settings);
    return encoded_row(encoder, p) == encoded_row(encoder, p + 1);
  };
  const auto expect_first_alias = [&](precision construction, index_t limit) {
    CHECK(rows_equal(construction, limit));
    for (index_t p = std::max(limit - 3000, index_t{0}); p < limit; ++p) {
      if (rows_equal(construction, p)) FAIL_CHECK("positions " << p << " and the next one alias");
    }
    CHECK_FALSE(rows_equal(precision::binary64, limit));
  };
  expect_first_alias(precision::bfloat16, index_t{1} << 8);
  expect_first_alias(precision::binary16, index_t{1} << 11);
  expect_first_alias(precision::binary32, index_t{1} << 24);
}

TEST_CASE("sinusoids refuse a frequency or a position that is no number in their precision", "[sinusoidal]") {
  sinusoidal_settings settings{
      .width = 128, .layout = sinusoid_layout::interleaved, .exponent = sinusoid_exponent::paper, .base = 5e-324};
  CHECK(refusal([&] { return sinusoidal(settings); }).code() == errc::frequency_settings);
  settings.base = 10000.0;
  settings.construction = precision::binary16;
  CHECK(refusal([&] { return sinusoidal(settings).compile<float>(posgeo::test::call_at({65520})); }).code() ==
        errc::position_precision);
  CHECK_NOTHROW(sinusoidal(settings).compile<float>(posgeo::test::call_at({65519})));
}

}  // namespace
