// SPDX-License-Identifier: MIT
#pragma once

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <istream>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace tour {

using words = std::vector<std::string>;
/// Word i of the new order is word order[i] of the old one.
using word_order = std::vector<std::size_t>;

inline constexpr std::size_t max_words = 256;
inline constexpr std::size_t max_bytes = std::size_t{1} << 20;

/// Input that cannot be toured: one sentence, and exit code 2.
struct bad_input : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The same words in two orders, and what there is to say about how they were found.
struct two_orders {
  words first;
  word_order order;
  std::vector<std::string> notes;

  [[nodiscard]] words second() const {
    words out;
    for (const std::size_t from : order) out.push_back(first[from]);
    return out;
  }
  [[nodiscard]] bool differ() const { return second() != first; }
};

[[nodiscard]] inline std::string read_all(std::istream& in, std::string_view name) {
  std::string text(max_bytes, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (!in && !in.eof()) throw bad_input(fmt::format("'{}' cannot be read", name));
  text.resize(static_cast<std::size_t>(in.gcount()));
  if (text.starts_with("\xEF\xBB\xBF")) text.erase(0, 3);
  return text;
}

/// The lines that hold words, split at white space. Words are bytes: no encoding is assumed.
[[nodiscard]] inline std::vector<words> split(std::string_view text) {
  std::vector<words> lines(1);
  std::string word;
  const auto end_word = [&] {
    if (!word.empty()) lines.back().push_back(std::move(word));
    word.clear();
  };
  for (const char c : text) {
    if (std::string_view(" \t\r\v\f\n").find(c) == std::string_view::npos) {
      word += c;
      continue;
    }
    end_word();
    if (c == '\n' && !lines.back().empty()) lines.emplace_back();
  }
  end_word();
  if (lines.back().empty()) lines.pop_back();
  return lines;
}

/// The order that turns one line into the other; equal words keep their turn. Both lines hold the same words.
[[nodiscard]] inline word_order order_between(const words& from, const words& to) {
  std::map<std::string_view, std::vector<std::size_t>> places;
  for (std::size_t n = from.size(); n-- > 0;) places[from[n]].push_back(n);
  word_order order;
  for (const std::string& word : to) {
    order.push_back(places[word].back());
    places[word].pop_back();
  }
  return order;
}

[[nodiscard]] inline word_order in_place(std::size_t count) {
  word_order order(count);
  for (std::size_t n = 0; n < count; ++n) order[n] = n;
  return order;
}
[[nodiscard]] inline word_order reversed(const words& text) {
  return order_between(text, words(text.rbegin(), text.rend()));
}
/// Every word one place forward, the first one to the end.
[[nodiscard]] inline word_order rotated(const words& text) {
  words turned = text;
  std::rotate(turned.begin(), turned.begin() + 1, turned.end());
  return order_between(text, turned);
}

/// Two lines with the same words in different orders, if the text has them.
[[nodiscard]] inline std::optional<two_orders> paired_lines(const std::vector<words>& lines) {
  std::map<words, std::size_t> seen;
  for (std::size_t n = 0; n < lines.size(); ++n) {
    if (lines[n].size() > max_words) continue;
    words sorted = lines[n];
    std::sort(sorted.begin(), sorted.end());
    const auto [at, is_new] = seen.emplace(std::move(sorted), n);
    const words& earlier = lines[at->second];
    if (is_new || earlier == lines[n]) continue;
    two_orders found{earlier, order_between(earlier, lines[n]), {}};
    if (lines.size() > 2) {
      const std::string others = lines.size() == 3 ? "line is" : fmt::format("{} are", lines.size() - 2);
      found.notes.push_back(fmt::format("Two lines hold the same words; the other {} not read.", others));
    }
    return found;
  }
  return std::nullopt;
}

/// Why the first line is on its own, up to the colon.
[[nodiscard]] inline std::string_view why_alone(const std::vector<words>& lines) {
  if (lines.size() == 1) return "No second line: ";
  const auto same = [&](const words& line) { return line == lines.front(); };
  if (std::all_of(lines.begin(), lines.end(), same)) return "All lines hold the same words in the same order:\n  ";
  return "No two lines hold the same words in different orders (capitals and punctuation count):\n  ";
}

/// Two lines that are permutations of each other; else the first line and its reversal.
[[nodiscard]] inline two_orders find_orders(std::string_view text) {
  const std::vector<words> lines = split(text);
  if (lines.empty()) throw bad_input("the input holds no words");
  two_orders found{lines.front(), {}, {}};
  if (auto pair = paired_lines(lines)) {
    found = std::move(*pair);
  } else {
    const auto too_long = [](const words& line) { return line.size() > max_words; };
    if (lines.size() > 1 && std::any_of(lines.begin(), lines.end(), too_long)) {
      found.notes.push_back(fmt::format("Lines of more than {} words are not paired.", max_words));
    }
    if (too_long(found.first)) {
      found.notes.push_back(
          fmt::format("Line 1 has {} words; only the first {} are read.", found.first.size(), max_words));
      found.first.resize(max_words);
    }
    std::string instead = "line 1 is compared with its reversal.";
    found.order = reversed(found.first);
    if (!found.differ()) {
      instead = "line 1 reads the same in reverse; in order B its first word goes last.";
      found.order = rotated(found.first);
    }
    if (!found.differ()) {
      instead = fmt::format("line 1 {} one word and has only one order, so no orders are compared.",
                            found.first.size() == 1 ? "is" : "repeats");
    }
    found.notes.push_back(std::string(why_alone(lines)) + instead);
  }
  if (text.size() == max_bytes) found.notes.push_back(fmt::format("Only the first {} bytes are read.", max_bytes));
  return found;
}

/// Bytes of the UTF-8 character at the front, or 0 where there is none or it is a control character.
[[nodiscard]] inline std::size_t printable_length(std::string_view text) {
  const auto byte = [&](std::size_t n) { return static_cast<unsigned char>(text[n]); };
  if (byte(0) < 0x80) return byte(0) >= 0x20 && byte(0) != 0x7F ? 1 : 0;
  const std::size_t length = byte(0) < 0xC2 ? 0 : byte(0) < 0xE0 ? 2 : byte(0) < 0xF0 ? 3 : byte(0) < 0xF5 ? 4 : 0;
  if (length == 0 || length > text.size()) return 0;
  std::uint32_t code = byte(0) & (0xFFU >> (length + 1));
  for (std::size_t n = 1; n < length; ++n) {
    if ((byte(n) & 0xC0) != 0x80) return 0;
    code = (code << 6) | (byte(n) & 0x3FU);
  }
  const std::uint32_t smallest = length == 2 ? 0xA0 : length == 3 ? 0x800 : 0x10000;  // 0x80 to 0x9F are controls
  const bool surrogate = code >= 0xD800 && code < 0xE000;
  return code >= smallest && code <= 0x10FFFF && !surrogate ? length : 0;
}

/// The word as it may be printed: at most 16 characters, bytes that are no text as \xNN.
[[nodiscard]] inline std::string printable(std::string_view word) {
  std::string out;
  for (std::size_t characters = 0; !word.empty(); ++characters) {
    if (characters == 16) return out + "..";
    const std::size_t length = printable_length(word);
    out += length > 0 ? std::string(word.substr(0, length))
                      : fmt::format("\\x{:02X}", static_cast<unsigned char>(word[0]));
    word.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return out;
}

/// As many words as fit in a line of 100 columns beside its name, the end mark and how many are left.
[[nodiscard]] inline std::string one_line(const words& text) {
  std::string out;
  std::size_t columns = 0;
  for (std::size_t n = 0; n < text.size(); ++n) {
    const std::string word = printable(text[n]);
    const auto starts_character = [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; };
    columns += static_cast<std::size_t>(std::count_if(word.begin(), word.end(), starts_character)) + 1;
    if (columns > 66) return out + fmt::format("... and {} more ", text.size() - n);
    out += word + " ";
  }
  return out;
}

}  // namespace tour
