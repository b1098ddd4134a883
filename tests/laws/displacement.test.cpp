// SPDX-License-Identifier: MIT
#include <posgeo/visible/everything.hpp>
#include <posgeo/visible/window.hpp>

#include "support/calls.hpp"
#include "support/catch.hpp"
#include "support/one_layer.hpp"

namespace displacement_test {

using namespace posgeo;
using namespace posgeo::test;

std::vector<index_t> shifted(std::vector<index_t> positions, index_t by) {
  for (index_t& p : positions) p += by;
  return positions;
}

const std::vector<index_t> query_positions{3, 8, 7};
const std::vector<index_t> key_positions{4, 0, 12, 1, 3, 8, 7};

/// The largest change of scores and log-sum-exp, which a common factor of the weights would not hide.
double change(const attention_result<double>& a, const attention_result<double>& b) {
  return std::max(largest_difference(a.scores.values(), b.scores.values()),
                  largest_difference(a.log_sum_exp.values(), b.log_sum_exp.values()));
}

TEST_CASE("moving every row leaves relative mechanisms alone and changes absolute ones", "[laws]") {
  const auto query = random_tensor<double, 3>({1, 3, layer_width}, 31);
  const auto key = random_tensor<double, 3>({1, 7, layer_width}, 32);
  for (const mechanism m : every_mechanism) {
    CAPTURE(static_cast<int>(m));
    const auto run = [&](index_t by) {
      const auto call = call_at(shifted(query_positions, by), shifted(key_positions, by));
      return one_layer(m, call, query, key, visible::window({.behind = 6, .ahead = 4}));
    };
    const auto base = run(0);
    if (reads_absolute_positions(m)) {
      CHECK(change(base, run(41)) > 0.1);
    } else {
      for (const index_t by : {index_t{41}, index_t{-1003}, index_t{1} << 20}) CHECK(change(base, run(by)) < 1e-9);
      CHECK(change(base, run(41)) < 1e-13);
    }
  }
}

TEST_CASE("moving the query alone changes every mechanism that has positions", "[laws]") {
  const auto query = random_tensor<double, 3>({1, 3, layer_width}, 33);
  const auto key = random_tensor<double, 3>({1, 7, layer_width}, 34);
  for (const mechanism m : every_mechanism) {
    CAPTURE(static_cast<int>(m));
    const auto run = [&](index_t by) {
      const auto call = call_at(shifted(query_positions, by), key_positions);
      return one_layer(m, call, query, key, visible::everything{});
    };
    CHECK((change(run(0), run(2)) > 0.1) == (m != mechanism::none));
  }
}

}  // namespace displacement_test
