// SPDX-License-Identifier: MIT
// A score bias of your own: any type with the tag, compile and a noexcept term is one. Nothing is registered.
#include <posgeo/attend/eager.hpp>
#include <posgeo/bias/score_bias.hpp>
#include <posgeo/call/prefill_chunk.hpp>
#include <posgeo/core/description.hpp>
#include <posgeo/model/attention.hpp>
#include <posgeo/scale/inverse_sqrt_head_dim.hpp>
#include <posgeo/visible/causal.hpp>

#include <fmt/core.h>

#include <cmath>

using namespace posgeo;

/// Adds a bonus to the keys an even number of tokens away.
struct even_distance {
  using family = posgeo::family::score_bias;
  double bonus;

  /// What plan.method() says of it: two biases that differ have different descriptions.
  [[nodiscard]] description describe() const { return description("even_distance").with("bonus", bonus); }

  template <class T>
  struct term {
    T bonus;
    position_call call;
    T operator()(batch_index b, head_index, query_index i, key_index j) const noexcept {
      return call.offset(b, i, j).value() % 2 == 0 ? bonus : T{0};
    }
  };
  template <class T>
  term<T> compile(const position_call& call, const heads&) const {
    return {static_cast<T>(bonus), call};
  }
};
static_assert(score_bias<even_distance>);

int main() {
  const heads layout{.query = 2, .key_value = 1, .dim = 4};
  const attention model{layout, scale::inverse_sqrt_head_dim{}, visible::causal{}, even_distance{std::log(2.0)}};
  const auto plan = model.compile<double>(call::prefill_chunk(3, 2));  // tokens 3 and 4 after three cached ones

  const tensor<double, 4> query({1, 2, 2, 4});  // zeros: only the bias speaks, and a bonus of ln 2 doubles a weight
  const tensor<double, 4> key({1, 1, 5, 4});
  const auto result = attend(eager{}, plan, {query.view(), key.view(), key.view()}, also::probabilities);

  const double expected[2][5] = {{1 / 6., 2 / 6., 1 / 6., 2 / 6., 0}, {2 / 8., 1 / 8., 2 / 8., 1 / 8., 2 / 8.}};
  double difference = 0.0;
  for (index_t i = 0; i < 2; ++i) {
    fmt::print("query at {}:", 3 + i);
    for (index_t j = 0; j < 5; ++j) {
      fmt::print(" {:.4f}", result.probabilities(0, 0, i, j));
      for (index_t h = 0; h < 2; ++h) {
        difference += std::abs(result.probabilities(0, h, i, j) - expected[i][j]);
      }
    }
    fmt::print("\n");
  }
  return difference <= 1e-15 ? 0 : 1;
}
