// SPDX-License-Identifier: MIT
#pragma once

#include <cctype>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace posgeo::test {

/// One element of a text of XML: its name, its attributes as they are written, and the text up to its first child.
struct element {
  std::string name;
  std::map<std::string, std::string> attributes;
  std::string text;
  std::size_t depth;
  [[nodiscard]] const std::string& operator[](const std::string& attribute) const { return attributes.at(attribute); }
  [[nodiscard]] double number(const std::string& attribute) const { return std::stod(attributes.at(attribute)); }
  [[nodiscard]] bool is(std::string_view tag, std::string_view look) const {
    const auto found = attributes.find("class");
    return name == tag && found != attributes.end() && found->second == look;
  }
};

/// The elements in their order. A text that is not well-formed fails the test: a tag that is not closed, an attribute
/// without quotes or twice, an id twice, a bare < or &.
[[nodiscard]] inline std::vector<element> elements_of(std::string_view text) {
  const auto expect = [&text](bool ok, const std::string& what) {
    if (!ok) throw std::logic_error("not well-formed: " + what + " before: " + std::string(text.substr(0, 60)));
  };
  const auto take_until = [&](std::string_view end) {
    const std::size_t at = text.find(end);
    expect(at != std::string_view::npos, "no " + std::string(end));
    const std::string taken(text.substr(0, at));
    text.remove_prefix(at + end.size());
    return taken;
  };
  const auto expect_escaped = [&](const std::string& words) {
    for (std::size_t at = words.find('&'); at != std::string::npos; at = words.find('&', at + 1)) {
      const std::size_t end = words.find(';', at);
      expect(end != std::string::npos, "a bare &");
      static const std::set<std::string> known{"amp", "lt", "gt", "quot"};
      expect(known.count(words.substr(at + 1, end - at - 1)) == 1, "an unknown entity");
    }
  };
  std::vector<element> out;
  std::vector<std::size_t> open;
  std::set<std::string> ids;
  while (!text.empty()) {
    const std::size_t at = text.find('<');
    const std::string words(text.substr(0, at));
    text.remove_prefix(at == std::string_view::npos ? text.size() : at);
    expect_escaped(words);
    if (!open.empty() && out.back().text.empty() && open.back() + 1 == out.size()) out.back().text = words;
    if (text.empty()) break;
    if (text.substr(0, 4) == "<!--") {
      take_until("-->");
    } else if (text.substr(0, 2) == "<!") {
      take_until(">");
    } else if (text.substr(0, 2) == "</") {
      text.remove_prefix(2);
      const std::string name = take_until(">");
      expect(!open.empty() && out[open.back()].name == name, "</" + name + "> closes nothing");
      open.pop_back();
    } else {
      text.remove_prefix(1);
      element one{{}, {}, {}, open.size()};
      while (!text.empty() && std::isspace(static_cast<unsigned char>(text[0])) == 0 && text[0] != '>' &&
             text[0] != '/') {
        one.name += text[0];
        text.remove_prefix(1);
      }
      while (!text.empty() && text[0] == ' ') {
        text.remove_prefix(1);
        if (text[0] == '/') break;
        const std::string key = take_until("=\"");
        const std::string value = take_until("\"");
        expect(key.find_first_of(" <>&") == std::string::npos && !key.empty(), "an attribute " + key);
        expect(value.find('<') == std::string::npos, "a bare < in an attribute");
        expect_escaped(value);
        expect(one.attributes.emplace(key, value).second, "the attribute " + key + " twice");
        if (key == "id") expect(ids.insert(value).second, "the id " + value + " twice");
      }
      const bool empty = text.substr(0, 2) == "/>";
      expect(empty || text.substr(0, 1) == ">", "a tag that does not end");
      text.remove_prefix(empty ? 2 : 1);
      if (!empty) open.push_back(out.size());
      out.push_back(one);
      if (out.back().name == "style" && !empty) {
        take_until("</style>");
        open.pop_back();
      }
    }
  }
  expect(open.empty(), "a tag that is not closed");
  return out;
}

/// Those with a name, and with a class if one is given.
[[nodiscard]] inline std::vector<element> named(const std::vector<element>& all, std::string_view name,
                                                std::string_view look = "") {
  std::vector<element> out;
  for (const element& one : all) {
    if (look.empty() ? one.name == name : one.is(name, look)) out.push_back(one);
  }
  return out;
}

}  // namespace posgeo::test
