// SPDX-License-Identifier: MIT
#include <posgeo/attend/eager.hpp>
#include <posgeo/contract/rotary_rows.hpp>
#include <posgeo/frequency/geometric.hpp>
#include <posgeo/model/attention.hpp>
#include <posgeo/scale/none.hpp>
#include <posgeo/visible/everything.hpp>

#include "support/calls.hpp"
#include "support/catch.hpp"
#include "support/compare.hpp"
#include "support/random.hpp"
#include "support/refusal.hpp"

namespace rotary_rows_test {

using namespace posgeo;
using namespace posgeo::test;
using contract::rotary_conversion;
using contract::rotary_rows;
using transform::pairing;

constexpr heads layout{.query = 6, .key_value = 2, .dim = 7};
constexpr index_t rotary_dim = 6;
constexpr index_t width = 5;

rotary_conversion to_halves() { return {.from = pairing::adjacent, .to = pairing::halves, .rotary_dim = rotary_dim}; }

/// A projection of states to heads.
struct projection {
  tensor<double, 2> weights;
  std::vector<double> bias;

  [[nodiscard]] projection moved(const rotary_rows& rows) const {
    return {rows.moved(weights.view()), rows.moved(bias)};
  }
  [[nodiscard]] tensor<double, 4> of(const tensor<double, 3>& states) const {
    const index_t count = weights.extent(0) / layout.dim;
    tensor<double, 4> out({states.extent(0), count, states.extent(1), layout.dim});
    for (index_t b = 0; b < states.extent(0); ++b) {
      for (index_t h = 0; h < count; ++h) {
        for (index_t row = 0; row < states.extent(1); ++row) {
          for (index_t d = 0; d < layout.dim; ++d) {
            const index_t feature = h * layout.dim + d;
            double sum = bias[static_cast<std::size_t>(feature)];
            for (index_t w = 0; w < width; ++w) sum += weights(feature, w) * states(b, row, w);
            out(b, h, row, d) = sum;
          }
        }
      }
    }
    return out;
  }
};

projection random_projection(index_t count, unsigned seed) {
  return {random_tensor<double, 2>({count * layout.dim, width}, seed),
          random_values<double>(static_cast<std::size_t>(count * layout.dim), seed + 1)};
}

std::vector<double> scores(const projection& query, const projection& key, pairing pairs) {
  const auto call = call_at({7, 3}, {0, 5, 9});
  const transform::rotary turn(frequency::geometric({.base = 50.0, .rotary_dim = rotary_dim}), {.pairs = pairs});
  const attention model{layout, scale::none{}, turn, visible::everything{}};
  const auto q = query.of(random_tensor<double, 3>({1, 2, width}, 83));
  const auto k = key.of(random_tensor<double, 3>({1, 3, width}, 84));
  const auto result = attend(eager{}, model.compile<double>(call), {q.view(), k.view(), k.view()}, also::scores);
  return {result.scores.values().begin(), result.scores.values().end()};
}

TEST_CASE("moved query and key rows leave every score as it was", "[rotary_rows]") {
  const auto query = random_projection(layout.query, 81);
  const auto key = random_projection(layout.key_value, 91);
  const auto of_queries = rotary_rows::of_queries(layout, to_halves());
  const auto of_keys = rotary_rows::of_keys(layout, to_halves());
  const auto source = scores(query, key, pairing::adjacent);
  const auto target = [&](const projection& q, const projection& k) { return scores(q, k, pairing::halves); };
  CHECK(largest_difference(target(query.moved(of_queries), key.moved(of_keys)), source) < 1e-12);

  CHECK(largest_difference(target(query, key), source) > 0.1);
  CHECK(largest_difference(target(query.moved(of_queries), key), source) > 0.1);
  CHECK(largest_difference(target(query, key.moved(of_keys)), source) > 0.1);
  const auto twice = query.moved(of_queries).moved(of_queries);
  CHECK(largest_difference(target(twice, key.moved(of_keys)), source) > 0.1);
  const projection weights_only{of_keys.moved(key.weights.view()), key.bias};
  CHECK(largest_difference(target(query.moved(of_queries), weights_only), source) > 0.1);
}

TEST_CASE("each head moves its own rows and the dimensions behind the pairs stay", "[rotary_rows]") {
  CHECK(rotary_rows::of_keys(layout, to_halves()).order() ==
        std::vector<index_t>{0, 2, 4, 1, 3, 5, 6, 7, 9, 11, 8, 10, 12, 13});
  CHECK(rotary_rows::of_queries(layout, to_halves()).order().size() == 42);
}

TEST_CASE("rotary rows have an inverse, which is the opposite conversion", "[rotary_rows]") {
  const auto there = rotary_rows::of_queries(layout, to_halves());
  const auto back =
      rotary_rows::of_queries(layout, {.from = pairing::halves, .to = pairing::adjacent, .rotary_dim = rotary_dim});
  CHECK(there.inverse().order() == back.order());
  CHECK(there.order() != back.order());
  const auto rows = random_values<double>(42, 85);
  CHECK(there.inverse().moved(there.moved(rows)) == rows);
  const auto same =
      rotary_rows::of_queries(layout, {.from = pairing::halves, .to = pairing::halves, .rotary_dim = rotary_dim});
  CHECK(same.moved(rows) == rows);
}

TEST_CASE("rotary rows refuse a tensor of other heads and widths that cannot pair", "[rotary_rows]") {
  const auto of_queries = rotary_rows::of_queries(layout, to_halves());
  const auto key = random_projection(layout.key_value, 86);
  CHECK(refusal([&] { return of_queries.moved(key.weights.view()); }).code() == errc::shape_mismatch);
  CHECK(refusal([&] { return of_queries.moved(key.bias); }).code() == errc::shape_mismatch);
  for (const index_t turning : {5, 8, -2}) {
    CHECK(refusal([&] {
            return rotary_rows::of_keys(layout,
                                        {.from = pairing::adjacent, .to = pairing::halves, .rotary_dim = turning});
          }).code() == errc::odd_width);
  }
  CHECK(refusal([&] { return rotary_rows::of_keys({.query = 3, .key_value = 2, .dim = 8}, to_halves()); }).code() ==
        errc::head_count);
}

}  // namespace rotary_rows_test
