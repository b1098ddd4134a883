// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/core/error.hpp>
#include <posgeo/json/parse.hpp>

#include <algorithm>
#include <string>
#include <string_view>

namespace posgeo::json::detail {

/// A value and the way to it. The way is spelled out only where something is refused.
class node {
 public:
  explicit node(const value& root) : value_(root) {}

  [[nodiscard]] const value& get() const noexcept { return value_; }
  [[nodiscard]] node at(std::string_view key) const { return {value_[std::string(key)], this, key, 0}; }
  [[nodiscard]] node at(std::size_t index) const { return {value_[index], this, {}, index}; }

  [[nodiscard]] std::string path() const {
    if (around_ == nullptr) return "$";
    return key_.data() == nullptr ? fmt::format("{}[{}]", around_->path(), index_)
                                  : fmt::format("{}.{}", around_->path(), key_);
  }
  /// Refuses what is here.
  template <class Expected, class Actual>
  void expect(bool ok, const Expected& expected, const Actual& actual) const {
    if (!ok) require(false, errc::manifest, "manifest", path(), expected, actual);
  }
  void expect_object() const { expect(value_.is_object(), "an object", kind()); }
  void expect_list() const { expect(value_.is_array(), "a list", kind()); }

  /// An object whose keys are these and no others.
  template <class Keys>
  void expect_keys(const Keys& keys) const {
    expect_object();
    for (const std::string_view key : keys) {
      const bool there = value_.contains(std::string(key));
      if (!there)
        require(false, errc::manifest, "manifest", fmt::format("{}.{}", path(), key), "a value", "no such key");
    }
    for (const auto& [key, inner] : value_.items()) {
      const bool known = std::find(keys.begin(), keys.end(), key) != keys.end();
      if (!known) {
        require(false, errc::manifest, "manifest", fmt::format("{}.{}", path(), key), "no such key", "one");
      }
    }
  }
  /// What is here, in a word or two.
  [[nodiscard]] std::string kind() const {
    if (value_.is_number_integer()) return value_.dump();
    if (value_.is_number_float()) return fmt::format("the number {}", value_.get<double>());
    if (value_.is_string()) return fmt::format("the text '{}'", shown(value_.get_ref<const std::string&>()));
    if (value_.is_array()) return "a list";
    if (value_.is_object()) return "an object";
    return value_.dump();
  }
  /// The beginning of a text.
  [[nodiscard]] static std::string shown(const std::string& whole) {
    constexpr std::size_t most = 40;
    return whole.size() <= most ? whole : whole.substr(0, most) + "...";
  }

 private:
  node(const value& given, const node* around, std::string_view key, std::size_t index)
      : value_(given), around_(around), key_(key), index_(index) {}
  const value& value_;
  const node* around_ = nullptr;
  std::string_view key_;
  std::size_t index_ = 0;
};

}  // namespace posgeo::json::detail
