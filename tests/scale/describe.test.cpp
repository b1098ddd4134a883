// SPDX-License-Identifier: MIT
#include <posgeo/scale/constant.hpp>
#include <posgeo/scale/inverse_sqrt_head_dim.hpp>
#include <posgeo/scale/inverse_sqrt_terms.hpp>
#include <posgeo/scale/none.hpp>
#include <posgeo/scale/sink.hpp>
#include <posgeo/scale/softcap.hpp>

#include <cmath>

#include "support/described.hpp"

namespace scale_describe_test {

using namespace posgeo;
using namespace posgeo::test;
using scale::sink;
using scale::softcap;
using scale::softcap_place;

TEST_CASE("every scale has a description of its own", "[describe]") {
  const std::vector<description> all{scale::none{}.describe(), scale::inverse_sqrt_head_dim{}.describe(),
                                     scale::inverse_sqrt_terms{}.describe(), scale::constant(1.0).describe()};
  for (std::size_t a = 0; a < all.size(); ++a) {
    for (std::size_t b = 0; b < all.size(); ++b) CHECK((all[a] == all[b]) == (a == b));
  }
  check_described(scale::constant(0.125).describe(), scale::constant(0.125).describe(),
                  {{{"value"}, scale::constant(std::nextafter(0.125, 1.0)).describe()}});
}

TEST_CASE("a softcap is described by its cap and its place", "[describe]") {
  const auto made = [](double cap, softcap_place place) { return softcap({.cap = cap, .place = place}).describe(); };
  check_described(
      made(50.0, softcap_place::before_bias), made(50.0, softcap_place::before_bias),
      {{{"cap"}, made(30.0, softcap_place::before_bias)}, {{"place"}, made(50.0, softcap_place::after_bias)}});
}

TEST_CASE("a sink is described by the logit of each head", "[describe]") {
  check_described(sink({0.5, -2.0, 1.0}).describe(), sink({0.5, -2.0, 1.0}).describe(),
                  {{{"logits"}, sink({0.5, 1.0, -2.0}).describe()},
                   {{"logits"}, sink({0.5, -2.0}).describe()},
                   {{"logits"}, sink({0.5, -2.0, 1.5}).describe()}});
  CHECK(sink::off_by_one({.query = 2, .key_value = 1, .dim = 4}).describe() == sink({0.0, 0.0}).describe());
}

}  // namespace scale_describe_test
