// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <optional>
#include <utility>

namespace posgeo {

/// Says that a field has nothing to say. Leaving the field out does not compile.
struct none_t {
  friend constexpr bool operator==(none_t, none_t) noexcept = default;
};
inline constexpr none_t none{};

/// A value or `none`: one of them has to be written.
template <class Value>
class stated {
 public:
  stated(none_t) {}  // implicit: the field reads like its type
  template <class Given>
  requires(!std::same_as<Given, stated> && std::convertible_to<Given, Value>)
      stated(Given value)  // implicit: the field reads like its type
      : value_(std::move(value)) {}
  [[nodiscard]] const std::optional<Value>& value() const noexcept { return value_; }
  friend bool operator==(const stated&, const stated&) = default;

 private:
  std::optional<Value> value_;
};

}  // namespace posgeo
