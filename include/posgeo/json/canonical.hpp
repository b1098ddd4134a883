// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/json/parse.hpp>

#include <array>
#include <charconv>
#include <cmath>
#include <string>

namespace posgeo::json {

namespace detail {

/// A double as ECMAScript writes it: the fewest digits that give it back.
inline void append_number(double number, std::string& out) {
  if (number == 0.0) {
    out += '0';
    return;
  }
  std::array<char, 32> buffer{};
  const auto end =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), std::abs(number), std::chars_format::scientific);
  const std::string_view written(buffer.data(), static_cast<std::size_t>(end.ptr - buffer.data()));
  const auto split = written.find('e');
  std::string digits(written.substr(0, split));
  if (digits.size() > 1) digits.erase(1, 1);
  int exponent = 0;
  const std::string_view power = written.substr(split + (written[split + 1] == '+' ? 2U : 1U));
  std::from_chars(power.data(), power.data() + power.size(), exponent);

  const int length = static_cast<int>(digits.size());
  const int point = exponent + 1;  // digits before the decimal point
  const auto zeros = [](int count) { return std::string(static_cast<std::size_t>(count), '0'); };
  if (number < 0) out += '-';
  if (point > 21 || point <= -6) {
    out += digits.substr(0, 1);
    if (length > 1) out += "." + digits.substr(1);
    out += fmt::format("e{:+d}", exponent);
  } else if (point >= length) {
    out += digits + zeros(point - length);
  } else if (point > 0) {
    out += digits.insert(static_cast<std::size_t>(point), ".");
  } else {
    out += "0." + zeros(-point) + digits;
  }
}

inline void append_canonical(const value& given, std::string& out) {
  if (given.is_object()) {
    char before = '{';
    for (const auto& [key, inner] : given.items()) {  // in the order of the keys
      out += before;
      out += value(key).dump() + ":";
      append_canonical(inner, out);
      before = ',';
    }
    out += given.empty() ? "{}" : "}";
  } else if (given.is_array()) {
    char before = '[';
    for (const value& inner : given) {
      out += before;
      append_canonical(inner, out);
      before = ',';
    }
    out += given.empty() ? "[]" : "]";
  } else if (given.is_number_float()) {
    append_number(given.get<double>(), out);
  } else {
    out += given.dump();
  }
}

}  // namespace detail

/// The one text of a value: keys sorted, no spaces, the fewest digits. As RFC 8785, but an integer keeps all of its 64
/// bits. The value holds no NaN and no infinity, and its texts are UTF-8.
[[nodiscard]] inline std::string canonical(const value& given) {
  std::string out;
  detail::append_canonical(given, out);
  return out;
}

}  // namespace posgeo::json
