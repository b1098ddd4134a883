// SPDX-License-Identifier: MIT
#include <posgeo/attend/eager.hpp>
#include <posgeo/model/attention.hpp>
#include <posgeo/scale/none.hpp>
#include <posgeo/transform/rotary.hpp>
#include <posgeo/visible/everything.hpp>

#include <numbers>

#include "support/calls.hpp"
#include "support/catch.hpp"

namespace rotary_test {

using namespace posgeo;
using namespace posgeo::test;

/// A quarter of a turn for each position.
struct quarter_turn {
  [[nodiscard]] index_t pairs() const { return 1; }
  [[nodiscard]] double at(index_t) const { return std::numbers::pi / 2; }
};

/// Scores of the query (1, 0) and two keys (1, 0).
std::vector<double> scores_of_equal_content(index_t query, index_t first_key, index_t second_key) {
  const attention model{heads{.query = 1, .key_value = 1, .dim = 2}, scale::none{}, visible::everything{},
                        transform::rotary(quarter_turn{}, {.pairs = transform::pairing::adjacent})};
  const auto plan = model.compile<double>(call_at({query}, {first_key, second_key}));
  const std::vector<double> rows{1, 0, 1, 0};
  const auto q = heads_first(rows.data(), 1, 1, 1, 2);
  const auto k = heads_first(rows.data(), 1, 1, 2, 2);
  const auto scores = attend(eager{}, plan, {q, k, k}, also::scores).scores;
  return {scores.values().begin(), scores.values().end()};
}

TEST_CASE("a quarter turn separates equal content by its distance", "[laws]") {
  const auto base = scores_of_equal_content(2, 1, 0);
  CHECK_THAT(base[0], WithinAbs(0.0, 1e-15));
  CHECK_THAT(base[1], WithinAbs(-1.0, 1e-15));

  SECTION("a shift by a hundred changes nothing") {
    const auto moved = scores_of_equal_content(102, 101, 100);
    CHECK_THAT(moved[0], WithinAbs(base[0], 1e-13));
    CHECK_THAT(moved[1], WithinAbs(base[1], 1e-13));
  }
  SECTION("one more step of the query changes both phases") {
    const auto stretched = scores_of_equal_content(3, 1, 0);
    CHECK_THAT(stretched[0], WithinAbs(-1.0, 1e-15));
    CHECK_THAT(stretched[1], WithinAbs(0.0, 1e-15));
  }
}

}  // namespace rotary_test
