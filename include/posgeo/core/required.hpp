// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <type_traits>
#include <utility>

namespace posgeo {

/// Whether a Given becomes a whole number without losing a fraction, be it inside a class that converts itself.
template <class Given, class Whole>
concept holds_no_fraction = std::integral<Given> || requires(const Given& given) {
  Whole{given};
};

/// A field of a settings struct that has no default: leaving it out does not compile, nor does a fraction for a count.
/// Of a type that has no default itself, a field needs no wrapper.
template <class Choice>
class required {
 public:
  /// What is read: small values by copy, others in place.
  using read = std::conditional_t<std::is_trivially_copyable_v<Choice>, Choice, const Choice&>;

  template <class Given>
  requires std::convertible_to<Given, Choice> &&
      (!std::integral<Choice> || holds_no_fraction<Given, Choice>)constexpr required(Given given) noexcept(
          std::is_nothrow_constructible_v<Choice, Given>)  // implicit: the field reads like its type
      : choice_(static_cast<Choice>(std::move(given))) {}
  constexpr operator read() const noexcept { return choice_; }
  [[nodiscard]] constexpr read value() const noexcept { return choice_; }
  friend constexpr read format_as(const required& r) noexcept { return r.choice_; }

 private:
  Choice choice_;
};

}  // namespace posgeo
