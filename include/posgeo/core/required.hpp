// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>

namespace posgeo {

/// Whether a Given becomes a whole number without losing a fraction, be it inside a class that converts itself.
template <class Given, class Whole>
concept holds_no_fraction = std::integral<Given> || requires(const Given& given) {
  Whole{given};
};

/// A field of a settings struct that has no default: leaving it out does not compile, nor does a fraction for a count.
template <class Choice>
class required {
 public:
  template <class Given>
  requires std::convertible_to<Given, Choice> &&
      (!std::integral<Choice> || holds_no_fraction<Given, Choice>)constexpr required(
          Given given) noexcept  // implicit: the field reads like its type
      : choice_(static_cast<Choice>(given)) {}
  constexpr operator Choice() const noexcept { return choice_; }
  friend constexpr Choice format_as(const required& r) noexcept { return r.choice_; }

 private:
  Choice choice_;
};

}  // namespace posgeo
