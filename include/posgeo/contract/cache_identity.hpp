// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/core/error.hpp>
#include <posgeo/core/index.hpp>
#include <posgeo/core/precision.hpp>
#include <posgeo/core/required.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace posgeo::contract {

/// A text that knows what it names: equal letters in two fields are two things.
/// Throws: errc::cache_identity for an empty text.
template <class Tag>
class tagged_text {
 public:
  explicit tagged_text(std::string text) : text_(std::move(text)) {
    require(!text_.empty(), errc::cache_identity, "cache identity", "text", "at least one character", "none");
  }
  [[nodiscard]] const std::string& text() const noexcept { return text_; }
  friend bool operator==(const tagged_text&, const tagged_text&) = default;

 private:
  std::string text_;
};

using model_digest = tagged_text<struct model_digest_tag>;      ///< of the weights
using adapter_digest = tagged_text<struct adapter_digest_tag>;  ///< of the adapter's weights, not its name
using cache_salt = tagged_text<struct cache_salt_tag>;          ///< keeps tenants apart
using mask_kind = tagged_text<struct mask_kind_tag>;            ///< who saw whom: "causal", "prefix 12"

struct none_t {};
inline constexpr none_t none{};

/// A value or `none`: one of them has to be written.
template <class Value>
class stated {
 public:
  stated(none_t) {}                                  // implicit: the field reads like its type
  stated(Value value) : value_(std::move(value)) {}  // implicit: the field reads like its type
  [[nodiscard]] const std::optional<Value>& value() const noexcept { return value_; }
  friend bool operator==(const stated&, const stated&) = default;

 private:
  std::optional<Value> value_;
};

/// The token ids of a prefix, themselves: equal hashes are not equal tokens.
class token_ids {
 public:
  explicit token_ids(std::vector<index_t> ids) : ids_(std::move(ids)) {}
  [[nodiscard]] const std::vector<index_t>& ids() const noexcept { return ids_; }
  friend bool operator==(const token_ids&, const token_ids&) = default;

 private:
  std::vector<index_t> ids_;
};

/// How positions enter, with every number that it depends on. A number and the same number as text differ.
/// Throws: errc::cache_identity for an empty name or a number that is NaN, which equals nothing.
class position_mechanism {
 public:
  using parameter = std::variant<index_t, double, std::string>;
  using named_parameters = std::map<std::string, parameter>;

  position_mechanism(std::string name, named_parameters parameters)
      : name_(std::move(name)), parameters_(std::move(parameters)) {
    require(!name_.empty(), errc::cache_identity, "cache identity", "name of the position mechanism",
            "at least one character", "none");
    for (const auto& [key, value] : parameters_) {
      const double* const number = std::get_if<double>(&value);
      require(!number || !std::isnan(*number), errc::cache_identity, "cache identity", text("parameter {}", key),
              "a number, which equals itself", "NaN");
    }
  }
  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] const named_parameters& parameters() const noexcept { return parameters_; }
  friend bool operator==(const position_mechanism&, const position_mechanism&) = default;

 private:
  std::string name_;
  named_parameters parameters_;
};

/// What stored keys and values are. They may serve another request only if every field is equal; a field left out does
/// not compile.
/// Units:  start in positions; none where keys and values do not depend on it (a bias of differences alone).
/// Source: the positional-call manifest numinens.position-call.v1, cache identity.
struct cache_identity {
  model_digest model;
  stated<adapter_digest> adapter;
  stated<cache_salt> salt;
  token_ids tokens;
  stated<position> start;  ///< of the first token
  position_mechanism mechanism;
  mask_kind mask;
  required<precision> format;
  friend bool operator==(const cache_identity&, const cache_identity&) = default;
};

namespace detail {

template <class Value>
std::string said(const stated<Value>& field) {
  if (!field.value()) return "none";
  if constexpr (std::is_same_v<Value, position>) {
    return std::to_string(field.value()->value());
  } else {
    return fmt::format("'{}'", field.value()->text());
  }
}
inline std::string said(const position_mechanism::named_parameters& all, const std::string& name) {
  const auto found = all.find(name);
  if (found == all.end()) return "none";
  constexpr std::array kinds{"integer", "number", "text"};
  return std::visit([&](const auto& value) { return fmt::format("{} {}", kinds[found->second.index()], value); },
                    found->second);
}
inline std::string said(const token_ids& tokens, std::size_t at) {
  return at < tokens.ids().size() ? std::to_string(tokens.ids()[at]) : "none";
}
inline std::string said(precision format) {
  constexpr std::array names{"binary64", "binary32", "binary16", "bfloat16"};
  return names[static_cast<std::size_t>(format)];
}

}  // namespace detail

/// Every field that differs, in the order of the fields; of tokens the first. Empty exactly if the two are equal.
[[nodiscard]] inline violations differences(const cache_identity& made, const cache_identity& wanted) {
  violations found;
  const auto expect = [&found](bool same, const auto& field, const auto& of_cache, const auto& of_request) {
    found.expect(same, errc::cache_identity, "cache", field, of_request, of_cache);
  };
  using detail::said;
  expect(made.model == wanted.model, "model digest", made.model.text(), wanted.model.text());
  expect(made.adapter == wanted.adapter, "adapter digest", said(made.adapter), said(wanted.adapter));
  expect(made.salt == wanted.salt, "salt", said(made.salt), said(wanted.salt));
  const auto& a = made.tokens.ids();
  const auto& b = wanted.tokens.ids();
  const auto at = static_cast<std::size_t>(std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin());
  expect(made.tokens == wanted.tokens, text("token {}", at), said(made.tokens, at), said(wanted.tokens, at));
  expect(made.start == wanted.start, "start position", said(made.start), said(wanted.start));
  expect(made.mechanism.name() == wanted.mechanism.name(), "position mechanism", made.mechanism.name(),
         wanted.mechanism.name());
  const auto& parameters = made.mechanism.parameters();
  auto names = wanted.mechanism.parameters();
  names.insert(parameters.begin(), parameters.end());
  for (const auto& [name, value] : names) {
    const auto& others = wanted.mechanism.parameters();
    const bool same = parameters.contains(name) && others.contains(name) && parameters.at(name) == others.at(name);
    expect(same, text("parameter {}", name), said(parameters, name), said(others, name));
  }
  expect(made.mask == wanted.mask, "mask kind", made.mask.text(), wanted.mask.text());
  expect(made.format == wanted.format, "number format", said(made.format), said(wanted.format));
  return found;
}

/// Refuses a cache that was made under another identity than the request's.
/// Throws: errc::cache_identity, naming the field, what the request has and what the cache has.
inline void require_same(const cache_identity& made, const cache_identity& wanted) {
  differences(made, wanted).throw_if_any();
}

}  // namespace posgeo::contract
