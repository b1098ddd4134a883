// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/audit/finding.hpp>

#include <algorithm>
#include <string_view>

namespace posgeo::audit {

/// How a finding is to be read.
enum class outcome {
  ok,         ///< the function does what the eager executor does, and that is what the policies declare
  not_seen,   ///< both stay, though the policies read what was edited: this call does not show it
  law,        ///< the function does what the eager executor does, and the policies declare otherwise
  not_taken,  ///< the function refuses a call that the eager executor takes
  fault,      ///< the function does something else than the eager executor
  none,       ///< the intervention has no meaning for the call
};
[[nodiscard]] constexpr std::string_view name_of(outcome of) noexcept {
  constexpr std::string_view names[] = {"ok", "not_seen", "law", "not_taken", "fault", "none"};
  return names[static_cast<std::size_t>(of)];
}

[[nodiscard]] inline outcome outcome_of(const finding& one) noexcept {
  if (one.found == verdict::not_applicable) return outcome::none;
  if (one.found == verdict::refused && one.reference != verdict::refused) return outcome::not_taken;
  if (!one.as_reference()) return outcome::fault;
  if (one.as_expected()) return outcome::ok;
  const bool stays = one.found == verdict::invariant || one.found == verdict::equivariant;
  return one.expected == verdict::changes && stays ? outcome::not_seen : outcome::law;
}

/// How many findings are faults; one more if the function differs from the eager executor on the call as it is.
[[nodiscard]] inline index_t faults(const report& of) noexcept {
  const auto count = std::count_if(of.findings.begin(), of.findings.end(),
                                   [](const finding& one) { return outcome_of(one) == outcome::fault; });
  return static_cast<index_t>(count) + (of.from_reference <= of.tolerance ? 0 : 1);
}

}  // namespace posgeo::audit
