// SPDX-License-Identifier: MIT
#include <posgeo/frequency/ntk_aware.hpp>

#include "support/catch.hpp"
#include "support/frequencies.hpp"
#include "support/refusal.hpp"

namespace ntk_aware_test {

using namespace posgeo;
using namespace posgeo::test;
using frequency::geometric;
using frequency::ntk_aware;

static_assert(frequency_rule<ntk_aware>);

TEST_CASE("an NTK-aware base spares the first pair and divides the last by the factor", "[ntk_aware]") {
  for (const index_t rotary_dim : {4, 10, 96}) {
    const ntk_aware rule({.base = 500.0, .rotary_dim = rotary_dim, .factor = 6.0});
    const geometric unscaled({.base = 500.0, .rotary_dim = rotary_dim});
    const index_t last = rule.pairs() - 1;
    CHECK(rule.at(0) == 1.0);
    CHECK_THAT(rule.at(last), WithinRel(unscaled.at(last) / 6.0, 1e-13));
    for (index_t pair = 1; pair < last; ++pair) {
      const double divided = unscaled.at(pair) / rule.at(pair);
      CHECK(divided > 1.0);
      CHECK(divided < 6.0);
    }
  }
}

TEST_CASE("an NTK-aware base stretched by one is geometric", "[ntk_aware]") {
  const ntk_aware rule({.base = 500.0, .rotary_dim = 12, .factor = 1.0});
  CHECK(rule.base() == 500.0);
  CHECK(speeds_of(rule) == speeds_of(geometric({.base = 500.0, .rotary_dim = 12})));
}

TEST_CASE("an NTK-aware base refuses one pair alone and settings that give no numbers", "[ntk_aware]") {
  const auto refused = [](double base, index_t rotary_dim, double factor) {
    return refusal([&] { return ntk_aware({.base = base, .rotary_dim = rotary_dim, .factor = factor}); }).code();
  };
  CHECK(refused(500.0, 2, 4.0) == errc::frequency_settings);
  CHECK(refused(500.0, 8, 0.5) == errc::frequency_settings);
  CHECK(refused(-1.0, 8, 4.0) == errc::frequency_settings);
  CHECK(refused(1e300, 4, 1e10) == errc::frequency_settings);  // the stretched base is no number
  CHECK(refused(500.0, 9, 4.0) == errc::odd_width);
}

TEST_CASE("refusals of an NTK-aware base name the rule and the setting", "[ntk_aware]") {
  const auto said = [](double base, index_t rotary_dim, double factor) {
    const std::string what =
        refusal([&] { return ntk_aware({.base = base, .rotary_dim = rotary_dim, .factor = factor}); }).what();
    return what.substr(0, what.find(':'));
  };
  CHECK(said(1e300, 4, 1e10) == "NTK-aware frequencies, factor");
  CHECK(said(-1.0, 4, 2.0) == "NTK-aware frequencies, base");
  CHECK(said(500.0, 9, 2.0) == "NTK-aware frequencies, rotary_dim");
  CHECK(said(500.0, 8, 0.5) == "NTK-aware frequencies, factor");
}

}  // namespace ntk_aware_test
