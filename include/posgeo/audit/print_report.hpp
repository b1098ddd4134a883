// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/audit/outcome.hpp>
#include <posgeo/audit/wrapped_text.hpp>

#include <fmt/format.h>

#include <cmath>
#include <optional>
#include <string>
#include <string_view>

namespace posgeo::audit {

namespace detail {

/// A number in seven columns.
[[nodiscard]] inline std::string seven(double number) {
  return std::isfinite(number) ? fmt::format("{:.1e}", number) : std::string("inf");
}
/// A change in seven columns: what rounding may do is not told from nothing.
[[nodiscard]] inline std::string cell(std::optional<double> change, double tolerance) {
  if (!change) return "-";
  return *change <= tolerance ? "~0" : seven(*change);
}

/// An outcome so that a fault catches the eye.
[[nodiscard]] inline std::string_view marked(outcome how) noexcept {
  constexpr std::string_view marks[] = {"ok", "not seen", "LAW", "not taken", "FAULT", "-"};
  return marks[static_cast<std::size_t>(how)];
}

[[nodiscard]] inline std::string finding_said(const finding& one) {
  const outcome how = outcome_of(one);
  if (how == outcome::none) {
    return fmt::format("{:24} {:>73}\n", name_of(one.kind), marked(how)) + in_lines(one.what, 2);
  }
  const bool measured = one.found != verdict::refused;
  const auto of = [&](std::optional<double> change) {
    return measured ? cell(change, one.tolerance) : std::string("-");
  };
  std::string out = fmt::format("{:24} {:11} {:11} {:>7} {:>7} {:>7} {:>7} {:>7} {:>9}\n", name_of(one.kind),
                                name_of(one.found), name_of(one.expected), of(one.measured.outputs),
                                of(one.measured.weights), of(one.measured.score_differences),
                                of(one.measured.log_sum_exp), measured ? seven(one.tolerance) : "-", marked(how));
  out += in_lines(one.what, 2);
  if (how == outcome::law) out += in_lines(fmt::format("the reference: {}", name_of(one.reference)), 4);
  if (how == outcome::fault) {
    const bool both = one.found != verdict::refused && one.reference != verdict::refused;
    out += in_lines(fmt::format("the reference: {}{}", name_of(one.reference),
                                both ? fmt::format("; {} from its numbers", cell(one.from_reference, one.tolerance))
                                     : std::string()),
                    4);
  }
  if (!one.message.empty()) out += in_lines(fmt::format("refused: {}", one.message), 4);
  return out;
}

[[nodiscard]] inline std::string report_said(const report& given) {
  std::string methods;
  for (const description& policy : given.method) methods += (methods.empty() ? "" : ", ") + policy.name();
  std::string out =
      in_lines(fmt::format("audit of {}: {}", given.name.empty() ? "an attention" : given.name, methods), 0);
  const bool right = given.from_reference <= given.tolerance;
  out += fmt::format("the call as it is: {} from the reference, tolerance {}: {}\n\n",
                     cell(given.from_reference, given.tolerance), seven(given.tolerance), right ? "ok" : "FAULT");
  out += fmt::format("{:24} {:11} {:11} {:>7} {:>7} {:>7} {:>7} {:>7}\n", "intervention", "found", "declared",
                     "outputs", "weights", "scores", "lse", "~0 is");
  for (const finding& one : given.findings) out += finding_said(one);
  out += given.debts.empty() ? "\nno debt shown\n" : "\ndebts\n";
  for (const owed& one : given.debts) out += in_lines(fmt::format("{}: {}", name_of(one.kind), one.because), 2);
  const index_t count = faults(given);
  return out + (count == 0 ? "\nno fault\n" : count == 1 ? "\n1 fault\n" : fmt::format("\n{} faults\n", count));
}

}  // namespace detail

}  // namespace posgeo::audit

/// A report as a table of at most 100 columns: for each intervention what was found and what the policies declare, the
/// largest changes, the tolerance, which ~0 stands for, and the outcome in words; then debts, and the number of faults.
template <>
struct fmt::formatter<posgeo::audit::report> : fmt::formatter<std::string_view> {
  template <class Context>
  auto format(const posgeo::audit::report& given, Context& context) const {
    return fmt::formatter<std::string_view>::format(posgeo::audit::detail::report_said(given), context);
  }
};
