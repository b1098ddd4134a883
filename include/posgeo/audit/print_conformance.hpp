// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/audit/conformance.hpp>
#include <posgeo/audit/wrapped_text.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>

namespace posgeo::audit {

namespace detail {

[[nodiscard]] inline std::string difference_said(const first_difference& at) {
  std::string out = fmt::format("entry {}, head {}, query row {}: ", at.entry, at.head, at.query);
  out += at.of == compared::output ? fmt::format("output[{}]", at.dimension) : std::string("log-sum-exp");
  out += fmt::format(" is {:.4g} where {:.4g} is right", at.given, at.expected);
  if (at.key >= 0) return out + fmt::format(" (heaviest key row {}, weight {:.3f})", at.key, at.weight);
  return out + " (the row sees no key)";
}

[[nodiscard]] inline std::string explanation_said(const explanation& one) {
  std::string out(name_of(one.what));
  if (!one.where.empty()) out += fmt::format(" ({})", one.where);
  return out;
}

[[nodiscard]] inline std::string diagnosis_said(const diagnosis& one) {
  std::string out = fmt::format("{}: {}, tolerance {:.1e}\n", one.name,
                                one.conforms() ? "conforms" : "does not conform", one.tolerance);
  bool differs = false;
  for (const call_conformance& call : one.calls) {
    out += fmt::format("  {:<19} {}", call.call, name_of(call.result));
    if (call.result == conformity::differs) out += fmt::format(" by up to {:.1e}", call.largest);
    out += "\n";
    if (!call.message.empty()) out += in_lines(call.message, 4, 2);
    if (call.first) out += in_lines(difference_said(*call.first), 4, 2);
    differs = differs || call.result == conformity::differs;
  }
  if (differs && one.explanations.empty()) out += "  no known confusion gives these numbers\n";
  for (std::size_t n = 0; n < one.explanations.size(); ++n) {
    const explanation& found = one.explanations[n];
    const std::string_view label = found.in == explained::some_calls ? "in part:" : n == 0 ? "diagnosis:" : "or:";
    out += in_lines(fmt::format("{} {}, in {}", label, explanation_said(found), fmt::join(found.calls, ", ")), 2, 2);
    out += in_lines(meaning_of(found.what), 4, 2) + in_lines(fmt::format("Cure: {}", cure_of(found.what)), 4, 2);
  }
  return out;
}

[[nodiscard]] inline std::string conformance_said(const conformance_report& report) {
  std::string out;
  for (const diagnosis& one : report.cases) out += diagnosis_said(one);
  return out;
}

}  // namespace detail

}  // namespace posgeo::audit

/// A line for each call, then what the function does where it differs, and the cure.
template <>
struct fmt::formatter<posgeo::audit::diagnosis> : fmt::formatter<std::string_view> {
  template <class Context>
  auto format(const posgeo::audit::diagnosis& given, Context& context) const {
    return fmt::formatter<std::string_view>::format(posgeo::audit::detail::diagnosis_said(given), context);
  }
};

/// Every case, one after the other.
template <>
struct fmt::formatter<posgeo::audit::conformance_report> : fmt::formatter<std::string_view> {
  template <class Context>
  auto format(const posgeo::audit::conformance_report& given, Context& context) const {
    return fmt::formatter<std::string_view>::format(posgeo::audit::detail::conformance_said(given), context);
  }
};
