// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/contract/new_rows.hpp>
#include <posgeo/core/required.hpp>
#include <posgeo/core/stated.hpp>

#include <string_view>
#include <variant>
#include <vector>

namespace posgeo::contract {

/// What an optimizer keeps for each number of a table; none where it keeps nothing of the kind.
/// Shapes: each [rows, width] of the table.
template <class Master>
struct optimizer_rows {
  stated<table<Master>> first_moment;
  stated<table<Master>> second_moment;
  stated<table<Master>> master_weights;
};

/// Position ids that are generated: from 0 up to, but without, `end`.
struct generated_ids {
  required<index_t> end;
};

/// A learned position table and everything that must agree with it.
/// Shapes: weights [max_position_embeddings + row_offset, width].
template <class Element, class Master = float>
struct position_table {
  table<Element> weights;
  stated<optimizer_rows<Master>> optimizer;  ///< none if training does not go on
  required<index_t> max_position_embeddings;
  required<index_t> row_offset;  ///< rows before that of position 0
  generated_ids ids;
};

/// Lists what does not agree: config and rows, ids and config, optimizer rows and rows.
template <class Element, class Master>
[[nodiscard]] violations check(const position_table<Element, Master>& state) {
  violations found;
  const auto expect = [&found](bool ok, const auto& axis, const auto& expected, const auto& actual) {
    found.expect(ok, errc::table_migration, "position table", axis, expected, actual);
  };
  const index_t rows = state.weights.rows();
  const index_t width = state.weights.columns();
  const index_t positions = state.max_position_embeddings;
  const index_t offset = state.row_offset;
  expect(offset >= 0, "row_offset", "at least 0", offset);
  expect(positions >= 1, "max_position_embeddings", "at least 1", positions);
  const index_t left = saturating_subtract(rows, offset);
  expect(left == positions, "max_position_embeddings", text("{} ({} rows, row_offset {})", left, rows, offset),
         positions);
  expect(state.ids.end == positions, "end of the generated ids", positions, index_t{state.ids.end});
  if (!state.optimizer.value()) return found;
  const auto expect_rows = [&](std::string_view name, const stated<table<Master>>& of) {
    if (!of.value()) return;
    expect(of.value()->rows() == rows && of.value()->columns() == width, name, text("{} x {}", rows, width),
           text("{} x {}", of.value()->rows(), of.value()->columns()));
  };
  expect_rows("first moment", state.optimizer.value()->first_moment);
  expect_rows("second moment", state.optimizer.value()->second_moment);
  expect_rows("master weights", state.optimizer.value()->master_weights);
  return found;
}
/// Throws errc::table_migration unless everything agrees.
template <class Element, class Master>
void require_consistent(const position_table<Element, Master>& state) {
  check(state).throw_if_any();
}

/// Whether rows may be given up.
enum class shrinking { refused, intended };

/// What a resized table's moments start from.
namespace new_moments {
/// Old rows keep theirs, new rows have zeros.
struct zeros {};
/// Every row has zeros: what the optimizer has learned of the old ones is given up.
struct all_zeros {};
/// Old rows keep theirs, new rows have these. Shapes: [new rows, width].
template <class Master>
struct given {
  stated<table<Master>> first_moment;
  stated<table<Master>> second_moment;
};
}  // namespace new_moments

template <class Master>
using moment_policy = std::variant<new_moments::zeros, new_moments::all_zeros, new_moments::given<Master>>;

template <class Element, class Master = float>
struct migration_settings {
  required<index_t> max_position_embeddings;  ///< the new one
  required<row_policy<Element>> rows;
  required<moment_policy<Master>> moments;
  required<shrinking> fewer;
};

/// What a row of a migrated table is. A row that exists has not been trained for that.
enum class row_origin { carried_over, initialised };

template <class Element, class Master = float>
struct migrated_table {
  position_table<Element, Master> before;
  position_table<Element, Master> after;
  std::vector<row_origin> origin;  ///< of each row of `after`
};

namespace detail {

/// The first `kept` rows of a table and, behind them, those of `more`.
template <class T>
[[nodiscard]] table<T> prefix_and(const table<T>& old, index_t kept, const std::vector<T>& more) {
  const auto prefix = old.values().first(static_cast<std::size_t>(kept * old.columns()));
  std::vector<T> values(prefix.begin(), prefix.end());
  values.insert(values.end(), more.begin(), more.end());
  return {std::span<const T>(values), static_cast<index_t>(values.size()) / old.columns(), old.columns()};
}

template <class T>
[[nodiscard]] std::vector<T> zeros_of(index_t rows, index_t width) {
  return std::vector<T>(static_cast<std::size_t>(rows * width), T{0});
}

/// A moment of the new table.
template <class Master>
[[nodiscard]] stated<table<Master>> moment_of(const stated<table<Master>>& old, const moment_policy<Master>& policy,
                                              stated<table<Master>> new_moments::given<Master>::*which, index_t kept,
                                              index_t added) {
  if (!old.value()) return none;
  const index_t width = old.value()->columns();
  if (std::holds_alternative<new_moments::all_zeros>(policy)) {
    const auto values = zeros_of<Master>(kept + added, width);
    return table<Master>(std::span<const Master>(values), kept + added, width);
  }
  std::vector<Master> more = zeros_of<Master>(added, width);
  if (const auto* given = std::get_if<new_moments::given<Master>>(&policy)) {
    if (const auto& rows = (given->*which).value()) more.assign(rows->values().begin(), rows->values().end());
  }
  return prefix_and(*old.value(), kept, more);
}

/// Lists moments that are given for what the optimizer does not keep, are missing, or have other extents.
template <class Master>
void check_given(const optimizer_rows<Master>& old, const new_moments::given<Master>& given, index_t added,
                 index_t width, violations& found) {
  const auto check_one = [&](std::string_view name, const stated<table<Master>>& kept,
                             const stated<table<Master>>& rows) {
    const auto fits = [&] { return rows.value()->rows() == added && rows.value()->columns() == width; };
    const bool wanted = kept.value().has_value() && added > 0;
    found.expect(
        wanted == rows.value().has_value() && (!wanted || fits()), errc::table_migration, "table migration", name,
        wanted ? fmt::format("{} x {}", added, width) : std::string("none"),
        rows.value() ? fmt::format("{} x {}", rows.value()->rows(), rows.value()->columns()) : std::string("none"));
  };
  check_one("first moment of the new rows", old.first_moment, given.first_moment);
  check_one("second moment of the new rows", old.second_moment, given.second_moment);
}

}  // namespace detail

/// Resizes a learned table together with its optimizer rows, its configured maximum and its generated ids. Old rows
/// are the first of the new table, unless it is resampled; master weights and weights receive the same new numbers,
/// each rounded once; where rows are made of old rows, master weights are made of master weights. The old state is not
/// changed: migrated.before is what a rollback restores. Shapes: weights [max_position_embeddings + row_offset, width],
/// before and after. Throws: errc::table_migration for an old state that does not agree with itself, no change of size,
/// fewer rows where
///         that is refused, new rows that the policy cannot make, moments of other extents, and moments that are kept
///         where the table is resampled.
/// Source: the position table migration of the positional-call manifest numinens.position-call.v1.
template <class Element, class Master>
[[nodiscard]] migrated_table<Element, Master> migrate(const position_table<Element, Master>& old,
                                                      const migration_settings<Element, Master>& s) {
  require_consistent(old);
  const row_policy<Element>& new_policy = s.rows;
  const moment_policy<Master>& moments = s.moments;
  violations found;
  const auto expect = [&found](bool ok, std::string_view axis, const auto& expected, const auto& actual) {
    found.expect(ok, errc::table_migration, "table migration", axis, expected, actual);
  };
  constexpr index_t most = index_t{1} << 31;
  const index_t before = old.max_position_embeddings;
  const index_t positions = s.max_position_embeddings;
  const index_t width = old.weights.columns();
  expect(positions >= 1 && positions <= most, "max_position_embeddings", "from 1 to 2^31", positions);
  expect(positions != before, "max_position_embeddings", "another than before", positions);
  expect(positions >= before || s.fewer == shrinking::intended, "max_position_embeddings",
         text("at least {} (or shrinking::intended)", before), positions);
  const bool resampled = resamples(new_policy);
  const index_t rows = saturating_add(positions, old.row_offset);
  const index_t kept = resampled ? kept_rows(new_policy, index_t{old.row_offset}) : std::min(rows, old.weights.rows());
  const index_t added = rows - kept;
  if (found.empty()) check_rows(new_policy, old.weights, old.row_offset, added, found);
  const auto& optimizer = old.optimizer.value();
  const bool has_moments = optimizer && (optimizer->first_moment.value() || optimizer->second_moment.value());
  expect(!resampled || !has_moments || std::holds_alternative<new_moments::all_zeros>(moments),
         "moments of a resampled table", "new_moments::all_zeros", "moments of rows that are gone");
  if (const auto* given = std::get_if<new_moments::given<Master>>(&moments); given && found.empty()) {
    const optimizer_rows<Master> nothing{none, none, none};
    detail::check_given(optimizer ? *optimizer : nothing, *given, added, width, found);
  }
  found.throw_if_any();

  const auto with_new_rows = [&]<class T>(const table<T>& of) {
    std::vector<T> more;
    for (const double x : made_rows(new_policy, of, kept, added)) more.push_back(static_cast<T>(x));
    return detail::prefix_and(of, kept, more);
  };
  stated<optimizer_rows<Master>> after_rows = none;
  if (optimizer) {
    stated<table<Master>> master = none;
    if (const auto& weights = optimizer->master_weights.value()) master = with_new_rows(*weights);
    after_rows = optimizer_rows<Master>{
        detail::moment_of(optimizer->first_moment, moments, &new_moments::given<Master>::first_moment, kept, added),
        detail::moment_of(optimizer->second_moment, moments, &new_moments::given<Master>::second_moment, kept, added),
        master};
  }
  migrated_table<Element, Master> out{
      .before = old,
      .after = {.weights = with_new_rows(old.weights),
                .optimizer = after_rows,
                .max_position_embeddings = positions,
                .row_offset = old.row_offset,
                .ids = {.end = positions}},
      .origin = std::vector<row_origin>(static_cast<std::size_t>(rows), row_origin::initialised)};
  std::fill_n(out.origin.begin(), kept, row_origin::carried_over);
  return out;
}

}  // namespace posgeo::contract
