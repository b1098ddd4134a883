// SPDX-License-Identifier: MIT
#include <posgeo/bias/alibi.hpp>
#include <posgeo/content/bert_relative.hpp>
#include <posgeo/frequency/geometric.hpp>
#include <posgeo/model/attention.hpp>
#include <posgeo/scale/none.hpp>
#include <posgeo/transform/rotary.hpp>
#include <posgeo/value/shaw_value.hpp>
#include <posgeo/visible/active.hpp>
#include <posgeo/visible/causal.hpp>

#include "support/catch.hpp"
#include "support/random.hpp"
#include "support/uneven_call.hpp"

namespace plan_test {

using namespace posgeo;
using namespace posgeo::test;

TEST_CASE("a plan hands out its terms, family by family", "[plan]") {
  constexpr heads layout{.query = 2, .key_value = 1, .dim = 4};
  const attention model(
      layout, visible::causal{}, bias::alibi(bias::alibi_slopes::custom({0.5, 3.0}), bias::alibi_direction::causal),
      transform::rotary(frequency::geometric({.base = 300.0, .rotary_dim = 4}), {.pairs = transform::pairing::halves}),
      scale::none{},
      value::shaw_value<double>(head_tables<double>::shared(random_table(5, 4, 1)), coordinate::clipped::symmetric(2)),
      content::relative_key_query<double>(random_table(31, 4, 2), 16), visible::active{});
  const position_call call = uneven_call();
  const auto plan = model.compile<double>(call);
  static_assert(std::tuple_size_v<std::remove_cvref_t<decltype(plan.visibilities())>> == 2);

  const auto& [bias] = plan.biases();
  const auto& [content] = plan.contents();
  const auto& [causal, active] = plan.visibilities();
  const auto& [rotary] = plan.transforms();
  const auto& [value] = plan.values();
  CHECK(value.width() == 4);
  CHECK(rotary.rotary_dim() == 4);
  CHECK((causal.rule() & active.rule()) == visibility_rule{.ahead = 0, .rows = hides::padding});

  const auto query = random_values<double>(4, 3);
  const auto key = random_values<double>(4, 4);
  const batch_index b{1};
  const head_index h{1};
  const query_index i{1};
  for (const key_index j : indices<key_index>(call.keys())) {
    CHECK(bias(b, h, i, j) == plan.bias(b, h, i, j));
    CHECK(content(b, h, i, j, query, key) == plan.content(b, h, i, j, query, key));
    CHECK((causal(b, i, j) && active(b, i, j)) == plan.visible(b, i, j));
  }
}

}  // namespace plan_test
