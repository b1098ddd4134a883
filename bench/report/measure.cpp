// SPDX-License-Identifier: MIT
#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <exception>
#include <regex>

#include "report/rows.hpp"

namespace posgeo::report {

namespace {

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t n = values.size();
  return n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

/// A row under measurement.
struct running {
  row result;
  std::function<sample()> once;
  std::vector<double> figures;
  std::vector<double> absolutes;
};

running start(const planned_row& plan, const std::string& build) {
  running out;
  row& r = out.result;
  r.build = build;
  r.group = plan.group;
  r.name = plan.name;
  r.of = plan.of;
  r.unit = plan.unit;
  r.must = plan.must;
  r.required = plan.required;
  try {
    if (auto once = plan.prepare()) {
      out.once = std::move(*once);
    } else {
      r.missing = "this build or executor cannot run it";
    }
  } catch (const std::exception& e) {
    r.missing = e.what();
  }
  return out;
}

}  // namespace

std::vector<row> measure(const std::vector<planned_row>& rows, const std::string& build, const std::string& pattern,
                         int rounds) {
  const std::regex wanted(pattern);
  std::vector<row> out;
  for (auto first = rows.begin(); first != rows.end();) {
    const auto last = std::find_if(first, rows.end(), [&](const planned_row& r) { return r.group != first->group; });
    std::vector<running> group;
    for (; first != last; ++first) {
      if (!std::regex_search(first->group + "/" + first->name, wanted)) continue;
      group.push_back(start(*first, build));
    }
    for (int round = 0; round < rounds; ++round) {
      for (running& one : group) {
        if (!one.once) continue;
        const sample s = one.once();
        one.figures.push_back(s.figure);
        one.absolutes.push_back(s.absolute);
      }
    }
    for (running& one : group) {
      if (one.once) {
        const auto [low, high] = std::minmax_element(one.figures.begin(), one.figures.end());
        one.result.measured = true;
        one.result.median = median(one.figures);
        one.result.lowest = *low;
        one.result.highest = *high;
        one.result.absolute = median(one.absolutes);
      }
      fmt::print("{:<11} {:<50} {:.3f} {}\n", one.result.group, one.result.name, one.result.median, one.result.missing);
      out.push_back(std::move(one.result));
    }
    (void)std::fflush(stdout);
  }
  return out;
}

std::string to_json(const row& r) {
  return nlohmann::json{{"build", r.build},       {"group", r.group},
                        {"name", r.name},         {"of", r.of},
                        {"unit", r.unit},         {"must", static_cast<int>(r.must)},
                        {"required", r.required}, {"measured", r.measured},
                        {"median", r.median},     {"lowest", r.lowest},
                        {"highest", r.highest},   {"absolute", r.absolute},
                        {"missing", r.missing}}
      .dump();
}

row from_json(const std::string& line) {
  const auto in = nlohmann::json::parse(line);
  return {in.at("build"),    in.at("group"),    in.at("name"),
          in.at("of"),       in.at("unit"),     static_cast<bound>(in.at("must").get<int>()),
          in.at("required"), in.at("measured"), in.at("median"),
          in.at("lowest"),   in.at("highest"),  in.at("absolute"),
          in.at("missing")};
}

std::vector<row> kept_by(const std::string& build, const std::vector<row>& rows) {
  std::vector<row> out;
  for (const row& other : rows) {
    if (other.build != build || !other.measured) continue;
    for (const row& plain : rows) {
      if (plain.build != "native" || plain.name != other.name || plain.group != other.group || !plain.measured)
        continue;
      row r = other;
      r.of = "the plain build";
      r.must = bound::at_least;
      r.required = 0.97;
      r.median = other.median / plain.median;
      r.lowest = other.lowest / plain.median;
      r.highest = other.highest / plain.median;
      out.push_back(r);
    }
  }
  return out;
}

}  // namespace posgeo::report
