// SPDX-License-Identifier: MIT
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <vector>

namespace posgeo::cases {

/// A JSON number, or one of the strings NaN, Infinity and -Infinity.
[[nodiscard]] double number(const nlohmann::json& value);

/// What is wrong with a computed value: it misses `expected.right`, or it cannot be told apart from a value under
/// `expected.wrong`. A wrong value belongs to the quantity it names ("output[0:3]"), or to the whole without a name.
/// null is not compared; integers are compared exactly where the computed value is one.
[[nodiscard]] std::vector<std::string> judge(const nlohmann::json& got, const nlohmann::json& expected,
                                             const nlohmann::json& tolerance);

}  // namespace posgeo::cases
