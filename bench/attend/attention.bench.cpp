// SPDX-License-Identifier: MIT
// Every family under every kind of call, length, width and element type, from the table of cases.
#include <algorithm>
#include <array>

#include "families/families.hpp"
#include "support/inputs.hpp"
#include "support/peaks.hpp"

namespace {

using namespace posgeo;
using bench::element;
using bench::mask;
using bench::request;

/// The last case that was prepared: Google Benchmark enters a benchmark several times.
struct one_case {
  std::string name;
  bench::prepared measured;
  std::optional<bench::prepared> without_bias;
};

const one_case* prepared_case(const std::string& name, const bench::family& of, const request& r) {
  static std::optional<one_case> last;
  if (last && last->name == name) return &*last;
  last.reset();
  auto measured = of.prepare(r);
  if (!measured) return nullptr;
  last.emplace(one_case{name, std::move(*measured), std::nullopt});
  if (of.name != "none") last->without_bias = bench::family_named("none").prepare(r);
  return &*last;
}

double peak_of(element type) { return type == element::f64 ? bench::fma_peak<double>() : bench::fma_peak<float>(); }

void run(benchmark::State& state, const std::string& name, const bench::family& of, const request& r) {
  const one_case* now = nullptr;
  try {
    now = prepared_case(name, of, r);
  } catch (const std::exception& e) {
    state.SkipWithError(e.what());
    return;
  }
  if (now == nullptr) {
    state.SkipWithError("the executor does not take this element type");
    return;
  }
  const bench::work& does = now->measured.does;
  const auto reference_time = [&] { return now->without_bias ? bench::seconds_of(now->without_bias->run) : 0.0; };
  const double peak_before = peak_of(r.type);
  const double plain_before = reference_time();
  double seconds = 0;
  for (auto _ : state) seconds += bench::seconds_of(now->measured.run);
  seconds /= static_cast<double>(state.iterations());
  const double plain = (plain_before + reference_time()) / 2;
  const double peak = (peak_before + peak_of(r.type)) / 2;

  static const double bandwidth = bench::reader().bandwidth();
  state.counters["GFLOP/s"] = does.attention / seconds / 1e9;
  state.counters["of_peak"] = does.attention / seconds / peak;
  state.counters["of_peak_counting_terms"] = does.counted() / seconds / peak;
  state.counters["term_work"] = (does.class_scores + does.appended) / does.attention;
  state.counters["GB/s"] = does.bytes / seconds / 1e9;
  state.counters["of_DRAM"] = does.bytes / seconds / bandwidth;
  state.counters["workspace_bytes"] = does.workspace;
  state.counters["x_no_bias"] = plain > 0 ? seconds / plain : 1.0;
}

struct kind {
  const char* name;
  mask sees;
  bool one_query;
  std::array<index_t, 3> lengths;
};

[[maybe_unused]] const bool registered = [] {
  constexpr std::array kinds{kind{"prefill", mask::full, false, {128, 512, 2048}},
                             kind{"causal", mask::causal, false, {128, 512, 2048}},
                             kind{"decode", mask::causal, true, {2048, 8192, 32768}}};
  constexpr std::array<std::pair<const char*, element>, 4> types{
      {{"f32", element::f32}, {"f64", element::f64}, {"bf16", element::bf16}, {"f16", element::f16}}};
  for (const bench::family& of : bench::families()) {
    for (const kind& k : kinds) {
      if (of.under == bench::masks::causal && k.sees != mask::causal) continue;
      for (const index_t length : k.lengths) {
        for (const index_t dim : {64, 128}) {
          for (const auto& [type_name, type] : types) {
            if (std::count(of.types.begin(), of.types.end(), type) == 0) continue;
            const request r{.layout = {.query = 8, .key_value = 8, .dim = dim},
                            .queries = k.one_query ? 1 : length,
                            .keys = length,
                            .sees = k.sees,
                            .type = type};
            const auto name = fmt::format("attention/{}/{}/{}x{}/{}", k.name, of.name, length, dim, type_name);
            benchmark::RegisterBenchmark(name.c_str(), [name, &of, r](benchmark::State& state) {
              run(state, name, of, r);
            })->Unit(benchmark::kMicrosecond);
          }
        }
      }
    }
  }
  return true;
}();

}  // namespace
