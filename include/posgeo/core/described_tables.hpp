// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/core/description.hpp>

#include <optional>

namespace posgeo {

/// The tables of the heads as a description holds them: in the order of their memory, which axes_of names.
/// Shapes: [tables, rows, dim], or, by column, [rows, tables, dim]; tables is 1 where the heads share one.
template <class T>
[[nodiscard]] described_table described_tables(const head_tables<T>& tables) {
  if (tables.by_row()) return {tables.all(), {tables.tables(), tables.rows(), tables.dim()}};
  return {tables.all(), {tables.rows(), tables.tables(), tables.dim()}};
}
/// What the extents of described_tables count.
template <class T>
[[nodiscard]] std::string_view axes_of(const head_tables<T>& tables) noexcept {
  return tables.by_row() ? "tables, rows, dim" : "rows, tables, dim";
}

/// The same of tables that may be absent.
template <class T>
[[nodiscard]] std::optional<described_table> described_tables(const std::optional<head_tables<T>>& tables) {
  if (!tables) return std::nullopt;
  return described_tables(*tables);
}
template <class T>
[[nodiscard]] std::optional<std::string_view> axes_of(const std::optional<head_tables<T>>& tables) noexcept {
  if (!tables) return std::nullopt;
  return axes_of(*tables);
}

}  // namespace posgeo
