// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/audit/card_parts.hpp>
#include <posgeo/audit/coverage.hpp>
#include <posgeo/audit/finding.hpp>

#include <string>
#include <vector>

namespace posgeo::audit {

namespace detail {
/// The names of the first `count` enumerators.
template <class E, std::size_t count>
[[nodiscard]] constexpr auto all_names() noexcept {
  std::array<std::string_view, count> names{};
  for (std::size_t n = 0; n < count; ++n) names[n] = name_of(static_cast<E>(n));
  return names;
}
}  // namespace detail

[[nodiscard]] constexpr auto names_of(intervention) noexcept {
  return detail::all_names<intervention, static_cast<std::size_t>(intervention::cached) + 1>();
}
[[nodiscard]] constexpr auto names_of(verdict) noexcept {
  return detail::all_names<verdict, static_cast<std::size_t>(verdict::not_applicable) + 1>();
}
[[nodiscard]] constexpr auto names_of(debt) noexcept {
  return detail::all_names<debt, static_cast<std::size_t>(debt::procedure) + 1>();
}

/// One measured number. Units: length in tokens.
struct evaluation {
  index_t length;
  task_kind kind;
  std::string task;
  stated<std::string> placement;  ///< where the controlled information stood: "answers at 10 depths, 20 per depth"
  std::string metric;
  double value;
  length_range range;
  static constexpr auto fields() {
    using manifest::field;
    return std::make_tuple(field("length", &evaluation::length), field("kind", &evaluation::kind),
                           field("task", &evaluation::task), field("placement", &evaluation::placement),
                           field("metric", &evaluation::metric), field("value", &evaluation::value),
                           field("range", &evaluation::range));
  }
  friend bool operator==(const evaluation&, const evaluation&) noexcept = default;
};

/// Three lengths that are often told as one. Units: tokens.
struct length_part {
  stated<index_t> configured;  ///< what is accepted; `none` for no limit
  index_t trained;             ///< the longest sequence of training
  std::vector<evaluation> evaluated;
  static constexpr auto fields() {
    using manifest::field;
    return std::make_tuple(field("configured", &length_part::configured), field("trained", &length_part::trained),
                           field("evaluated", &length_part::evaluated, "evaluation"));
  }
  friend bool operator==(const length_part&, const length_part&) noexcept = default;
};

/// How much of a table training read.
struct table_use {
  std::string table;
  index_t configured;
  index_t addressed;
  index_t below_enough;
  static constexpr auto fields() {
    using manifest::field;
    return std::make_tuple(field("table", &table_use::table), field("configured", &table_use::configured),
                           field("addressed", &table_use::addressed), field("below_enough", &table_use::below_enough));
  }
  friend bool operator==(const table_use&, const table_use&) noexcept = default;
};

/// A coverage in a few numbers. Units: tokens; offsets are key minus query, `none` across frames.
struct coverage_part {
  index_t sequences;
  index_t longest;
  index_t highest_position;  ///< of a query row
  stated<index_t> lowest_offset;
  stated<index_t> highest_offset;
  index_t enough;  ///< reads from which a row counts as taught
  std::vector<table_use> tables;
  std::vector<std::string> not_counted;
  static constexpr auto fields() {
    using c = coverage_part;
    using manifest::field;
    return std::make_tuple(field("sequences", &c::sequences), field("longest", &c::longest),
                           field("highest_position", &c::highest_position), field("lowest_offset", &c::lowest_offset),
                           field("highest_offset", &c::highest_offset), field("enough", &c::enough),
                           field("tables", &c::tables, "table"), field("not_counted", &c::not_counted));
  }
  friend bool operator==(const coverage_part&, const coverage_part&) noexcept = default;
};

/// One test that was run.
struct finding_part {
  audit::intervention intervention;
  std::string what;
  verdict expected;
  verdict reference;
  verdict found;
  double outputs;  ///< the largest change of an output
  double tolerance;
  double from_reference;
  std::string message;
  static constexpr auto fields() {
    using f = finding_part;
    using manifest::field;
    return std::make_tuple(field("intervention", &f::intervention), field("what", &f::what),
                           field("expected", &f::expected), field("reference", &f::reference),
                           field("found", &f::found), field("outputs", &f::outputs), field("tolerance", &f::tolerance),
                           field("from_reference", &f::from_reference), field("message", &f::message));
  }
  friend bool operator==(const finding_part&, const finding_part&) noexcept = default;
  [[nodiscard]] bool passed() const noexcept {
    return found == expected && found == reference && from_reference <= tolerance;
  }
};

struct debt_part {
  audit::debt debt;
  std::string because;
  static constexpr auto fields() {
    using manifest::field;
    return std::make_tuple(field("debt", &debt_part::debt), field("because", &debt_part::because));
  }
  friend bool operator==(const debt_part&, const debt_part&) noexcept = default;
};

/// The result of an audit of the function that is served.
struct audit_part {
  std::string name;
  std::vector<finding_part> findings;
  std::vector<debt_part> debts;
  static constexpr auto fields() {
    using manifest::field;
    return std::make_tuple(field("name", &audit_part::name), field("findings", &audit_part::findings, "finding"),
                           field("debts", &audit_part::debts, "debt"));
  }
  friend bool operator==(const audit_part&, const audit_part&) noexcept = default;
};

/// A coverage, summed up. Throws: errc::coverage if nothing was observed, and for an `enough` below 1.
[[nodiscard]] inline coverage_part part_of(const coverage& given, index_t enough) {
  const row_counts& rows = given.counts().rows;
  const auto stated_end = [](const std::optional<index_t>& end) {
    return end ? stated<index_t>(*end) : stated<index_t>(none);
  };
  coverage_part out{rows.lengths.total(),
                    rows.lengths.highest().value_or(0),
                    rows.queries.highest().value_or(0),
                    stated_end(rows.offsets.lowest()),
                    stated_end(rows.offsets.highest()),
                    enough,
                    {},
                    given.counts().not_counted};
  for (const table_support& one : given.support(enough)) {
    out.tables.push_back({one.table, one.configured, one.addressed, one.below});
  }
  return out;
}

/// A report without its method, which is the card's.
[[nodiscard]] inline audit_part part_of(const report& given) {
  audit_part out{given.name, {}, {}};
  for (const finding& one : given.findings) {
    out.findings.push_back({one.kind, one.what, one.expected, one.reference, one.found, one.measured.outputs,
                            one.tolerance, one.from_reference, one.message});
  }
  for (const owed& one : given.debts) out.debts.push_back({one.kind, one.because});
  return out;
}

}  // namespace posgeo::audit
