// SPDX-License-Identifier: MIT
#include <posgeo/scale/softcap.hpp>

#include <limits>

#include "support/catch.hpp"
#include "support/refusal.hpp"

namespace {

using namespace posgeo;
using posgeo::test::refusal;
using scale::softcap_place;

TEST_CASE("a softcap keeps its cap and its place", "[softcap]") {
  for (const softcap_place place : {softcap_place::before_bias, softcap_place::after_bias}) {
    const scale::softcap cap{{.cap = 50.0, .place = place}};
    CHECK(cap.cap() == 50.0);
    CHECK(cap.place() == place);
  }
}

TEST_CASE("a cap must be finite and above zero", "[softcap]") {
  using limits = std::numeric_limits<double>;
  for (const double bad : {0.0, -30.0, limits::infinity(), -limits::infinity(), limits::quiet_NaN()}) {
    CHECK(refusal([&] { return scale::softcap{{.cap = bad, .place = softcap_place::after_bias}}; }).code() ==
          errc::scale_settings);
  }
}

}  // namespace
