// SPDX-License-Identifier: MIT
#include <posgeo/frequency/dynamic_ntk.hpp>

#include "support/catch.hpp"
#include "support/frequencies.hpp"
#include "support/refusal.hpp"

namespace dynamic_ntk_test {

using namespace posgeo;
using namespace posgeo::test;
using frequency::dynamic_ntk;
using frequency::geometric;

static_assert(frequency_rule<dynamic_ntk>);

dynamic_ntk made(index_t sequence_length, double factor = 3.0, index_t rotary_dim = 10,
                 index_t original_max_position = 500) {
  return dynamic_ntk({.base = 700.0,
                      .rotary_dim = rotary_dim,
                      .factor = factor,
                      .original_max_position = original_max_position,
                      .sequence_length = sequence_length});
}

TEST_CASE("a dynamic base leaves sequences of the trained length alone", "[dynamic_ntk]") {
  const auto unscaled = speeds_of(geometric({.base = 700.0, .rotary_dim = 10}));
  for (const index_t length : {1, 37, 499, 500}) {
    CHECK(made(length).base() == 700.0);
    CHECK(speeds_of(made(length)) == unscaled);
    CHECK(made(length).sequence_length() == 500);  // as good as the trained length
  }
}

TEST_CASE("a dynamic base grows with the length and without a jump", "[dynamic_ntk]") {
  CHECK(made(501).base() > 700.0);
  CHECK_THAT(made(501).base(), WithinRel(700.0, 0.01));  // (1 + 3 / 500)^(10 / 8)
  for (const index_t length : {501, 1100, 4321}) {
    const double over_trained = static_cast<double>(length) / 500.0;
    CHECK_THAT(made(length).base(), WithinRel(700.0 * std::pow(3.0 * over_trained - 2.0, 10.0 / 8.0), 1e-13));
    CHECK(made(length).base() > made(length - 1).base());
    CHECK(made(length).sequence_length() == length);
  }
}

TEST_CASE("with a factor of one a dynamic base is the NTK-aware base of the length", "[dynamic_ntk]") {
  const frequency::ntk_aware fixed({.base = 700.0, .rotary_dim = 10, .factor = 2.5});
  CHECK_THAT(made(1250, 1.0).base(), WithinRel(fixed.base(), 1e-14));
}

TEST_CASE("a dynamic base refuses lengths and settings that are none", "[dynamic_ntk]") {
  const auto refused = [](index_t sequence_length, double factor, index_t rotary_dim, index_t original) {
    return refusal([&] { return made(sequence_length, factor, rotary_dim, original); }).code();
  };
  CHECK(refused(0, 3.0, 10, 500) == errc::frequency_settings);
  CHECK(refused(-5, 3.0, 10, 500) == errc::frequency_settings);
  CHECK(refused(600, 3.0, 10, 0) == errc::frequency_settings);
  CHECK(refused(position_limit + 1, 3.0, 10, 500) == errc::frequency_settings);
  CHECK(refused(600, 0.5, 10, 500) == errc::frequency_settings);
  CHECK(refused(600, 3.0, 2, 500) == errc::frequency_settings);
  CHECK(refused(600, 3.0, 11, 500) == errc::odd_width);
  const auto said = [](double factor, index_t rotary_dim) {
    const std::string what = refusal([&] { return made(600, factor, rotary_dim); }).what();
    return what.substr(0, what.find(':'));
  };
  CHECK(said(1e300, 4) == "dynamic NTK frequencies, factor");  // the stretched base is no number
  CHECK(said(3.0, 11) == "dynamic NTK frequencies, rotary_dim");
}

}  // namespace dynamic_ntk_test
