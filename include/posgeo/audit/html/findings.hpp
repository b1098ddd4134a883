// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/audit/finding.hpp>
#include <posgeo/audit/html/block.hpp>
#include <posgeo/audit/outcome.hpp>

#include <array>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace posgeo::audit::html {

namespace detail {

[[nodiscard]] inline std::string value_said(const description::value& given) {
  const auto listed = [](const auto& numbers) {
    std::string out;
    for (std::size_t n = 0; n < numbers.size() && n < 8; ++n) {
      out += fmt::format("{}{}", n == 0 ? "" : ", ", shown(static_cast<double>(numbers[n])));
    }
    return numbers.size() > 8 ? fmt::format("{} numbers: {} ..", numbers.size(), out) : numbers.empty() ? "none" : out;
  };
  struct visitor {
    decltype(listed) list;
    std::string operator()(description::absent_t) const { return "none"; }
    std::string operator()(index_t number) const { return fmt::format("{}", number); }
    std::string operator()(double number) const { return fmt::format("{:g}", number); }
    std::string operator()(const std::string& words) const { return words; }
    std::string operator()(const std::vector<index_t>& numbers) const { return list(numbers); }
    std::string operator()(const std::vector<double>& numbers) const { return list(numbers); }
    std::string operator()(const described_table& numbers) const {
      std::string out;
      for (const index_t extent : numbers.extents()) out += fmt::format("{}{}", out.empty() ? "" : " x ", extent);
      return out + " numbers";
    }
    std::string operator()(const description& part) const { return part.name(); }
    std::string operator()(const std::vector<description>& parts) const {
      std::string out;
      for (const description& part : parts) out += (out.empty() ? "" : ", ") + part.name();
      return out.empty() ? "none" : out;
    }
  };
  return std::visit(visitor{listed}, given);
}

inline void add_fields(table& to, const std::string& name, const description& given, std::string_view inside) {
  for (const description::field& field : given.fields()) {
    const std::string at = inside.empty() ? field.name : std::string(inside) + "." + field.name;
    to.rows.push_back({name, in_words(at), value_said(field.what)});
    if (const auto* const part = std::get_if<description>(&field.what)) add_fields(to, name, *part, at);
    if (const auto* const parts = std::get_if<std::vector<description>>(&field.what)) {
      for (std::size_t n = 0; n < parts->size(); ++n) add_fields(to, name, (*parts)[n], fmt::format("{} {}", at, n));
    }
  }
}

/// How a finding is to be read, with a sign that needs no colour.
[[nodiscard]] inline std::string words_of(outcome is) {
  switch (is) {
    case outcome::ok:
      return "\xE2\x9C\x93 as declared";
    case outcome::not_seen:
      return "\xE2\x97\x8B not seen in this call";
    case outcome::law:
      return "\xE2\x9C\x97 the policies declare otherwise";
    case outcome::not_taken:
      return "\xE2\x9C\x97 not taken, though the reference takes it";
    case outcome::fault:
      return "\xE2\x9C\x97 other numbers than the reference";
    case outcome::none:
      break;
  }
  return "\xE2\x80\x93 no meaning for this call";
}

[[nodiscard]] inline std::string summary_of(const report& audited, const std::array<std::size_t, 6>& met) {
  std::string out = fmt::format("{} interventions", audited.findings.size());
  const auto add = [&](outcome is, std::string_view words) {
    const std::size_t count = met[static_cast<std::size_t>(is)];
    if (count > 0) out += fmt::format(", {} {}", count, words);
  };
  add(outcome::ok, "as declared");
  add(outcome::not_seen, "not seen in this call");
  add(outcome::law, "against what the policies declare");
  add(outcome::not_taken, "not taken");
  add(outcome::fault, "with other numbers than the reference");
  add(outcome::none, "without a meaning for this call");
  const bool close = audited.from_reference <= audited.tolerance;
  return out + fmt::format(". The call as it is: {} from the reference, which is {} the tolerance of {}.",
                           shown(audited.from_reference), close ? "within" : "beyond", shown(audited.tolerance));
}

}  // namespace detail

/// What the policies of a method are: every field of their descriptions.
[[nodiscard]] inline block method(const std::vector<description>& policies) {
  block out{.title = "The method"};
  table fields{"Fields of the policies", {"policy", "field", "value"}, {}};
  for (const description& policy : policies) {
    out.words += (out.words.empty() ? "" : ", ") + in_words(policy.name());
    detail::add_fields(fields, policy.name(), policy, "");
  }
  out.words = out.words.empty() ? "No policy." : "Policies: " + out.words + ".";
  out.numbers.push_back(std::move(fields));
  out.numbers_are = "All fields";
  return out;
}

/// The interventions of an audit, each with what was expected and what was found, and the debts that it names.
[[nodiscard]] inline std::vector<block> findings(const report& audited) {
  std::array<std::size_t, 6> met{};
  table verdicts{"What each intervention does to " + audited.name,
                 {"intervention", "what", "declared", "reference", "found", "verdict"},
                 {}};
  table numbers{
      "Largest changes",
      {"intervention", "score differences", "log-sum-exp", "weights (L1)", "outputs", "from reference", "tolerance"},
      {}};
  const auto maybe = [](const std::optional<double>& number) {
    return number ? shown(*number) : std::string("not given");
  };
  for (const finding& one : audited.findings) {
    const outcome is = outcome_of(one);
    ++met[static_cast<std::size_t>(is)];
    const std::string said = one.message.empty() ? detail::words_of(is) : detail::words_of(is) + ": " + one.message;
    const std::string kind = in_words(name_of(one.kind));
    const auto verdict_said = [](verdict v) { return in_words(name_of(v)); };
    verdicts.rows.push_back(
        {kind, one.what, verdict_said(one.expected), verdict_said(one.reference), verdict_said(one.found), said});
    const bool ran = one.found != verdict::refused && one.found != verdict::not_applicable;
    numbers.rows.push_back({kind, ran ? maybe(one.measured.score_differences) : "not run",
                            ran ? maybe(one.measured.log_sum_exp) : "not run",
                            ran ? maybe(one.measured.weights) : "not run",
                            ran ? shown(one.measured.outputs) : "not run", ran ? shown(one.from_reference) : "not run",
                            shown(one.tolerance)});
  }
  block first{.title = "Interventions"};
  first.words = detail::summary_of(audited, met);
  first.tables = {std::move(verdicts)};
  first.numbers = {std::move(numbers)};
  first.numbers_are = "Largest changes";
  first.width = room::whole;
  std::vector<block> out{std::move(first)};
  if (!audited.debts.empty()) {
    table debts{"What a context length hides", {"debt", "because"}, {}};
    for (const owed& debt : audited.debts) debts.rows.push_back({std::string(name_of(debt.kind)), debt.because});
    out.push_back({.title = "Debts",
                   .words = "What the method owes when it leaves the range that it was trained in.",
                   .tables = {std::move(debts)}});
  }
  return out;
}

}  // namespace posgeo::audit::html
