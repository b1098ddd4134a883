// SPDX-License-Identifier: MIT
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <map>
#include <stdexcept>
#include <string>

namespace posgeo::cases {

/// Computes the value of a case from its `input`, through posgeo's public interface.
using operation = nlohmann::json (*)(const nlohmann::json& input);
using operations = std::map<std::string, operation>;

/// An input that asks for something posgeo has no interface for.
struct not_supported : std::runtime_error {
  using std::runtime_error::runtime_error;
};

[[nodiscard]] operations rotary_operations();
[[nodiscard]] operations coordinate_operations();
[[nodiscard]] operations visibility_operations();
[[nodiscard]] operations bias_operations();
[[nodiscard]] operations attention_operations();
[[nodiscard]] operations shaw_operations();
[[nodiscard]] operations transformer_xl_operations();
[[nodiscard]] operations deberta_operations();
[[nodiscard]] operations tupe_operations();
[[nodiscard]] operations graph_operations();
[[nodiscard]] operations grid_operations();
[[nodiscard]] operations frequency_operations();
[[nodiscard]] operations multi_axis_operations();
[[nodiscard]] operations contract_operations();

}  // namespace posgeo::cases
