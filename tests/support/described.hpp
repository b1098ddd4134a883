// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/core/description.hpp>

#include <set>
#include <string>
#include <vector>

#include "support/catch.hpp"

// What a description of a policy must hold: everything in which two policies can differ.
namespace posgeo::test {

using field_paths = std::set<std::string>;

/// Calls visit(path, a, b) for the fields of two descriptions, "rule.sign" for one of a rule; a missing one is nullptr.
template <class Visit>
void each_field(const description& a, const description& b, const std::string& path, const Visit& visit) {
  field_paths names;
  for (const description* of : {&a, &b}) {
    for (const description::field& field : of->fields()) names.insert(field.name);
  }
  for (const std::string& name : names) {
    const description::value* const x = a.find(name);
    const description::value* const y = b.find(name);
    const std::string here = path + name;
    const auto* const rule = x == nullptr ? nullptr : std::get_if<description>(x);
    const auto* const other_rule = y == nullptr ? nullptr : std::get_if<description>(y);
    const auto* const list = x == nullptr ? nullptr : std::get_if<std::vector<description>>(x);
    const auto* const other_list = y == nullptr ? nullptr : std::get_if<std::vector<description>>(y);
    if (rule != nullptr && other_rule != nullptr && rule->name() == other_rule->name()) {
      each_field(*rule, *other_rule, here + ".", visit);
    } else if (list != nullptr && other_list != nullptr && list->size() == other_list->size()) {
      for (std::size_t n = 0; n < list->size(); ++n) {
        each_field((*list)[n], (*other_list)[n], here + "." + std::to_string(n) + ".", visit);
      }
    } else {
      visit(here, x, y);
    }
  }
}

/// The fields in which two descriptions differ.
[[nodiscard]] inline field_paths differing(const description& a, const description& b) {
  field_paths found;
  each_field(a, b, "", [&](const std::string& path, const description::value* x, const description::value* y) {
    if (x == nullptr || y == nullptr || !(*x == *y)) found.insert(path);
  });
  return found;
}

/// A policy made with one thing changed, and the fields that must say so.
struct changed_policy {
  field_paths fields;
  description made;
};

/// The same policy made twice has one description; each change is in exactly the fields named, and no two changes have
/// one description. Every field is changed once at least, but for `fixed` ones, which no policy of the kind can change.
inline void check_described(const description& base, const description& again,
                            const std::vector<changed_policy>& changes, const field_paths& fixed = {}) {
  CHECK(base == again);
  CHECK_FALSE(base.name().empty());
  field_paths seen = fixed;
  for (std::size_t n = 0; n < changes.size(); ++n) {
    CAPTURE(base.name(), n);
    CHECK(differing(base, changes[n].made) == changes[n].fields);
    CHECK_FALSE(base == changes[n].made);
    for (std::size_t m = 0; m < n; ++m) CHECK_FALSE(changes[m].made == changes[n].made);
    for (const std::string& field : changes[n].fields) {
      CHECK(fixed.count(field) == 0);
      seen.insert(field);
    }
  }
  field_paths all;
  each_field(base, base, "", [&](const std::string& path, const auto*, const auto*) { all.insert(path); });
  field_paths unchanged;
  for (const std::string& field : all) {
    if (seen.count(field) == 0) unchanged.insert(field);
  }
  CHECK(unchanged == field_paths{});
  for (const std::string& field : fixed) CHECK(all.count(field) == 1);
}

}  // namespace posgeo::test
