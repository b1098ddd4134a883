// SPDX-License-Identifier: MIT
#include <posgeo/call/prefill_chunk.hpp>
#include <posgeo/visible/causal.hpp>
#include <posgeo/visible/custom.hpp>
#include <posgeo/visible/everything.hpp>

#include "support/calls.hpp"
#include "support/catch.hpp"
#include "support/one_layer.hpp"

namespace permutation_test {

using namespace posgeo;
using namespace posgeo::test;

const std::vector<index_t> shuffle{3, 0, 6, 2,
                                   5, 1, 4};  ///< row n of the shuffled run is row shuffle[n] of the plain one
const index_t rows = static_cast<index_t>(shuffle.size());

/// The largest difference between the shuffled run's rows and the plain run's, each with its keys followed along.
double away_from_equivariance(const attention_result<double>& plain, const attention_result<double>& shuffled) {
  double largest = 0.0;
  for (index_t n = 0; n < rows; ++n) {
    const index_t origin = shuffle[static_cast<std::size_t>(n)];
    largest = std::max(largest, row_difference(plain, {0, origin, shuffle}, shuffled, {0, n, counted(0, rows)}));
  }
  return largest;
}

TEST_CASE("without positions and mask attention follows a permutation of its rows", "[laws]") {
  const auto states = random_tensor<double, 3>({1, rows, layer_width}, 21);
  const auto call = call::prefill_chunk(0, rows);
  const visible::everything see;
  CHECK(away_from_equivariance(one_layer(mechanism::none, call, states, see),
                               one_layer(mechanism::none, call, gathered(states, 0, shuffle), see)) < 1e-13);
}

TEST_CASE("a causal mask that stays where it is breaks the permutation law", "[laws]") {
  const auto states = random_tensor<double, 3>({1, rows, layer_width}, 22);
  const auto call = call::prefill_chunk(0, rows);
  const auto plain = one_layer(mechanism::none, call, states, visible::causal{});
  const auto moved = gathered(states, 0, shuffle);
  CHECK(away_from_equivariance(plain, one_layer(mechanism::none, call, moved, visible::causal{})) > 0.1);

  SECTION("and one that is permuted with the rows restores it") {
    const visible::custom see{[](const position_call&, batch_index, query_index i, key_index j) {
      return shuffle[static_cast<std::size_t>(j.value())] <= shuffle[static_cast<std::size_t>(i.value())];
    }};
    CHECK(away_from_equivariance(plain, one_layer(mechanism::none, call, moved, see)) < 1e-13);
  }
}

TEST_CASE("every mechanism follows a permutation when positions travel with the rows", "[laws]") {
  const auto states = random_tensor<double, 3>({1, rows, layer_width}, 23);
  const auto moved = gathered(states, 0, shuffle);
  for (const mechanism m : every_mechanism) {
    CAPTURE(static_cast<int>(m));
    const auto plain = one_layer(m, call_at(counted(0, rows)), states, visible::causal{});
    CHECK(away_from_equivariance(plain, one_layer(m, call_at(shuffle), moved, visible::causal{})) < 1e-12);
    const auto left_behind = one_layer(m, call_at(counted(0, rows)), moved, visible::everything{});
    const auto unmasked = one_layer(m, call_at(counted(0, rows)), states, visible::everything{});
    CHECK((away_from_equivariance(unmasked, left_behind) > 0.1) == (m != mechanism::none));
  }
}

/// The mean of every prefix, by attention whose queries are zero.
std::vector<double> prefix_means(const std::vector<double>& values) {
  const auto count = static_cast<index_t>(values.size());
  const attention model{heads{}, scale::inverse_sqrt_head_dim{}, visible::causal{}};
  const auto plan = model.compile<double>(call::prefill_chunk(0, count));
  const tensor<double, 4> zero({1, 1, count, 1});
  const auto key = random_tensor<double, 4>({1, 1, count, 1}, 24);
  const auto out = attend(eager{}, plan, {zero.view(), key.view(), heads_first(values.data(), 1, 1, count, 1)}).output;
  return {out.values().begin(), out.values().end()};
}

TEST_CASE("one causal layer cannot tell two orders apart at the last row and two can", "[laws]") {
  const double a = 0.375;
  const double b = -1.71;
  const auto ab = prefix_means({a, b});
  const auto ba = prefix_means({b, a});
  CHECK(ab[1] == ba[1]);
  CHECK_THAT(ab[1], WithinAbs((a + b) / 2, 1e-15));
  CHECK_THAT(prefix_means(ab)[1], WithinAbs((3 * a + b) / 4, 1e-15));
  CHECK_THAT(prefix_means(ba)[1], WithinAbs((a + 3 * b) / 4, 1e-15));
}

}  // namespace permutation_test
