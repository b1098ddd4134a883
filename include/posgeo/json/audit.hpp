// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/audit/outcome.hpp>
#include <posgeo/json/canonical.hpp>
#include <posgeo/json/digest.hpp>
#include <posgeo/json/record.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace posgeo::json {

/// The name in the key "schema" of every audit report.
inline constexpr std::string_view audit_schema = "posgeo.audit.v1";

namespace detail {

/// A change: null where it was not measured, "infinity" where there is no finite one.
[[nodiscard]] inline value change_to_value(std::optional<double> change) {
  if (!change) return nullptr;
  if (std::isfinite(*change)) return *change;
  return "infinity";
}

[[nodiscard]] inline value finding_to_value(const audit::finding& given) {
  const bool measured = given.found != audit::verdict::refused && given.found != audit::verdict::not_applicable;
  const auto of = [measured](std::optional<double> change) {
    return measured ? change_to_value(change) : value(nullptr);
  };
  value out = value::object();
  out["intervention"] = name_of(given.kind);
  out["what"] = given.what;
  out["declared"] = name_of(given.expected);
  out["reference"] = name_of(given.reference);
  out["found"] = name_of(given.found);
  out["outcome"] = name_of(audit::outcome_of(given));
  out["outputs"] = of(given.measured.outputs);
  out["weights"] = of(given.measured.weights);
  out["score_differences"] = of(given.measured.score_differences);
  out["log_sum_exp"] = of(given.measured.log_sum_exp);
  out["tolerance"] = of(given.tolerance);
  out["from_reference"] = of(given.from_reference);
  out["message"] = given.message;
  return out;
}

}  // namespace detail

/// A report as a JSON value: changes are numbers, null where they were not measured, and "infinity" where a number
/// became NaN or a key came or went.
[[nodiscard]] inline value report_value(const audit::report& given) {
  value out = value::object();
  out["schema"] = audit_schema;
  out["name"] = given.name;
  out["method"] = value::array();
  for (const description& policy : given.method) {
    out["method"].push_back(detail::policy_to_value(manifest::record_of(policy, xxh3{})));
  }
  out["from_reference"] = detail::change_to_value(given.from_reference);
  out["tolerance"] = detail::change_to_value(given.tolerance);
  out["findings"] = value::array();
  for (const audit::finding& one : given.findings) out["findings"].push_back(detail::finding_to_value(one));
  out["debts"] = value::array();
  for (const audit::owed& one : given.debts) {
    value debt = value::object();
    debt["kind"] = name_of(one.kind);
    debt["because"] = one.because;
    out["debts"].push_back(std::move(debt));
  }
  out["faults"] = audit::faults(given);
  return out;
}

/// The one text of a report: keys sorted, no spaces. Equal reports have equal texts.
/// Throws: errc::manifest for texts that are not UTF-8.
[[nodiscard]] inline std::string write_report(const audit::report& given) {
  try {
    return canonical(report_value(given));
  } catch (const value::exception&) {
    require(false, errc::manifest, "audit report", "texts", "UTF-8", "other bytes");
    throw;
  }
}

}  // namespace posgeo::json
