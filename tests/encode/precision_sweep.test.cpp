// SPDX-License-Identifier: MIT
#include <posgeo/encode/precision_sweep.hpp>

#include <cmath>
#include <limits>

#include "support/catch.hpp"
#include "support/encoded.hpp"
#include "support/refusal.hpp"

namespace {

using namespace posgeo;
using namespace posgeo::test;
using encode::first_alias;
using encode::sinusoid_exponent;
using encode::sinusoid_layout;
using encode::sinusoidal;
using encode::sweep_precision;

encode::sinusoidal with_base(double base, index_t offset = 0) {
  return encode::sinusoidal({.width = 6,
                             .layout = encode::sinusoid_layout::interleaved,
                             .exponent = encode::sinusoid_exponent::paper,
                             .base = base,
                             .offset = offset});
}

TEST_CASE("integers alias from the power of two that fills the significand", "[precision_sweep]") {
  const auto expect = [](precision format, index_t limit) {
    const encode::position_pair alias{position{limit}, position{limit + 1}};
    CHECK(first_alias(format, position{std::max(limit - 70000, index_t{0})}, position{limit + 5}) == alias);
    CHECK(first_alias(format, position{limit}, position{limit + 1}) == alias);
    CHECK_FALSE(first_alias(format, position{std::max(limit - 70000, index_t{0})}, position{limit}).has_value());
  };
  expect(precision::bfloat16, index_t{1} << 8);
  expect(precision::binary16, index_t{1} << 11);
  expect(precision::binary32, index_t{1} << 24);
  expect(precision::binary64, index_t{1} << 53);
  CHECK(first_alias(precision::bfloat16, position{-258}, position{0}) ==
        encode::position_pair{position{-257}, position{-256}});
}

TEST_CASE("the first equal stored rows are those that brute force finds", "[precision_sweep]") {
  for (const precision storage : {precision::bfloat16, precision::binary16, precision::binary32}) {
    for (const double base : {1.0 + 1e-3, 40.0, 10000.0}) {
      const auto encoder = with_base(base, 3);
      constexpr index_t first = -5;
      constexpr index_t last = 700;
      std::vector<std::vector<double>> rows;
      std::optional<encode::position_pair> collision;
      double closest = HUGE_VAL;
      encode::position_pair nearest;
      for (index_t p = first; p < last; ++p) {
        auto row = encoded_row(encoder, p);
        for (double& value : row) value = round_to(storage, value);
        for (std::size_t n = 0; n < rows.size() && !collision; ++n) {
          if (rows[n] == row) collision = {position{first + static_cast<index_t>(n)}, position{p}};
        }
        if (!rows.empty()) {
          double squares = 0.0;
          for (std::size_t c = 0; c < row.size(); ++c) squares += std::pow(row[c] - rows.back()[c], 2);
          if (std::sqrt(squares) < closest) {
            closest = std::sqrt(squares);
            nearest = {position{p - 1}, position{p}};
          }
        }
        rows.push_back(row);
      }
      const auto report = sweep_precision(encoder, storage, position{first}, position{last});
      CHECK(report.first_collision == collision);
      CHECK(report.closest == nearest);
      CHECK_THAT(report.closest_distance, WithinRel(closest, 1e-14));
    }
  }
}

TEST_CASE("a narrow table of near-equal frequencies collides and a wide one does not", "[precision_sweep]") {
  const auto encoder = with_base(1.0);  // all pairs turn alike: 44 radians are almost 7 turns
  CHECK(sweep_precision(encoder, precision::bfloat16, position{0}, position{800}).first_collision.has_value());
  CHECK_FALSE(sweep_precision(encoder, precision::binary64, position{0}, position{800}).first_collision.has_value());
}

TEST_CASE("a sweep needs two positions that are exact in double", "[precision_sweep]") {
  const auto refused = [](index_t first, index_t last, index_t offset) {
    return refusal([&] {
             return sweep_precision(with_base(10.0, offset), precision::binary32, position{first}, position{last});
           })
        .code();
  };
  CHECK(refused(4, 4, 0) == errc::row_count);
  CHECK(refused(4, 5, 0) == errc::row_count);
  CHECK(refused(9, 4, 0) == errc::row_count);
  constexpr index_t limit = index_t{1} << 53;
  CHECK(refused(limit, limit + 2, 0) == errc::position_precision);
  CHECK(refused(0, 2, limit) == errc::position_precision);
}

TEST_CASE("a sweep ends at the last position that it visits", "[precision_sweep]") {
  const sinusoidal wide({.width = 2, .layout = sinusoid_layout::interleaved, .exponent = sinusoid_exponent::paper});
  constexpr index_t last = index_t{1} << 53;
  CHECK_NOTHROW(sweep_precision(wide, precision::binary64, position{last - 1}, position{last + 1}));
  const auto refused = [](const sinusoidal& encoder, index_t from, index_t to) {
    return refusal([&] { return sweep_precision(encoder, precision::binary64, position{from}, position{to}); }).code();
  };
  CHECK(refused(wide, last - 1, last + 2) == errc::position_precision);
  CHECK(refused(wide, std::numeric_limits<index_t>::min(), std::numeric_limits<index_t>::max()) ==
        errc::position_precision);
  const sinusoidal half({.width = 2,
                         .layout = sinusoid_layout::interleaved,
                         .exponent = sinusoid_exponent::paper,
                         .construction = precision::binary16});
  CHECK(refused(half, 65510, 65525) == errc::position_precision);
}

}  // namespace
