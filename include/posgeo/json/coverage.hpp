// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/audit/coverage.hpp>
#include <posgeo/json/canonical.hpp>
#include <posgeo/json/limits.hpp>
#include <posgeo/json/record.hpp>

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace posgeo::json {

/// The name in the key "schema" of every coverage.
inline constexpr std::string_view coverage_schema = "posgeo.coverage.v1";

namespace detail {

/// The tallies of a coverage and their keys.
inline constexpr std::array<std::pair<std::string_view, audit::tally audit::row_counts::*>, 5> row_tallies{
    {{"queries", &audit::row_counts::queries},
     {"keys", &audit::row_counts::keys},
     {"offsets", &audit::row_counts::offsets},
     {"lengths", &audit::row_counts::lengths},
     {"memory", &audit::row_counts::memory}}};

[[nodiscard]] inline value tally_to_value(const audit::tally& given) {
  value out = value::array();
  given.each_line([&out](const audit::counted_line& line) {
    out.push_back(value::array({line.first, line.last, line.count, line.step}));
  });
  return out;
}

[[nodiscard]] inline audit::tally tally_from(const node& at) {
  at.expect_list();
  std::vector<audit::counted_line> lines;
  for (std::size_t n = 0; n < at.get().size(); ++n) {
    const node line = at.at(n);
    line.expect_list();
    line.expect(line.get().size() == 4, "4 integers: first, last, count and step",
                fmt::format("{} values", line.get().size()));
    lines.push_back(
        {integer_from(line.at(0)), integer_from(line.at(1)), integer_from(line.at(2)), integer_from(line.at(3))});
  }
  try {
    return audit::tally(lines);
  } catch (const error& broken) {
    at.expect(false, "the lines of a tally", text("others ({})", std::string(broken.what())));
    throw;
  }
}

[[nodiscard]] inline audit::table_reads table_from(const node& at) {
  at.expect_keys(std::array<std::string_view, 6>{"policy", "number", "table", "rule", "rows", "reads"});
  return {.policy = text_from(at.at("policy")),
          .number = integer_from(at.at("number")),
          .table = text_from(at.at("table")),
          .rule = text_from(at.at("rule")),
          .rows = integer_from(at.at("rows")),
          .reads = tally_from(at.at("reads"))};
}

template <class One, class Read>
[[nodiscard]] std::vector<One> list_from(const node& at, const Read& read) {
  at.expect_list();
  std::vector<One> out;
  for (std::size_t n = 0; n < at.get().size(); ++n) out.push_back(read(at.at(n)));
  return out;
}

}  // namespace detail

/// A coverage as a JSON value: each tally is the list of its lines, [first, last, count, step].
/// Throws: errc::coverage if nothing was observed.
[[nodiscard]] inline value coverage_value(const audit::coverage& given) {
  const audit::coverage_counts& counts = given.counts();
  value out = value::object();
  out["schema"] = coverage_schema;
  out["query_frame"] = counts.query_frame.name();
  out["key_frame"] = counts.key_frame.name();
  for (const auto& [key, member] : detail::row_tallies) {
    out[std::string(key)] = detail::tally_to_value(counts.rows.*member);
  }
  out["tables"] = value::array();
  for (const audit::table_reads& table : counts.tables) {
    value one = value::object();
    one["policy"] = table.policy;
    one["number"] = table.number;
    one["table"] = table.table;
    one["rule"] = table.rule;
    one["rows"] = table.rows;
    one["reads"] = detail::tally_to_value(table.reads);
    out["tables"].push_back(std::move(one));
  }
  out["not_counted"] = counts.not_counted;
  return out;
}

/// The coverage of a JSON value.
/// Throws: errc::manifest with the path to the key that is unknown, missing or of another type or range; errc::coverage
///         for counts that no stream of calls gives.
[[nodiscard]] inline audit::coverage coverage_of(const value& given) {
  const detail::node root(given);
  root.expect_keys(std::array<std::string_view, 10>{"schema", "query_frame", "key_frame", "queries", "keys", "offsets",
                                                    "lengths", "memory", "tables", "not_counted"});
  const detail::node schema = root.at("schema");
  schema.expect(schema.get() == coverage_schema, coverage_schema, schema.kind());
  audit::coverage_counts counts;
  counts.query_frame = detail::from<coordinate_frame>(root.at("query_frame"));
  counts.key_frame = detail::from<coordinate_frame>(root.at("key_frame"));
  for (const auto& [key, member] : detail::row_tallies) counts.rows.*member = detail::tally_from(root.at(key));
  counts.tables = detail::list_from<audit::table_reads>(root.at("tables"), detail::table_from);
  counts.not_counted = detail::list_from<std::string>(root.at("not_counted"), detail::text_from);
  return audit::coverage(std::move(counts));
}

/// The one text of a coverage: keys sorted, no spaces. Equal coverages have equal texts.
/// Throws: errc::coverage if nothing was observed; errc::manifest for names that are not UTF-8.
[[nodiscard]] inline std::string write_coverage(const audit::coverage& given) {
  try {
    return canonical(coverage_value(given));
  } catch (const value::exception&) {
    require(false, errc::manifest, "coverage", "texts", "UTF-8", "other bytes");
    throw;
  }
}

/// The coverage of a JSON text.
/// Throws: as coverage_of; errc::manifest for a text that is no JSON, has a key twice or is beyond the limits.
[[nodiscard]] inline audit::coverage read_coverage(std::string_view text_of_json, const limits& most = {}) {
  return coverage_of(parse(text_of_json, most));
}

}  // namespace posgeo::json
