// SPDX-License-Identifier: MIT
#include <posgeo/scale/constant.hpp>
#include <posgeo/scale/inverse_sqrt_head_dim.hpp>
#include <posgeo/scale/inverse_sqrt_terms.hpp>
#include <posgeo/scale/none.hpp>
#include <posgeo/scale/softcap.hpp>

#include <limits>

#include "support/catch.hpp"
#include "support/refusal.hpp"

namespace {

using namespace posgeo;
using posgeo::test::refusal;
using posgeo::test::WithinRel;

constexpr heads of_width(index_t dim) { return {.query = 6, .key_value = 2, .dim = dim}; }

TEST_CASE("scales are scales and a softcap is none", "[scale]") {
  STATIC_REQUIRE(score_scale<scale::none>);
  STATIC_REQUIRE(score_scale<scale::inverse_sqrt_head_dim>);
  STATIC_REQUIRE(score_scale<scale::inverse_sqrt_terms>);
  STATIC_REQUIRE(score_scale<scale::constant>);
  STATIC_REQUIRE(!score_scale<scale::softcap>);
}

TEST_CASE("the inverse root squared times the head width is one", "[scale]") {
  for (const index_t dim : {1, 7, 64, 80, 128, 576}) {
    const double factor = scale::inverse_sqrt_head_dim{}.factor(of_width(dim), 1);
    CHECK(factor > 0.0);
    CHECK_THAT(factor * factor * static_cast<double>(dim), WithinRel(1.0, 1e-15));
  }
  CHECK(scale::inverse_sqrt_head_dim{}.factor(of_width(64), 1) == 0.125);
}

TEST_CASE("the inverse root of the terms counts each dot product as one head width", "[scale]") {
  for (const index_t dim : {1, 7, 64, 80}) {
    for (const index_t count : {1, 2, 3, 5}) {
      const double factor = scale::inverse_sqrt_terms{}.factor(of_width(dim), count);
      CHECK(factor > 0.0);
      CHECK_THAT(factor * factor * static_cast<double>(dim * count), WithinRel(1.0, 1e-15));
    }
    CHECK(scale::inverse_sqrt_terms{}.factor(of_width(dim), 1) ==
          scale::inverse_sqrt_head_dim{}.factor(of_width(dim), 1));
  }
  CHECK(scale::inverse_sqrt_terms{}.factor(of_width(32), 2) == 0.125);      // TUPE: sqrt(2 d)
  CHECK(scale::inverse_sqrt_terms{}.factor(of_width(27), 3) == 1.0 / 9.0);  // DeBERTa: sqrt(3 d)
}

TEST_CASE("no scale is one and a constant is itself whatever the heads", "[scale]") {
  for (const index_t dim : {1, 80}) {
    CHECK(scale::none{}.factor(of_width(dim), 1) == 1.0);
    CHECK(scale::constant{0.0625}.factor(of_width(dim), 1) == 0.0625);
    CHECK(scale::constant{3.5}.factor(of_width(dim), 1) == 3.5);
  }
}

TEST_CASE("a constant scale must be finite and above zero", "[scale]") {
  using limits = std::numeric_limits<double>;
  for (const double bad : {0.0, -0.0, -0.125, limits::infinity(), -limits::infinity(), limits::quiet_NaN()}) {
    CHECK(refusal([&] { return scale::constant{bad}; }).code() == errc::scale_settings);
  }
  CHECK_NOTHROW(scale::constant{limits::denorm_min()});
}

}  // namespace
