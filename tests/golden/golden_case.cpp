// SPDX-License-Identifier: MIT
#include "golden/golden_case.hpp"

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <fstream>
#include <limits>
#include <stdexcept>

namespace posgeo::golden {

using nlohmann::json;

namespace {

constexpr const char* partner_suffix = "_f64";

template <class Map>
const auto& find(const Map& map, const std::string& key, const char* what) {
  const auto found = map.find(key);
  if (found == map.end()) throw std::runtime_error(fmt::format("the case has no {} '{}'", what, key));
  return found->second;
}

void flatten(const json& value, std::vector<double>& out) {
  if (value.is_array()) {
    for (const json& element : value) flatten(element, out);
  } else {
    out.push_back(value.is_boolean() ? (value.get<bool>() ? 1.0 : 0.0) : value.get<double>());
  }
}

/// A list of names as one text, "c2p|p2c".
std::string joined(const json& names) {
  std::string out;
  for (const json& name : names) out += (out.empty() ? "" : "|") + name.get<std::string>();
  return out;
}

std::optional<double> number_at(const json& object, const char* key) {
  return object.contains(key) ? std::optional<double>(object.at(key).get<double>()) : std::nullopt;
}

/// The farthest that two numbers are apart; equal infinities are not apart at all, NaN is infinitely far from anything.
double distance(double actual, double expected) {
  if (actual == expected) return 0.0;
  const double apart = std::abs(actual - expected);
  return std::isfinite(apart) ? apart : std::numeric_limits<double>::infinity();
}

template <class T>
void judge_one(const std::string& name, const expected_output& expected, const outputs<T>& from,
               std::optional<double> allowed, const char* type, std::vector<std::string>& found) {
  const auto computed = from.computed().find(name);
  if (computed == from.computed().end()) {
    found.push_back(fmt::format("{}: not computed", name));
    return;
  }
  const std::vector<T>& actual = computed->second;
  if (actual.size() != expected.values.size()) {
    found.push_back(fmt::format("{}: {} values computed, {} stored", name, actual.size(), expected.values.size()));
    return;
  }
  if (!allowed) return;
  double worst = -1.0;
  std::size_t where = 0;
  for (std::size_t n = 0; n < actual.size(); ++n) {
    const double apart = distance(static_cast<double>(actual[n]), expected.values[n]);
    if (apart > worst) {
      worst = apart;
      where = n;
    }
  }
  if (worst > *allowed) {
    found.push_back(fmt::format("{}: element {} is {} in {}, expected {} within {}", name, where, actual[where], type,
                                expected.values[where], *allowed));
  }
}

}  // namespace

const std::string& golden_case::text(const std::string& key) const { return find(texts_, key, "setting"); }
const std::string& golden_case::convention(const std::string& key) const {
  return find(conventions_, key, "convention");
}
const std::vector<double>& golden_case::numbers(const std::string& key) const { return find(numbers_, key, "number"); }
double golden_case::number(const std::string& key) const { return find(numbers_, key, "number").at(0); }
std::vector<index_t> golden_case::integers(const std::string& key) const {
  std::vector<index_t> out;
  for (const double value : find(numbers_, key, "number")) out.push_back(static_cast<index_t>(value));
  return out;
}
const std::vector<index_t>& golden_case::shape(const std::string& tensor) const {
  return find(shapes_, tensor, "tensor");
}
const std::vector<double>& golden_case::input(const std::string& tensor) const {
  return find(inputs_, tensor, "input or parameter");
}

std::vector<std::string> golden_case::judge(const outputs<double>& in_double, const outputs<float>& in_float) const {
  std::vector<std::string> found;
  for (const auto& [output, expected] : outputs_) {
    const tolerance& t = expected.allowed;
    judge_one(output, expected, in_double, t.exact ? 0.0 : t.in_double, "double", found);
    judge_one(output, expected, in_float, t.exact ? 0.0 : t.in_float, "float", found);
    if (!t.exact && !t.in_double && !t.in_float) found.push_back(output + ": the manifest states no tolerance");
  }
  for (const auto& [output, values] : in_double.computed()) {
    if (!outputs_.contains(output)) found.push_back(output + ": computed, but the case has no such output");
  }
  if (outputs_.empty()) found.emplace_back("the case has no output");
  return found;
}

struct manifest_reader {
  static golden_case read(const std::filesystem::path& directory, const json& entry) {
    golden_case c;
    c.name = entry.at("name");
    c.mechanism = entry.at("mechanism");
    c.notes = entry.value("notes", std::vector<std::string>{});
    c.conventions_ = entry.at("conventions").get<std::map<std::string, std::string>>();
    for (const auto& [key, value] : entry.at("config").items()) {
      if (value.is_string()) {
        c.texts_[key] = value;
      } else if (value.is_array() && !value.empty() && value.front().is_string()) {
        c.texts_[key] = joined(value);
      } else if (!value.is_null() && !(value.is_array() && !value.empty() && value.front().is_object())) {
        flatten(value, c.numbers_[key]);  // what a list of objects describes is in the tensors
      }
    }
    const auto stored = read_safetensors(directory / entry.at("file").get<std::string>());
    const json& listed = entry.at("tensors");
    if (listed.size() != stored.size()) {
      throw std::runtime_error(
          fmt::format("the manifest lists {} tensors, the file has {}", listed.size(), stored.size()));
    }
    for (const auto& [tensor, about] : listed.items()) {
      const stored_tensor& data = find(stored, tensor, "tensor");
      if (data.dtype != about.at("dtype").get<std::string>() || json(data.shape) != about.at("shape")) {
        throw std::runtime_error(tensor + ": type or shape differs from the manifest's");
      }
      c.shapes_[tensor] = data.shape;
      if (about.at("role") != "output") {
        c.inputs_[tensor] = data.values;
      } else if (!is_partner(tensor, listed)) {
        const auto partner = stored.find(tensor + partner_suffix);
        const bool has_partner = partner != stored.end();
        const json tolerances = entry.at("tolerances").value(tensor, json::object());
        c.outputs_[tensor] = {has_partner ? partner->second.values : data.values, allowed(tolerances, has_partner)};
      }
    }
    return c;
  }

 private:
  static bool is_partner(const std::string& tensor, const json& listed) {
    const std::string suffix = partner_suffix;
    return tensor.ends_with(suffix) && listed.contains(tensor.substr(0, tensor.size() - suffix.size()));
  }
  static tolerance allowed(const json& stated, bool has_partner) {
    if (has_partner) {
      return {false, number_at(stated, "float64_atol_vs_f64"), number_at(stated, "float32_atol_vs_f64")};
    }
    if (stated.value("compare", "") == "exact") return {true, {}, {}};
    return {false, number_at(stated, stated.contains("float64_atol") ? "float64_atol" : "float32_atol"),
            number_at(stated, "float32_atol")};
  }
};

std::vector<case_entry> list_cases(const std::filesystem::path& directory) {
  std::ifstream file(directory / "manifest.json");
  if (!file.is_open()) throw std::runtime_error("cannot open " + (directory / "manifest.json").string());
  std::vector<case_entry> entries;
  const json manifest = json::parse(file);
  for (const json& entry : manifest.at("cases")) {
    entries.push_back({entry.at("name"), entry.at("mechanism"), entry.dump()});
  }
  return entries;
}

golden_case read_case(const std::filesystem::path& directory, const case_entry& entry) {
  return manifest_reader::read(directory, json::parse(entry.json));
}

}  // namespace posgeo::golden
