// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/core/description.hpp>

#include <fmt/format.h>

#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>

namespace posgeo::audit::detail {

/// Calls visit(path, rows) for each table of a description and of the descriptions inside, in order. Of head tables the
/// rows of one head count.
template <class Visit>
void each_table(const description& what, const Visit& visit, const std::string& before = "") {
  for (const description::field& field : what.fields()) {
    if (const auto* const table = std::get_if<described_table>(&field.what)) {
      const auto* const axes = what.find(field.name + "_axes");
      const auto* const named = axes == nullptr ? nullptr : std::get_if<std::string>(axes);
      const bool after_heads = named != nullptr && named->starts_with("tables");
      visit(before + field.name, table->extents()[after_heads ? 1 : 0]);
    } else if (const auto* const inner = std::get_if<description>(&field.what)) {
      each_table(*inner, visit, before + field.name + ".");
    }
  }
}

/// The rows of a table. Throws: errc::coverage if the description has none of that name.
[[nodiscard]] inline index_t table_rows(const description& what, std::string_view path) {
  std::optional<index_t> found;
  each_table(what, [&](const std::string& name, index_t rows) {
    if (name == path) found = rows;
  });
  require(found.has_value(), errc::coverage, what.name(), "table that is read", "one of its description", path);
  return *found;
}

/// The rows of a table with axes of heads; nothing if there is none of that name.
[[nodiscard]] inline std::optional<index_t> head_table_rows(const description& what, std::string_view path) {
  const auto dot = path.find('.');
  if (dot != std::string_view::npos) {
    const description::value* const inner = what.find(path.substr(0, dot));
    const auto* const of = inner == nullptr ? nullptr : std::get_if<description>(inner);
    return of == nullptr ? std::nullopt : head_table_rows(*of, path.substr(dot + 1));
  }
  if (what.find(std::string(path) + "_axes") == nullptr) return std::nullopt;
  std::optional<index_t> found;
  each_table(what, [&](const std::string& name, index_t rows) {
    if (name == path) found = rows;
  });
  return found;
}

[[nodiscard]] inline std::string_view family_of(const description& what) {
  return std::get<std::string>(*what.find("family"));
}

/// What decides which rows are read, as a text: the settings and rules of a description, without its tables, without
/// what belongs to the rows of one call (lists, graphs, columns), and without the family.
[[nodiscard]] inline std::string rule_of(const description& what) {
  std::string out;
  for (const description::field& field : what.fields()) {
    if (field.name == "family" || field.name == "graphs" || field.name == "column") continue;
    const std::string said = std::visit(
        [](const auto& value) -> std::string {
          using V = std::remove_cvref_t<decltype(value)>;
          if constexpr (std::is_same_v<V, description::absent_t>) {
            return "none";
          } else if constexpr (std::is_same_v<V, index_t> || std::is_same_v<V, double> ||
                               std::is_same_v<V, std::string>) {
            return fmt::format("{}", value);
          } else if constexpr (std::is_same_v<V, description>) {
            const std::string inner = rule_of(value);
            return inner.empty() ? value.name() : fmt::format("{}({})", value.name(), inner);
          } else {
            return {};
          }
        },
        field.what);
    if (said.empty() || field.name.ends_with("_axes")) continue;
    out += fmt::format("{}{} {}", out.empty() ? "" : ", ", field.name, said);
  }
  return out;
}

}  // namespace posgeo::audit::detail
