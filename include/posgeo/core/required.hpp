// SPDX-License-Identifier: MIT
#pragma once

namespace posgeo {

/// A field of a settings struct that has no default: leaving it out does not compile.
template <class Choice>
class required {
 public:
  constexpr required(Choice choice) noexcept : choice_(choice) {}  // implicit: the field reads like its type
  constexpr operator Choice() const noexcept { return choice_; }

 private:
  Choice choice_;
};

}  // namespace posgeo
