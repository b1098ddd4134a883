// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/json/record.hpp>

#include <set>
#include <string>

#include "support/catch.hpp"

namespace posgeo::test::schema {

using json::value;
using keys = std::set<std::string>;

/// The schema that a reference, or one that allows null as well, leads to.
[[nodiscard]] inline value resolved(const value& root, value at) {
  for (;;) {
    if (at.contains("$ref")) {
      at = value(root.at(value::json_pointer(at.at("$ref").get<std::string>().substr(1))));
    } else if (at.contains("anyOf") && at.at("anyOf").size() == 2 && at.at("anyOf")[1] == value{{"type", "null"}}) {
      at = value(at.at("anyOf")[0]);
    } else {
      return at;
    }
  }
}

template <class T>
void compare(const value& root, const value& given, const std::string& path);

/// An object of the schema and a record have the same keys, and so have all records inside.
template <manifest::record T>
void compare_record(const value& root, const value& at, const std::string& path, const keys& more) {
  CAPTURE(path);
  keys of_schema;
  for (const auto& [key, inner] : at.at("properties").items()) of_schema.insert(key);
  keys of_record = more;
  manifest::each_field<T>([&](const auto& one) { of_record.insert(std::string(one.key)); });
  CHECK(of_schema == of_record);
  CHECK(keys(at.at("required").begin(), at.at("required").end()) == of_record);
  CHECK(at.at("additionalProperties") == false);
  manifest::each_field<T>([&](const auto& one) {
    const std::string key(one.key);
    compare<typename std::remove_cvref_t<decltype(one)>::type>(root, at.at("properties").at(key), path + "." + key);
  });
}

template <class T>
void compare(const value& root, const value& given, const std::string& path) {
  using json::detail::shape_of;
  const value at = resolved(root, given);
  if constexpr (shape_of<T>::stated) {
    compare<typename shape_of<T>::inner>(root, at, path);
  } else if constexpr (shape_of<T>::list) {
    CHECK(at.at("type") == "array");
    compare<typename shape_of<T>::inner>(root, at.at("items"), path + "[]");
  } else if constexpr (manifest::record<T>) {
    compare_record<T>(root, at, path, {});
  } else if constexpr (manifest::named_enum<T>) {
    CAPTURE(path);
    const auto names = names_of(T{});
    CHECK(keys(at.at("enum").begin(), at.at("enum").end()) == keys(names.begin(), names.end()));
  } else if constexpr (std::same_as<T, manifest::policy_record>) {
    CHECK(at == root.at("$defs").at("policy"));
  } else if constexpr (std::same_as<T, double>) {
    CAPTURE(path);
    CHECK(at == root.at("$defs").at("number"));
  } else {
    CAPTURE(path);
    CHECK(at.at("type") == (std::same_as<T, index_t> ? "integer" : "string"));
  }
}

}  // namespace posgeo::test::schema
