// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/json/node.hpp>
#include <posgeo/manifest/position_call_record.hpp>

#include <charconv>
#include <cmath>
#include <limits>
#include <type_traits>

namespace posgeo::json::detail {

/// What a type of a record is.
template <class T>
struct shape_of {
  static constexpr bool identifier = false, stated = false, list = false, run = false;
};
template <class Tag>
struct shape_of<posgeo::identifier<Tag>> {
  static constexpr bool identifier = true, stated = false, list = false;
};
template <class T>
struct shape_of<posgeo::stated<T>> {
  static constexpr bool identifier = false, stated = true, list = false;
  using inner = T;
};
template <class T>
struct shape_of<std::vector<T>> {
  static constexpr bool identifier = false, stated = false, list = true;
  using inner = T;
};

/// The keys under which a setting of each kind is written, in the order of policy_record::value.
inline constexpr std::array<std::string_view, 9> setting_kinds{"",        "integer", "number", "text",    "integers",
                                                               "numbers", "table",   "policy", "policies"};

/// The keys of a record, in order.
template <manifest::record T>
[[nodiscard]] constexpr auto keys_of() {
  return std::apply([](const auto&... all) { return std::array<std::string_view, sizeof...(all)>{all.key...}; },
                    T::fields());
}

template <class T>
[[nodiscard]] value to_value(const T& given);

inline value policy_to_value(const manifest::policy_record& policy) {
  value settings = value::object();
  for (const manifest::policy_record::setting& one : policy.settings()) {
    const std::string kind(setting_kinds[one.what.index()]);
    settings[one.name] = std::visit(
        [&kind](const auto& what) {
          using V = std::remove_cvref_t<decltype(what)>;
          if constexpr (std::same_as<V, manifest::policy_record::absent_t>) {
            return value(nullptr);
          } else {
            value tagged = value::object();
            tagged[kind] = to_value(what);
            return tagged;
          }
        },
        one.what);
  }
  value out = value::object();
  out["name"] = policy.name();
  out["settings"] = std::move(settings);
  return out;
}

template <class T>
value to_value(const T& given) {
  if constexpr (shape_of<T>::identifier) {
    return value(given.name());
  } else if constexpr (shape_of<T>::stated) {
    return given.value() ? to_value(*given.value()) : value(nullptr);
  } else if constexpr (shape_of<T>::list) {
    value out = value::array();
    for (const auto& one : given) out.push_back(to_value(one));
    return out;
  } else if constexpr (manifest::record<T>) {
    value out = value::object();
    manifest::each_field<T>([&](const auto& one) { out[std::string(one.key)] = to_value(given.*one.member); });
    return out;
  } else if constexpr (manifest::named_enum<T>) {
    return value(std::string(manifest::name_of(given)));
  } else if constexpr (std::same_as<T, posgeo::coordinate_frame>) {
    return value(std::string(given.name()));
  } else if constexpr (std::same_as<T, manifest::digest128>) {
    return value(given.text());
  } else if constexpr (std::same_as<T, manifest::policy_record>) {
    return policy_to_value(given);
  } else if constexpr (std::same_as<T, double>) {
    if (std::isinf(given)) return value(given > 0 ? "infinity" : "-infinity");
    return value(given);
  } else {
    return value(given);  // a 64-bit integer or a text
  }
}

template <class T>
[[nodiscard]] T from(const node& at);

[[nodiscard]] inline std::string text_from(const node& at) {
  at.expect(at.get().is_string(), "a text", at.kind());
  return at.get().get<std::string>();
}

[[nodiscard]] inline index_t integer_from(const node& at) {
  const value& given = at.get();
  constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<index_t>::max());
  at.expect(given.is_number_integer(), "an integer of 64 bits", at.kind());
  at.expect(!given.is_number_unsigned() || given.get<std::uint64_t>() <= most, "an integer of 64 bits", at.kind());
  return given.get<index_t>();
}

[[nodiscard]] inline double number_from(const node& at) {
  const value& given = at.get();
  if (given == "infinity") return std::numeric_limits<double>::infinity();
  if (given == "-infinity") return -std::numeric_limits<double>::infinity();
  at.expect(given.is_number(), "a number, infinity or -infinity", at.kind());
  return given.get<double>();
}

[[nodiscard]] inline manifest::digest128 digest_from(const node& at) {
  const std::string digits = text_from(at);
  const bool hex = digits.size() == 32 && digits.find_first_not_of("0123456789abcdef") == std::string::npos;
  at.expect(hex, "32 digits 0-9 and a-f", at.kind());
  manifest::digest128 out{0, 0};
  std::from_chars(digits.data(), digits.data() + 16, out.high, 16);
  std::from_chars(digits.data() + 16, digits.data() + 32, out.low, 16);
  return out;
}

template <std::size_t Kind = 1>
[[nodiscard]] manifest::policy_record::value setting_from(const node& at) {
  using setting = manifest::policy_record::value;
  if constexpr (Kind == 1) {
    if (at.get().is_null()) return manifest::policy_record::absent_t{};
    at.expect_object();
    at.expect(at.get().size() == 1, "one key, the kind of the setting", fmt::format("{} keys", at.get().size()));
  }
  if constexpr (Kind == std::variant_size_v<setting>) {
    const std::string unknown = at.get().items().begin().key();
    at.at(unknown).expect(false, "a kind of setting", "another key");
    return manifest::policy_record::absent_t{};
  } else {
    if (!at.get().contains(std::string(setting_kinds[Kind]))) return setting_from<Kind + 1>(at);
    return from<std::variant_alternative_t<Kind, setting>>(at.at(setting_kinds[Kind]));
  }
}

[[nodiscard]] inline manifest::policy_record policy_from(const node& at) {
  at.expect_keys(std::array<std::string_view, 2>{"name", "settings"});
  std::string name = text_from(at.at("name"));
  at.at("name").expect(!name.empty(), "at least one character", "none");
  const node all = at.at("settings");
  all.expect_object();
  std::vector<manifest::policy_record::setting> settings;
  for (const auto& [key, inner] : all.get().items()) {
    all.expect(!key.empty(), "names of at least one character", "an empty one");
    settings.push_back({key, setting_from(all.at(key))});
  }
  return {std::move(name), std::move(settings)};
}

template <class T>
void expect_whole(const T& given, const node& at) {
  if constexpr (requires { broken(given); }) {
    const std::optional<manifest::broken_rule> rule = broken(given);
    if (rule) at.at(rule->key).expect(false, rule->expected, rule->actual);
  }
}

/// The record whose keys are known to be there.
template <manifest::record T>
[[nodiscard]] T members_from(const node& at) {
  T out = std::apply(
      [&at](const auto&... all) {
        return T{from<typename std::remove_cvref_t<decltype(all)>::type>(at.at(all.key))...};
      },
      T::fields());
  expect_whole(out, at);
  return out;
}

template <class T>
T from(const node& at) {
  if constexpr (shape_of<T>::identifier) {
    std::string name = text_from(at);
    at.expect(!name.empty(), "at least one character", "none");
    return T(std::move(name));
  } else if constexpr (shape_of<T>::stated) {
    if (at.get().is_null()) return posgeo::none;
    return from<typename shape_of<T>::inner>(at);
  } else if constexpr (shape_of<T>::list) {
    at.expect_list();
    T out;
    out.reserve(at.get().size());
    for (std::size_t n = 0; n < at.get().size(); ++n) {
      const node element = at.at(n);
      out.push_back(from<typename shape_of<T>::inner>(element));
      if constexpr (requires { continues(out[0], out[0]); }) {
        const bool apart = n == 0 || !continues(out[n - 1], out[n]);
        element.expect(apart, "a piece of its own", "one that goes on as the piece before it does");
      }
    }
    return out;
  } else if constexpr (manifest::record<T>) {
    at.expect_keys(keys_of<T>());
    return members_from<T>(at);
  } else if constexpr (manifest::named_enum<T>) {
    const auto found = manifest::enumerator_of<T>(text_from(at));
    if (!found) at.expect(false, fmt::format("one of {}", fmt::join(names_of(T{}), ", ")), at.kind());
    return *found;
  } else if constexpr (std::same_as<T, posgeo::coordinate_frame>) {
    const std::string name = text_from(at);
    at.expect(name.size() <= label::max_length, "at most 31 characters", name.size());
    return T(name);
  } else if constexpr (std::same_as<T, manifest::digest128>) {
    return digest_from(at);
  } else if constexpr (std::same_as<T, manifest::policy_record>) {
    return policy_from(at);
  } else if constexpr (std::same_as<T, double>) {
    return number_from(at);
  } else if constexpr (std::same_as<T, index_t>) {
    return integer_from(at);
  } else {
    static_assert(std::same_as<T, std::string>);
    return text_from(at);
  }
}

}  // namespace posgeo::json::detail
