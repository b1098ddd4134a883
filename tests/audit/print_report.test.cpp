// SPDX-License-Identifier: MIT
#include <posgeo/audit/print_report.hpp>

#include <limits>
#include <sstream>

#include "support/catch.hpp"

namespace audit_print_report_test {

using namespace posgeo;
using namespace posgeo::audit;

constexpr double infinity = std::numeric_limits<double>::infinity();

finding of(intervention kind, verdict expected, verdict reference, verdict found) {
  finding one{.kind = kind, .what = "as told", .expected = expected, .reference = reference, .found = found};
  one.tolerance = 0.0005;
  one.measured = {.score_differences = std::nullopt, .log_sum_exp = 0.0004, .weights = 1.25, .outputs = 0.0};
  return one;
}
report sample() {
  using v = verdict;
  report out{.name = "mine", .method = {description("alibi"), description("causal")}};
  out.findings.push_back(of(intervention::shift_queries, v::changes, v::changes, v::changes));
  out.findings.push_back(of(intervention::shift_all, v::invariant, v::invariant, v::changes));
  out.findings.back().from_reference = infinity;
  out.findings.back().measured.outputs = infinity;
  out.findings.push_back(of(intervention::reverse, v::changes, v::invariant, v::invariant));
  out.findings.push_back(of(intervention::stretch_gap, v::invariant, v::changes, v::changes));
  out.findings.push_back(of(intervention::cached, v::invariant, v::invariant, v::refused));
  out.findings.back().message = "mine, call: expected another kind, got this one";
  out.findings.push_back(of(intervention::pack, v::not_applicable, v::not_applicable, v::not_applicable));
  out.debts.push_back({debt::procedure, "a finite range"});
  out.from_reference = 0.0001;
  out.tolerance = 0.0005;
  return out;
}

TEST_CASE("a report prints verdicts, changes and outcomes in words", "[audit]") {
  CHECK(fmt::format("{}", sample()) ==
        "audit of mine: alibi, causal\n"
        "the call as it is: ~0 from the reference, tolerance 5.0e-04: ok\n"
        "\n"
        "intervention             found       declared    outputs weights  scores     lse   ~0 is\n"
        "shift_queries            changes     changes          ~0 1.2e+00       -      ~0 5.0e-04        ok\n"
        "  as told\n"
        "shift_all                changes     invariant       inf 1.2e+00       -      ~0 5.0e-04     FAULT\n"
        "  as told\n"
        "    the reference: invariant; inf from its numbers\n"
        "reverse                  invariant   changes          ~0 1.2e+00       -      ~0 5.0e-04  not seen\n"
        "  as told\n"
        "stretch_gap              changes     invariant        ~0 1.2e+00       -      ~0 5.0e-04       LAW\n"
        "  as told\n"
        "    the reference: changes\n"
        "cached                   refused     invariant         -       -       -       -       - not taken\n"
        "  as told\n"
        "    refused: mine, call: expected another kind, got this one\n"
        "pack                                                                                             -\n"
        "  as told\n"
        "\n"
        "debts\n"
        "  procedure: a finite range\n"
        "\n"
        "1 fault\n");
}

TEST_CASE("a report counts the call as it is among its faults", "[audit]") {
  report given = sample();
  given.from_reference = 0.25;
  given.debts.clear();
  const std::string said = fmt::format("{}", given);
  CHECK(said.find("the call as it is: 2.5e-01 from the reference, tolerance 5.0e-04: FAULT\n") != std::string::npos);
  CHECK(said.find("\nno debt shown\n\n2 faults\n") != std::string::npos);
  given.findings.clear();
  given.from_reference = 0.0;
  CHECK(fmt::format("{}", given).find("\nno fault\n") != std::string::npos);
}

TEST_CASE("a report stays within 100 columns but for a word that is longer", "[audit]") {
  report given = sample();
  const std::string word(120, 'w');
  std::string sentence;
  for (int n = 0; n < 60; ++n) sentence += "of\nnine bytes ";
  for (finding& one : given.findings) {
    one.kind = intervention::permute_content_unmasked;
    one.what = sentence;
    one.message = sentence + word + " " + sentence;
  }
  std::istringstream lines(fmt::format("{}", given));
  for (std::string line; std::getline(lines, line);) {
    CHECK((line.size() <= 100 || line == "    " + word));
    CHECK((line.empty() || line.back() != ' '));
  }
}

}  // namespace audit_print_report_test
