// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/core/index.hpp>

#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "golden/safetensors.hpp"

namespace posgeo::golden {

/// How far a result may be from what is stored; an absent number does not apply.
struct tolerance {
  bool exact = false;
  std::optional<double> in_double;  ///< of a double computation
  std::optional<double> in_float;   ///< of a float computation
};

/// One output of the reference: its float64 partner where there is one, else the tensor itself.
struct expected_output {
  std::vector<double> values;
  tolerance allowed;
};

/// What a mechanism computes for a case, by tensor name.
template <class T>
class outputs {
 public:
  template <class Values>
  void add(const std::string& name, const Values& values) {
    std::vector<T>& to = computed_[name];
    for (const auto& value : values) to.push_back(static_cast<T>(value));
  }
  [[nodiscard]] const std::map<std::string, std::vector<T>>& computed() const noexcept { return computed_; }

 private:
  std::map<std::string, std::vector<T>> computed_;
};

/// One case of a manifest. Mechanisms see its settings, inputs and parameters; the values of its outputs are seen by
/// judge() alone, so that no variant can be chosen by looking at them.
class golden_case {
 public:
  std::string name;
  std::string mechanism;
  std::vector<std::string> notes;

  /// Whether the configuration has the key, with a value other than null.
  [[nodiscard]] bool has(const std::string& key) const { return numbers_.contains(key) || texts_.contains(key); }
  [[nodiscard]] const std::string& text(const std::string& key) const;
  [[nodiscard]] const std::string& convention(const std::string& key) const;
  /// The numbers of a configuration entry, nested lists one after another; true and false are 1 and 0.
  [[nodiscard]] const std::vector<double>& numbers(const std::string& key) const;
  [[nodiscard]] std::vector<index_t> integers(const std::string& key) const;
  [[nodiscard]] double number(const std::string& key) const;
  [[nodiscard]] double number_or(const std::string& key, double otherwise) const {
    return has(key) ? number(key) : otherwise;
  }
  [[nodiscard]] index_t integer(const std::string& key) const { return integers(key).at(0); }
  [[nodiscard]] bool flag(const std::string& key) const { return number(key) != 0.0; }

  [[nodiscard]] bool has_input(const std::string& tensor) const { return inputs_.contains(tensor); }
  [[nodiscard]] bool has_output(const std::string& tensor) const { return outputs_.contains(tensor); }
  /// Of an input, a parameter or an output.
  [[nodiscard]] const std::vector<index_t>& shape(const std::string& tensor) const;
  /// Of an input or a parameter.
  template <class T>
  [[nodiscard]] std::vector<T> values(const std::string& tensor) const {
    std::vector<T> out;
    for (const double value : input(tensor)) out.push_back(static_cast<T>(value));
    return out;
  }

  /// Every way in which the results miss the case; every output must have been computed.
  [[nodiscard]] std::vector<std::string> judge(const outputs<double>& in_double, const outputs<float>& in_float) const;

 private:
  friend struct manifest_reader;
  [[nodiscard]] const std::vector<double>& input(const std::string& tensor) const;

  std::map<std::string, std::vector<double>> numbers_;
  std::map<std::string, std::string> texts_;
  std::map<std::string, std::string> conventions_;
  std::map<std::string, std::vector<index_t>> shapes_;
  std::map<std::string, std::vector<double>> inputs_;
  std::map<std::string, expected_output> outputs_;
};

/// One entry of a manifest, not yet read.
struct case_entry {
  std::string name;
  std::string mechanism;
  std::string json;
};

/// The cases that `directory`/manifest.json lists.
[[nodiscard]] std::vector<case_entry> list_cases(const std::filesystem::path& directory);
/// Reads the entry's file and holds it against the manifest.
[[nodiscard]] golden_case read_case(const std::filesystem::path& directory, const case_entry& entry);

}  // namespace posgeo::golden
