// SPDX-License-Identifier: MIT
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <cstddef>
#include <string>
#include <string_view>

namespace posgeo::audit::html {

namespace detail {

/// How many bytes the UTF-8 sequence at the start of the text has; 0 if there is none.
[[nodiscard]] inline std::size_t utf8_length(std::string_view text) noexcept {
  const auto byte = [text](std::size_t n) { return n < text.size() ? static_cast<unsigned char>(text[n]) : 0U; };
  const unsigned first = byte(0);
  if (first < 0x80) return text.empty() ? 0 : 1;
  const std::size_t length = first >= 0xC2 && first < 0xE0   ? 2
                             : (first & 0xF0U) == 0xE0       ? 3
                             : first >= 0xF0 && first < 0xF5 ? 4
                                                             : 0;
  for (std::size_t n = 1; n < length; ++n) {
    if ((byte(n) & 0xC0U) != 0x80) return 0;
  }
  const unsigned second = byte(1);
  const bool overlong = (first == 0xE0 && second < 0xA0) || (first == 0xF0 && second < 0x90);
  const bool beyond = (first == 0xED && second > 0x9F) || (first == 0xF4 && second > 0x8F);
  return overlong || beyond ? 0 : length;
}

}  // namespace detail

/// A text as HTML and XML write it, between tags or in an attribute. A byte that is no UTF-8 and a control character
/// that XML does not have become U+FFFD.
[[nodiscard]] inline std::string escaped(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t length = detail::utf8_length(text);
    const char c = text.front();
    const bool control = static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t';
    if (length == 0 || control || text.substr(0, length) == "\xEF\xBF\xBE" ||
        text.substr(0, length) == "\xEF\xBF\xBF") {
      out += "\xEF\xBF\xBD";
    } else if (c == '&') {
      out += "&amp;";
    } else if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else if (c == '"') {
      out += "&quot;";
    } else {
      out += text.substr(0, length);
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return out;
}

/// A number as pictures and tables write it: four digits, whole numbers in full.
[[nodiscard]] inline std::string shown(double number) {
  if (std::isnan(number)) return "none";
  if (number == 0.0) return "0";
  if (number == std::round(number) && std::abs(number) < 1e9) return fmt::format("{:.0f}", number);
  return fmt::format("{:.4g}", number);
}

/// A name of the code as words: "shift_all" is "shift all".
[[nodiscard]] inline std::string in_words(std::string_view name) {
  std::string out(name);
  for (char& c : out) c = c == '_' ? ' ' : c;
  return out;
}

}  // namespace posgeo::audit::html
