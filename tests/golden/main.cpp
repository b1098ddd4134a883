// SPDX-License-Identifier: MIT
#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include <algorithm>
#include <exception>
#include <string>
#include <utility>
#include <vector>

#include "golden/mechanisms.hpp"

namespace {

using namespace posgeo::golden;

/// What is wrong with the case; empty when it passes.
std::vector<std::string> run(const std::string& directory, const case_entry& entry) {
  static const std::vector<mechanism> known = every_mechanism();
  const auto runner =
      std::find_if(known.begin(), known.end(), [&](const mechanism& m) { return entry.mechanism == m.name; });
  if (runner == known.end()) return {"no runner for this mechanism"};
  try {
    const golden_case c = read_case(directory, entry);
    return c.judge(runner->in_double(c), runner->in_float(c));
  } catch (const std::exception& e) {
    return {e.what()};
  }
}

bool has(const std::vector<std::string>& mechanisms, const std::string& mechanism) {
  return std::find(mechanisms.begin(), mechanisms.end(), mechanism) != mechanisms.end();
}

int run_all(const std::string& directory, const std::vector<std::string>& only,
            const std::vector<std::string>& except) {
  const auto entries = list_cases(directory);
  for (const auto& [option, mechanisms] : {std::pair{"--only", &only}, std::pair{"--except", &except}}) {
    for (const std::string& named : *mechanisms) {
      if (std::none_of(entries.begin(), entries.end(), [&](const case_entry& e) { return e.mechanism == named; })) {
        fmt::print(stderr, "{} {}: the manifest has no case of this mechanism\n", option, named);
        return 2;
      }
    }
  }
  int passed = 0;
  int failed = 0;
  for (const case_entry& entry : entries) {
    if ((!only.empty() && !has(only, entry.mechanism)) || has(except, entry.mechanism)) continue;
    const auto found = run(directory, entry);
    for (const std::string& what : found) fmt::print("{}: case {}: {}\n", entry.mechanism, entry.name, what);
    ++(found.empty() ? passed : failed);
  }
  fmt::print("{} passed, {} failed\n", passed, failed);
  return failed == 0 && passed > 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Holds posgeo against golden cases: a directory of safetensors files with a manifest.json."};
  std::string directory;
  std::vector<std::string> only;
  std::vector<std::string> except;
  app.add_option("--dir", directory, "the directory")->required()->check(CLI::ExistingDirectory);
  app.add_option("--only", only, "run the cases of this mechanism alone; may be given several times")
      ->take_all()
      ->allow_extra_args(false);
  app.add_option("--except", except, "leave out the cases of this mechanism; may be given several times")
      ->take_all()
      ->allow_extra_args(false);
  CLI11_PARSE(app, argc, argv);
  try {
    return run_all(directory, only, except);
  } catch (const std::exception& e) {
    fmt::print(stderr, "{}\n", e.what());
    return 2;
  }
}
