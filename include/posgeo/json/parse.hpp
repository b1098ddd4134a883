// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/core/error.hpp>
#include <posgeo/json/limits.hpp>

#include <nlohmann/json.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace posgeo::json {

using value = nlohmann::json;

namespace detail {

/// Builds a value while it counts: refuses a key twice, too many values and too deep a nesting where they begin.
class bounded_builder {
 public:
  explicit bounded_builder(const limits& most) : most_(most) {}

  bool null() { return put(nullptr); }
  bool boolean(bool given) { return put(given); }
  bool number_integer(std::int64_t given) { return put(given); }
  bool number_unsigned(std::uint64_t given) { return put(given); }
  bool number_float(double given, const std::string&) { return put(given); }
  bool string(std::string& given) { return put(std::move(given)); }
  bool binary(value::binary_t&) { return false; }  // no JSON text has one
  bool start_object(std::size_t) { return open(value::object()); }
  bool start_array(std::size_t) { return open(value::array()); }
  bool end_object() { return close(); }
  bool end_array() { return close(); }
  bool key(std::string& name) {
    const bool first = !open_.back()->contains(name);
    key_ = std::move(name);
    refuse_unless(first, "each key once", "this one twice");
    return true;
  }
  bool parse_error(std::size_t byte, const std::string&, const nlohmann::detail::exception& why) {
    const bool out_of_range = why.id == 406;
    require(false, errc::manifest, "manifest", path(), out_of_range ? "a number within the doubles" : "JSON",
            text("something else at byte {}", byte));
    return false;
  }
  [[nodiscard]] value result() && { return std::move(root_); }

 private:
  /// Where the value that comes next stands.
  [[nodiscard]] std::string path() const {
    std::string all = "$";
    for (std::size_t n = 0; n < open_.size(); ++n) {
      const bool last = n + 1 == open_.size();
      if (open_[n]->is_array()) {
        const std::size_t at = last ? open_[n]->size() : open_[n]->size() - 1;
        all += fmt::format("[{}]", at);
      } else {
        const std::string& name = last ? key_ : keys_[n];
        if (!name.empty()) all += "." + name;
      }
    }
    return all;
  }
  template <class Expected, class Actual>
  void refuse_unless(bool ok, const Expected& expected, const Actual& actual) const {
    if (!ok) require(false, errc::manifest, "manifest", path(), expected, actual);
  }
  value* place(value&& given) {
    refuse_unless(++values_ <= most_.most_values, text("at most {} values", most_.most_values), "more");
    if (open_.empty()) {
      root_ = std::move(given);
      return &root_;
    }
    value& around = *open_.back();
    if (around.is_array()) {
      around.push_back(std::move(given));
      return &around.back();
    }
    return &(around[key_] = std::move(given));
  }
  template <class Given>
  bool put(Given&& given) {
    place(value(std::forward<Given>(given)));
    return true;
  }
  bool open(value&& given) {
    refuse_unless(open_.size() < most_.deepest, text("at most {} levels", most_.deepest), "more");
    value* const there = place(std::move(given));
    if (!keys_.empty()) keys_.back() = key_;
    open_.push_back(there);
    keys_.emplace_back();
    key_.clear();
    return true;
  }
  bool close() {
    open_.pop_back();
    keys_.pop_back();
    key_.clear();
    return true;
  }

  limits most_;
  value root_;
  std::vector<value*> open_;       ///< from the outermost in
  std::vector<std::string> keys_;  ///< in each of them, the key of the next
  std::string key_;
  std::size_t values_ = 0;
};

}  // namespace detail

/// The value of a JSON text, UTF-8.
/// Throws: errc::manifest with the path for a text that is no JSON, a key twice, a number beyond the doubles, and a
/// text
///         beyond the limits.
[[nodiscard]] inline value parse(std::string_view text_of_json, const limits& most) {
  require(text_of_json.size() <= most.most_bytes, errc::manifest, "manifest", "$",
          text("at most {} bytes", most.most_bytes), text_of_json.size());
  detail::bounded_builder build(most);
  value::sax_parse(text_of_json.begin(), text_of_json.end(), &build);
  return std::move(build).result();
}

}  // namespace posgeo::json
