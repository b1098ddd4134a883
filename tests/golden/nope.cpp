// SPDX-License-Identifier: MIT
#include <posgeo/call/prefill_chunk.hpp>
#include <posgeo/model/nope.hpp>
#include <posgeo/scale/none.hpp>
#include <posgeo/visible/causal.hpp>

#include "golden/mechanisms.hpp"
#include "golden/modules.hpp"

namespace posgeo::golden {
namespace {

/// Uniform causal attention with identity values and no residual, layer after layer.
template <class T>
outputs<T> produce_nope(const golden_case& c) {
  const index_t length = c.integer("length");
  const index_t width = c.integer("dim");
  const attention model{heads{.dim = width}, scale::none{}, visible::causal{}};
  require_nope(nope::causal, model);
  const auto plan = model.template compile<T>(call::prefill_chunk(0, length));
  const tensor<T, 4> zeros({1, 1, length, width});

  outputs<T> out;
  const auto layers = [&](std::vector<T> states, const auto& after) {
    for (index_t layer = 1; layer <= c.integer("layers"); ++layer) {
      const auto result = attend(
          eager{}, plan, {zeros.view(), zeros.view(), heads_view<const T>{states.data(), {1, 1, length, width}}});
      states.assign(result.output.values().begin(), result.output.values().end());
      after(layer, states);
    }
    return states;
  };
  std::vector<T> x = c.values<T>("x");
  layers(x, [&](index_t layer, const auto& states) { out.add(fmt::format("layer_{}", layer), states); });

  std::vector<T> reversed;
  for (index_t row = length; row-- > 0;) {
    reversed.insert(reversed.end(), x.begin() + row * width, x.begin() + (row + 1) * width);
  }
  out.add("reversed_input_output", layers(reversed, [](index_t, const auto&) {}));
  return out;
}

}  // namespace

mechanism nope() { return {"nope", produce_nope<double>, produce_nope<float>}; }

}  // namespace posgeo::golden
