// SPDX-License-Identifier: MIT
#include "cases/judge.hpp"

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <regex>
#include <stdexcept>

namespace posgeo::cases {

using nlohmann::json;

namespace {

bool is_number(const json& value) {
  return value.is_number() || (value.is_string() && (value == "NaN" || value == "Infinity" || value == "-Infinity"));
}

struct closeness {
  double abs;
  double rel;

  [[nodiscard]] bool near(const json& got, const json& wanted) const {
    if (got.is_number_integer() && wanted.is_number_integer()) return got == wanted;
    const double a = number(got);
    const double b = number(wanted);
    if (!std::isfinite(a) || !std::isfinite(b)) return a == b || (std::isnan(a) && std::isnan(b));
    return std::abs(a - b) <= abs + rel * std::abs(b);
  }

  [[nodiscard]] bool meets(const json& got, const json& wanted) const {
    if (wanted.is_null()) return true;
    if (is_number(got) && is_number(wanted)) return near(got, wanted);
    if (wanted.is_object()) {
      return got.is_object() && std::all_of(wanted.items().begin(), wanted.items().end(), [&](const auto& part) {
               return got.contains(part.key()) && meets(got.at(part.key()), part.value());
             });
    }
    if (wanted.is_array()) {
      return got.is_array() && std::equal(wanted.begin(), wanted.end(), got.begin(), got.end(),
                                          [&](const json& w, const json& g) { return meets(g, w); });
    }
    return got == wanted;
  }

  /// Whether the two differ at a place that `right` compares.
  [[nodiscard]] bool differs(const json& got, const json& wrong, const json& right) const {
    if (wrong.is_null() || right.is_null()) return false;
    if (got.is_object() && wrong.is_object() && right.is_object()) {
      return std::any_of(wrong.items().begin(), wrong.items().end(), [&](const auto& part) {
        return !got.contains(part.key()) || !right.contains(part.key()) ||
               differs(got.at(part.key()), part.value(), right.at(part.key()));
      });
    }
    if (got.is_array() && wrong.is_array() && right.is_array() && got.size() == right.size() &&
        got.size() == wrong.size()) {
      for (std::size_t n = 0; n < got.size(); ++n) {
        if (differs(got[n], wrong[n], right[n])) return true;
      }
      return false;
    }
    return !meets(got, wrong);
  }
};

/// The part of a value that a path such as "t[9:11]" or "merge_a_b.out" names.
json part_of(json value, const std::string& path) {
  static const std::regex step(R"(\.?(\w+)|\[(\d+)(?::(\d+))?\])");
  auto at = path.cbegin();
  for (std::smatch found; at != path.cend(); at = found[0].second) {
    if (!std::regex_search(at, path.cend(), found, step, std::regex_constants::match_continuous)) {
      throw std::runtime_error("cannot read the quantity " + path);
    }
    if (found[1].matched) {
      value = json(value.at(found[1].str()));
    } else if (found[3].matched) {
      json slice = json::array();
      for (std::size_t n = std::stoul(found[2]); n < std::stoul(found[3]); ++n) slice.push_back(value.at(n));
      value = slice;
    } else {
      value = json(value.at(std::stoul(found[2])));
    }
  }
  return value;
}

}  // namespace

double number(const json& value) {
  if (!value.is_string()) return value.get<double>();
  const double infinity = std::numeric_limits<double>::infinity();
  if (value == "Infinity") return infinity;
  if (value == "-Infinity") return -infinity;
  if (value == "NaN") return std::numeric_limits<double>::quiet_NaN();
  throw std::runtime_error("not a number: " + value.get<std::string>());
}

std::vector<std::string> judge(const json& got, const json& expected, const json& tolerance) {
  const closeness close{tolerance.at("abs").get<double>(), tolerance.at("rel").get<double>()};
  const json& right = expected.at("right");
  std::vector<std::string> found;
  if (!close.meets(got, right)) found.push_back(fmt::format("expected {}, got {}", right.dump(), got.dump()));
  for (const json& entry : expected.value("wrong", json::array())) {
    const json quantity = entry.value("quantity", json());
    const std::string path = quantity.is_null() ? "" : quantity.get<std::string>();
    if (!close.differs(part_of(got, path), entry.at("value"), part_of(right, path))) {
      found.push_back(fmt::format("cannot be told from the wrong value of '{}': {}", entry.value("cause", ""),
                                  entry.at("value").dump()));
    }
  }
  return found;
}

}  // namespace posgeo::cases
