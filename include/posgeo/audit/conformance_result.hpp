// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/audit/confusion.hpp>
#include <posgeo/call/position_call.hpp>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace posgeo::audit {

/// A call and what to say about it.
struct named_call {
  std::string name;
  position_call call;
};

struct conformance_settings {
  /// The largest allowed |given - eager| / (1 + |eager|); left out, 4096 units of the last place of the plan's type.
  std::optional<double> tolerance = std::nullopt;
  unsigned seed = 1;  ///< of the queries, keys and values
  /// Left out, head_dim; another width shows a kernel that takes one for the other. Value terms have one of their own.
  std::optional<index_t> value_dim = std::nullopt;
};

enum class conformity {
  passed,     ///< every number is that of the eager executor
  differs,    ///< some number is another
  refused,    ///< the function threw
  not_taken,  ///< the attention itself does not take the call
};

[[nodiscard]] constexpr std::string_view name_of(conformity result) noexcept {
  switch (result) {
    case conformity::passed:
      return "passed";
    case conformity::differs:
      return "differs";
    case conformity::refused:
      return "refused";
    default:
      return "not taken";
  }
}

/// Which number a difference is of.
enum class compared { output, log_sum_exp };

/// The first number that is another.
struct first_difference {
  compared of = compared::output;
  index_t entry = 0;
  index_t head = 0;
  index_t query = 0;
  index_t dimension = 0;  ///< of the output row
  index_t key = -1;       ///< that has the largest weight in the row, -1 if none has one
  double weight = 0.0;    ///< which is this
  double expected = 0.0;
  double given = 0.0;
};

/// What the function gave for one call.
struct call_conformance {
  std::string call;
  conformity result = conformity::passed;
  double largest = 0.0;  ///< |given - eager| / (1 + |eager|), over the query rows that are tokens
  std::optional<first_difference> first;
  std::string message;  ///< of a refusal
};

/// Whether a confusion agrees with the function in every call, or in some and not in others.
enum class explained { every_call, some_calls };

/// A confusion under which the eager meaning gives what the function gives.
struct explanation {
  confusion what;
  std::string where;
  std::vector<std::string> calls;  ///< that differ and that it explains
  explained in;
};

/// A function held against one attention over some calls.
/// `explanations` holds the confusions that agree with the function in every call, the most specific first; where there
/// are none, those that agree in some.
struct diagnosis {
  std::string name;
  double tolerance = 0.0;
  std::vector<call_conformance> calls;
  std::vector<explanation> explanations;

  /// Whether some call passed and every other is one that the attention itself does not take.
  [[nodiscard]] bool conforms() const noexcept {
    const auto has = [this](conformity result) {
      return std::any_of(calls.begin(), calls.end(), [result](const auto& call) { return call.result == result; });
    };
    return has(conformity::passed) && !has(conformity::differs) && !has(conformity::refused);
  }
};

}  // namespace posgeo::audit
