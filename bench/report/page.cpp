// SPDX-License-Identifier: MIT
#include "report/page.hpp"

#include <Eigen/Core>

#include <algorithm>
#include <fstream>
#include <limits>

#include "support/peaks.hpp"
#include "svg.hpp"

namespace posgeo::report {

namespace {

std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const auto colon = line.find(": ");
    if (line.rfind("model name", 0) == 0 && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown";
}

std::string compiler_name() {
#ifdef __clang__
  return "Clang " __clang_version__;
#else
  return "GCC " __VERSION__;
#endif
}

std::string figures(const row& r) {
  if (!r.measured) return fmt::format("not measured: {} | ", r.missing);
  return fmt::format("{:.3f} | {:.3f} to {:.3f}", r.median, r.lowest, r.highest);
}

std::string group_title(const row& r) {
  return r.build == "native" ? r.group : fmt::format("{}, {}", r.build, r.group);
}

std::string table(const std::vector<row>& rows) {
  std::string out = "| case | required | median | range | | met |\n| --- | --- | --- | --- | --- | --- |\n";
  for (const row& r : rows) {
    if (r.must == bound::none) continue;
    const std::string relation = r.must == bound::at_least ? "at least" : "at most";
    out += fmt::format("| {}: {} | {} {:.2f} x {} | {} | {:.4g} {} | {} |\n", group_title(r), r.name, relation,
                       r.required, r.of, figures(r), r.absolute, r.unit, r.met() ? "yes" : "no");
  }
  return out;
}

std::string record(const std::vector<row>& rows, const std::string& title, const std::string& group) {
  std::string lines;
  for (const row& r : rows) {
    if (r.must != bound::none || group_title(r) != group) continue;
    lines += fmt::format("| {} | {} | {:.4g} {} |\n", r.name, figures(r), r.absolute, r.unit);
  }
  if (lines.empty()) return {};
  return fmt::format("\n## {}\n\n| case | median | range | |\n| --- | --- | --- | --- |\n{}", title, lines);
}

}  // namespace

machine this_machine() {
  return {processor_name(),
          compiler_name(),
          POSGEO_REPORT_FLAGS,
          Eigen::SimdInstructionSetsInUse(),
          bench::fma_peak<float>(),
          bench::fma_peak<double>(),
          bench::bfloat16_dot_peak().value_or(0),
          bench::reader().bandwidth(),
          bench::reader().bandwidth(2)};
}

std::string page(const machine& m, const std::vector<row>& rows, int rounds, const std::string& kept) {
  const auto held = std::count_if(rows.begin(), rows.end(), [](const row& r) { return r.must != bound::none; });
  const auto met =
      std::count_if(rows.begin(), rows.end(), [](const row& r) { return r.must != bound::none && r.met(); });
  std::string out = fmt::format(
      "<!-- SPDX-License-Identifier: MIT -->\n# Benchmarks\n\nWritten by `posgeo_report`. Each figure is the median of "
      "{} rounds. A round goes through all cases of a\ngroup, and measures what a case is compared with right before "
      "and right after it. One batch entry; 8 heads, 2 at\nS=8192; float32 on one core unless said. A multiply and an "
      "add each count as a flop, over visible pairs only.\n\n![Share of the FMA peak by length](benchmarks.svg)\n\n",
      rounds);
  out += fmt::format(
      "## Machine\n\n- {}\n- {}, `{}`; vector instructions {}\n- one core: FMA peak {:.1f} GFLOP/s in float, {:.1f} in "
      "double",
      m.processor, m.compiler, m.flags, m.instructions, m.fma_peak / 1e9, m.double_peak / 1e9);
  if (m.bfloat16_peak > 0) out += fmt::format("; bf16 dot product {:.1f}", m.bfloat16_peak / 1e9);
  out += fmt::format("\n- memory read by one core {:.1f} GB/s, by two {:.1f}\n\n", m.bandwidth / 1e9,
                     m.bandwidth_of_two / 1e9);
  out += fmt::format(
      "## Required and measured\n\n{} of {} met. Of Transformer-XL, DeBERTa and TUPE, which have as many products as "
      "pairs or\nclasses, the time is compared with that which equally many flops take without the terms; their plain "
      "time is below.\nDecode goes through as many caches as fill 1 GiB, as a model goes through its layers.\n\n",
      met, held);
  out += table(rows);
  out += record(rows, "Other terms: time over that of no bias", "other terms");
  out += record(rows, "By length: share of the FMA peak", "lengths");
  out += record(rows, "The AVX2 build: share of its FMA peak", "avx2, prefill");
  out += record(rows, "The -fPIC build: share of the FMA peak", "pic, prefill");
  return out + "\n" + marker + "\n" + kept;
}

std::string picture(const std::vector<row>& rows) {
  pictures::curves plot{.title = "Attention without bias: share of the FMA peak of one core",
                        .across = "log2 of the length",
                        .up = "share",
                        .x = {6, 7, 8, 9, 10, 11, 12, 13},
                        .lines = {}};
  for (const char* const executor : {"", ", eager"}) {
    for (const int dim : {64, 128}) {
      for (const char* const sees : {"full", "causal"}) {
        pictures::series line{fmt::format("D={}, {}{}", dim, sees, executor), {}};
        for (const double x : plot.x) {
          const auto name = fmt::format("D={}, S={}, {}{}", dim, 1 << static_cast<int>(x), sees, executor);
          const auto found = std::find_if(rows.begin(), rows.end(), [&](const row& r) {
            return r.group == "lengths" && r.name == name && r.measured;
          });
          line.y.push_back(found == rows.end() ? std::numeric_limits<double>::quiet_NaN() : found->median);
        }
        plot.lines.push_back(std::move(line));
      }
    }
  }
  return pictures::draw(plot);
}

}  // namespace posgeo::report
