// SPDX-License-Identifier: MIT
#include <posgeo/attend/eager.hpp>
#include <posgeo/bias/alibi.hpp>
#include <posgeo/encode/sinusoidal.hpp>
#include <posgeo/frequency/geometric.hpp>
#include <posgeo/model/attention.hpp>
#include <posgeo/scale/inverse_sqrt_head_dim.hpp>
#include <posgeo/transform/rotary.hpp>
#include <posgeo/visible/everything.hpp>

#include <cmath>

#include "support/calls.hpp"
#include "support/catch.hpp"
#include "support/compare.hpp"
#include "support/lab_tokens.hpp"

// Five tokens, of which the second and fourth hold the same content and the last is the query. Positions are moved
// together (shift) or the query's alone (gap). Expected numbers: the same program in NumPy, double precision.
namespace {

using namespace posgeo;
using namespace posgeo::test;
using namespace posgeo::test::lab;

enum class scheme { none, sin, rope, alibi };

/// Token rows [first, last), with sinusoids where the scheme has them, times the weights.
tensor<double, 4> project(scheme s, const std::vector<index_t>& positions, std::size_t first, const matrix& weights) {
  const auto rows = static_cast<index_t>(positions.size());
  tensor<double, 3> states({1, rows, width});
  for (index_t r = 0; r < rows; ++r) {
    const row& token = tokens[first + static_cast<std::size_t>(r)];
    std::copy(token.begin(), token.end(), states.view().row(0, r).begin());
  }
  if (s == scheme::sin) {
    const encode::sinusoidal encoder(
        {.width = width, .layout = encode::sinusoid_layout::interleaved, .exponent = encode::sinusoid_exponent::paper});
    encode::add_positions(encoder, call_at(positions), states.view());
  }
  tensor<double, 4> out({1, 1, rows, width});
  for (index_t r = 0; r < rows; ++r) {
    for (std::size_t from = 0; from < width; ++from) {
      for (std::size_t to = 0; to < width; ++to) {
        out(0, 0, r, to) += states(0, r, from) * weights[from][to];
      }
    }
  }
  return out;
}

struct outcome {
  std::vector<double> weights;
  double log_sum_exp;
};

outcome attend_with(scheme s, index_t shift, index_t gap) {
  std::vector<index_t> positions(base_positions.begin(), base_positions.end());
  for (index_t& p : positions) p += shift;
  const std::vector<index_t> query_at{positions[4] + gap};
  positions.pop_back();
  const auto query = project(s, query_at, 4, query_weights);
  const auto key = project(s, positions, 0, key_weights);
  const heads layout{.query = 1, .key_value = 1, .dim = width};
  const auto run = [&](const auto&... policy) -> outcome {
    const attention model{layout, scale::inverse_sqrt_head_dim{}, visible::everything{}, policy...};
    const auto plan = model.template compile<double>(call_at(query_at, positions));
    const auto out = attend(eager{}, plan, {query.view(), key.view(), key.view()}, also::everything);
    return {{out.probabilities.values().begin(), out.probabilities.values().end()}, out.log_sum_exp(0, 0, 0)};
  };
  if (s == scheme::rope) {
    return run(transform::rotary(frequency::geometric({.base = 10000.0, .rotary_dim = width}),
                                 {.pairs = transform::pairing::adjacent}));
  }
  if (s == scheme::alibi) {
    return run(bias::alibi(bias::alibi_slopes::custom({0.12}), bias::alibi_direction::symmetric));
  }
  return run();
}

/// The L1 change of the weights under an intervention.
double change(scheme s, index_t shift, index_t gap) {
  const auto before = attend_with(s, 0, 0).weights;
  const auto after = attend_with(s, shift, gap).weights;
  double sum = 0.0;
  for (std::size_t j = 0; j < before.size(); ++j) sum += std::abs(before[j] - after[j]);
  return sum;
}

TEST_CASE("the weights of every scheme are the reference ones", "[lab]") {
  const auto expect = [](scheme s, const std::vector<double>& reference) {
    CHECK(largest_difference(attend_with(s, 0, 0).weights, reference) < 1e-10);
  };
  expect(scheme::none, {0.255898982550, 0.239171954275, 0.265757108899, 0.239171954275});
  expect(scheme::sin, {0.341376464845, 0.422016786128, 0.101390497084, 0.135216251943});
  expect(scheme::rope, {0.266553089965, 0.236609776561, 0.265650363626, 0.231186769848});
  expect(scheme::alibi, {0.197910776309, 0.208557817390, 0.294599351999, 0.298932054302});
}

TEST_CASE("a shift of all positions changes the sinusoidal scheme only", "[lab]") {
  CHECK(change(scheme::none, 17, 0) == 0.0);
  CHECK_THAT(change(scheme::sin, 17, 0), WithinAbs(0.484803660112, 1e-10));
  CHECK(change(scheme::rope, 17, 0) < 1e-10);
  CHECK(change(scheme::alibi, 17, 0) < 1e-10);
  CHECK_THAT(attend_with(scheme::alibi, 17, 0).log_sum_exp,
             WithinAbs(attend_with(scheme::alibi, 0, 0).log_sum_exp, 1e-10));
}

TEST_CASE("a gap before the query changes phases but no linear penalty", "[lab]") {
  CHECK(change(scheme::none, 0, 5) == 0.0);
  CHECK_THAT(change(scheme::sin, 0, 5), WithinAbs(0.250487247360, 1e-10));
  CHECK_THAT(change(scheme::rope, 0, 5), WithinAbs(0.027762074786, 1e-10));
  CHECK(change(scheme::alibi, 0, 5) < 1e-10);  // every key loses the same, which the softmax cannot see
  CHECK_THAT(attend_with(scheme::alibi, 0, 5).log_sum_exp - attend_with(scheme::alibi, 0, 0).log_sum_exp,
             WithinAbs(-5 * 0.12, 1e-10));
}

TEST_CASE("equal content is told apart by positions alone", "[lab]") {
  const auto apart = [](scheme s) {
    const auto weights = attend_with(s, 0, 0).weights;
    return std::abs(weights[1] - weights[3]);
  };
  CHECK(apart(scheme::none) < 1e-12);
  CHECK(apart(scheme::sin) > 1e-4);
  CHECK(apart(scheme::rope) > 1e-4);
  CHECK(apart(scheme::alibi) > 1e-4);
}

}  // namespace
