// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/core/error.hpp>

#include <algorithm>
#include <array>
#include <string_view>

namespace posgeo {

/// A short name kept in place: copying and comparing one allocates nothing.
/// Throws: errc::label_length beyond 31 characters.
class label {
 public:
  static constexpr std::size_t max_length = 31;

  label() noexcept = default;
  explicit label(std::string_view text) {
    require(text.size() <= max_length, errc::label_length, "label", "characters", "at most 31", text.size());
    std::copy(text.begin(), text.end(), text_.begin());
    length_ = text.size();
  }

  [[nodiscard]] std::string_view text() const noexcept { return {text_.data(), length_}; }
  friend bool operator==(const label& a, const label& b) noexcept { return a.text() == b.text(); }

 private:
  std::array<char, max_length> text_{};
  std::size_t length_ = 0;
};

}  // namespace posgeo
