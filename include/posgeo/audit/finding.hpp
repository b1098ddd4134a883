// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/audit/intervention.hpp>
#include <posgeo/core/description.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace posgeo::audit {

/// The largest change of each quantity, over all rows and heads. What a function does not give is left out.
struct changes {
  std::optional<double> score_differences;  ///< of two visible keys of one row
  std::optional<double> log_sum_exp;
  std::optional<double> weights;  ///< L1, of one row
  double outputs = 0.0;
};

/// What one intervention did.
struct finding {
  intervention kind = intervention::permute_rows;
  std::string what = {};
  verdict expected = verdict::changes;   ///< what the policies declare
  verdict reference = verdict::changes;  ///< what the eager executor does, in double
  verdict found = verdict::changes;      ///< what the function does
  changes measured = {};
  double tolerance = 0.0;
  double from_reference = 0.0;  ///< how far its outputs, and log-sum-exp if it gives one, are from the eager executor's
  std::string message = {};     ///< of a refusal
  [[nodiscard]] bool as_expected() const noexcept { return found == expected; }
  [[nodiscard]] bool as_reference() const noexcept { return found == reference && from_reference <= tolerance; }
};

/// What one "context length" hides: dependence on where the origin is, on offsets that training did not hold, and on a
/// finite range of rows.
enum class debt { coordinate, distance, procedure };
[[nodiscard]] constexpr std::string_view name_of(debt kind) noexcept {
  return kind == debt::coordinate ? "coordinate" : kind == debt::distance ? "distance" : "procedure";
}

struct owed {
  debt kind = debt::coordinate;
  std::string because;
};

/// The result of an audit.
struct report {
  std::string name = {};
  std::vector<description> method = {};
  std::vector<finding> findings = {};
  std::vector<owed> debts = {};
  double from_reference = 0.0;  ///< for the call as it is
  double tolerance = 0.0;       ///< of that
};

}  // namespace posgeo::audit
