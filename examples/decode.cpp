// SPDX-License-Identifier: MIT
// Prefill five tokens, then decode one at a time: each step must be the row of the full run.
#include <posgeo/attend/eager.hpp>
#include <posgeo/bias/alibi.hpp>
#include <posgeo/call/decode_step.hpp>
#include <posgeo/call/prefill_chunk.hpp>
#include <posgeo/model/attention.hpp>
#include <posgeo/scale/inverse_sqrt_head_dim.hpp>
#include <posgeo/visible/causal.hpp>

#include <fmt/core.h>

#include <array>
#include <cmath>
#include <random>

using namespace posgeo;

int main() {
  constexpr heads layout{.query = 4, .key_value = 2, .dim = 16};
  constexpr index_t length = 12;
  const attention model{layout, scale::inverse_sqrt_head_dim{}, visible::causal{},
                        bias::alibi{bias::alibi_slopes::reference(layout.query), bias::alibi_direction::causal}};

  tensor<double, 4> query({1, layout.query, length, layout.dim});
  tensor<double, 4> key({1, layout.key_value, length, layout.dim});
  tensor<double, 4> value({1, layout.key_value, length, layout.dim});
  std::mt19937_64 engine(1);
  std::normal_distribution<double> normal;
  for (auto* all : {&query, &key, &value}) {
    for (double& number : all->values()) number = normal(engine);
  }
  const auto rows = [](const tensor<double, 4>& all, index_t first, index_t count) {  // a view: nothing is copied
    const std::array<index_t, 4> extents{1, all.extent(1), count, all.extent(3)};
    return heads_view<const double>{all.view().row(0, 0, first).data(), extents, all.view().strides()};
  };

  const auto full = attend(eager{}, model.compile<double>(call::prefill_chunk(0, length)),
                           {query.view(), key.view(), value.view()}, also::log_sum_exp);
  const auto run = [&](const position_call& call, index_t first) {
    const index_t seen = first + call.queries();
    const auto step =
        attend(eager{}, model.compile<double>(call),
               {rows(query, first, call.queries()), rows(key, 0, seen), rows(value, 0, seen)}, also::log_sum_exp);
    double difference = 0.0;  // summed
    const auto compare = [&difference](double a, double b) { difference += std::abs(a - b); };
    for (index_t h = 0; h < layout.query; ++h) {
      for (index_t i = 0; i < call.queries(); ++i) {
        compare(step.log_sum_exp(0, h, i), full.log_sum_exp(0, h, first + i));
        for (index_t d = 0; d < layout.dim; ++d) compare(step.output(0, h, i, d), full.output(0, h, first + i, d));
      }
    }
    fmt::print("positions {:2} to {:2} over {:2} keys: {:.1e} from the full run\n", first, seen - 1, seen, difference);
    return difference;
  };
  double total = run(call::prefill_chunk(0, 5), 0);
  for (index_t at = 5; at < length; ++at) total += run(call::decode_step(at, at), at);
  return total <= 1e-12 ? 0 : 1;
}
