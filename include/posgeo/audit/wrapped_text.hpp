// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace posgeo::audit::detail {

/// Words in lines of at most 100 columns, each indented, those behind the first by `further` more; a word that is
/// longer has a line of its own.
[[nodiscard]] inline std::string in_lines(std::string_view words, std::size_t indent, std::size_t further = 0) {
  std::string out;
  std::string line(indent, ' ');
  bool empty = true;
  while (!words.empty()) {
    const std::size_t end = std::min(words.find_first_of(" \n"), words.size());
    const std::string_view word = words.substr(0, end);
    words.remove_prefix(std::min(end + 1, words.size()));
    if (word.empty()) continue;
    if (!empty && line.size() + 1 + word.size() > 100) {
      out += line + "\n";
      line.assign(indent + further, ' ');
      empty = true;
    }
    line.append(empty ? "" : " ").append(word);
    empty = false;
  }
  return empty ? out : out + line + "\n";
}

}  // namespace posgeo::audit::detail
