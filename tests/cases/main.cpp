// SPDX-License-Identifier: MIT
#include <CLI/CLI.hpp>
#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <exception>
#include <fstream>
#include <string>
#include <vector>

#include "cases/judge.hpp"
#include "cases/operations.hpp"

namespace {

using namespace posgeo::cases;
using nlohmann::json;

operations every_operation() {
  operations all;
  for (const auto& part : {rotary_operations(), coordinate_operations(), visibility_operations(), bias_operations(),
                           attention_operations(), shaw_operations(), transformer_xl_operations(), deberta_operations(),
                           tupe_operations(), graph_operations(), grid_operations(), frequency_operations(),
                           multi_axis_operations(), contract_operations()}) {
    all.insert(part.begin(), part.end());
  }
  return all;
}

struct field_case {
  std::string id;
  std::string family;
  std::string op;
  json entry;

  explicit field_case(const json& from)
      : id(from.at("id")), family(from.at("family")), op(from.at("input").at("op")), entry(from) {}

  /// A case is addressed by FAMILY, FAMILY/OP or its id.
  [[nodiscard]] bool answers_to(const std::string& address) const {
    return address == id || address == family || address == family + "/" + op;
  }
  [[nodiscard]] bool answers_to_one_of(const std::vector<std::string>& addresses) const {
    return std::any_of(addresses.begin(), addresses.end(), [this](const auto& a) { return answers_to(a); });
  }
};

/// What is wrong with the case; empty when it passes.
std::vector<std::string> run(const field_case& c) {
  static const operations known = every_operation();
  const auto found = known.find(c.op);
  if (found == known.end()) return {"no runner for this operation"};
  try {
    return judge(found->second(c.entry.at("input")), c.entry.at("expected"), c.entry.at("tolerance"));
  } catch (const not_supported& e) {
    return {std::string("no runner for this input: ") + e.what()};
  } catch (const std::exception& e) {
    return {e.what()};
  }
}

int run_all(const std::string& path, const std::vector<std::string>& only, const std::vector<std::string>& except) {
  std::ifstream file(path);
  std::vector<field_case> cases;
  for (const json& entry : json::parse(file)) cases.emplace_back(entry);
  for (const auto* addresses : {&only, &except}) {
    for (const std::string& address : *addresses) {
      if (std::none_of(cases.begin(), cases.end(), [&](const field_case& c) { return c.answers_to(address); })) {
        fmt::print(stderr, "{}: no case of this family, operation or id\n", address);
        return 2;
      }
    }
  }
  int passed = 0;
  int failed = 0;
  for (const field_case& c : cases) {
    if ((!only.empty() && !c.answers_to_one_of(only)) || c.answers_to_one_of(except)) continue;
    const auto found = run(c);
    for (const std::string& what : found) fmt::print("{}/{}: case {}: {}\n", c.family, c.op, c.id, what);
    ++(found.empty() ? passed : failed);
  }
  fmt::print("{} passed, {} failed\n", passed, failed);
  return failed == 0 && passed > 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Holds posgeo against field cases: right values to be met, wrong values to be told apart."};
  std::string file;
  std::vector<std::string> only;
  std::vector<std::string> except;
  app.add_option("--file", file, "a JSON list of cases")->required()->check(CLI::ExistingFile);
  app.add_option("--only", only, "run FAMILY, FAMILY/OP or one id alone; may be given several times")
      ->take_all()
      ->allow_extra_args(false);
  app.add_option("--except", except, "leave out FAMILY, FAMILY/OP or one id; may be given several times")
      ->take_all()
      ->allow_extra_args(false);
  CLI11_PARSE(app, argc, argv);
  try {
    return run_all(file, only, except);
  } catch (const std::exception& e) {
    fmt::print(stderr, "{}\n", e.what());
    return 2;
  }
}
