// SPDX-License-Identifier: MIT
// The eager executor by mechanism, call and length: one batch entry, four heads of 64, float.
#include <posgeo/attend/eager.hpp>
#include <posgeo/bias/alibi.hpp>
#include <posgeo/bias/t5.hpp>
#include <posgeo/call/decode_step.hpp>
#include <posgeo/call/prefill_chunk.hpp>
#include <posgeo/frequency/geometric.hpp>
#include <posgeo/model/attention.hpp>
#include <posgeo/scale/inverse_sqrt_head_dim.hpp>
#include <posgeo/transform/rotary.hpp>
#include <posgeo/visible/causal.hpp>
#include <posgeo/visible/everything.hpp>

#include "support/inputs.hpp"

namespace {

using namespace posgeo;

constexpr heads layout{.query = 4, .key_value = 4, .dim = 64};

/// Times the attention. A multiply and an add each count, over visible pairs only.
template <class Attention>
void run(benchmark::State& state, const Attention& model, const position_call& call) {
  const auto plan = model.template compile<float>(call);
  const auto query = bench::random_tensor<float>({1, layout.query, call.queries(), layout.dim});
  const auto key = bench::random_tensor<float>({1, layout.key_value, call.keys(), layout.dim});
  auto output = query;
  for (auto _ : state) {
    attend(eager{}, plan, {query.view(), key.view(), key.view()}, {output.view()});
    benchmark::DoNotOptimize(output.values().data());
  }
  index_t pairs = 0;
  for (const query_index i : indices<query_index>(call.queries())) {
    for (const key_index j : indices<key_index>(call.keys())) pairs += plan.visible(batch_index{0}, i, j) ? 1 : 0;
  }
  state.counters["FLOP/s"] = benchmark::Counter(static_cast<double>(4 * pairs * layout.query * layout.dim),
                                                benchmark::Counter::kIsIterationInvariantRate);
}

/// Registers every mechanism under one kind of call, side by side for each length.
template <class Visibility, class MakeCall>
void add(const std::string& kind, const Visibility& visibility, const MakeCall& make_call) {
  const coordinate::t5_bucket bucket{
      {.num_buckets = 32, .max_distance = 128, .direction = coordinate::bucket_direction::bidirectional}};
  const std::vector<float> weights = bench::random_values<float>(32 * layout.query);
  const frequency::geometric frequencies{{.base = 10000.0, .rotary_dim = layout.dim}};
  for (const index_t length : {128, 512, 2048}) {
    const auto add_one = [&](std::string_view name, const auto&... mechanism) {
      const attention model{layout, scale::inverse_sqrt_head_dim{}, visibility, mechanism...};
      benchmark::RegisterBenchmark(
          fmt::format("eager/{}/{}/{}", kind, length, name).c_str(),
          [model, call = make_call(length)](benchmark::State& state) { run(state, model, call); })
          ->Unit(benchmark::kMicrosecond);
    };
    add_one("none");
    add_one("alibi", bias::alibi{bias::alibi_slopes::reference(layout.query), bias::alibi_direction::symmetric});
    add_one("t5", bias::t5<float>{{weights, 32, layout.query}, bucket});
    add_one("rotary", transform::rotary{frequencies, {.pairs = transform::pairing::halves}});
  }
}

[[maybe_unused]] const bool registered = [] {
  const auto whole = [](index_t length) { return call::prefill_chunk(0, length); };
  const auto one_step = [](index_t length) { return call::decode_step(length - 1, length - 1); };
  add("prefill", visible::everything{}, whole);
  add("causal", visible::causal{}, whole);
  add("decode", visible::causal{}, one_step);
  return true;
}();

}  // namespace
