// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/audit/row_counts.hpp>
#include <posgeo/audit/table_reads.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace posgeo::audit {

/// What a coverage counts: of rows and pairs, in the frames that they stand in, and of tables.
struct coverage_counts {
  coordinate_frame query_frame;
  coordinate_frame key_frame;
  row_counts rows;
  std::vector<table_reads> tables;
  std::vector<std::string> not_counted;  ///< tables whose rows cannot be told apart, by name
  friend bool operator==(const coverage_counts&, const coverage_counts&) = default;
};

/// How much of a table was read.
struct table_support {
  std::string table;
  index_t configured;  ///< rows that there are
  index_t addressed;   ///< rows that were read at all
  index_t below;       ///< rows that were read less often than asked for, those that were never read included
  friend bool operator==(const table_support&, const table_support&) = default;
};

/// Lists what no stream of calls gives: counts that do not belong together, a row that the table does not have, a
/// table twice.
[[nodiscard]] inline violations check(const coverage_counts& counts) {
  violations found;
  const auto expect = [&found](bool ok, const auto& object, std::string_view axis, const auto& expected,
                               const auto& actual) {
    found.expect(ok, errc::coverage, object, axis, expected, actual);
  };
  const row_counts& rows = counts.rows;
  const index_t pairs = rows.keys.total();
  const bool same_frame = counts.query_frame == counts.key_frame;
  expect(rows.offsets.total() == (same_frame ? pairs : 0), "coverage", "pairs by offset",
         text("{}", same_frame ? pairs : 0), rows.offsets.total());
  const std::optional<index_t> of_lengths = detail::weighted_total(rows.lengths);
  expect(of_lengths == rows.queries.total(), "coverage", "rows of the sequences",
         text("{} query rows", rows.queries.total()), of_lengths.value_or(tally::most));
  expect(rows.lengths.lowest().value_or(1) >= 1, "coverage", "length", "at least 1", rows.lengths.lowest().value_or(1));
  expect(rows.memory.lowest().value_or(0) >= 0, "coverage", "memory", "at least 0", rows.memory.lowest().value_or(0));
  expect(rows.memory.total() == rows.lengths.total(), "coverage", "sequences by memory", rows.lengths.total(),
         rows.memory.total());
  expect(rows.lengths.total() > 0 || pairs == 0, "coverage", "pairs", "none without query rows", pairs);
  for (std::size_t n = 0; n < counts.tables.size(); ++n) {
    const table_reads& table = counts.tables[n];
    expect(table.rows >= 1, table.name(), "rows", "at least 1", table.rows);
    expect(table.number >= 0, table.name(), "number", "at least 0", table.number);
    expect(table.reads.empty() || (table.reads.lowest() >= 0 && table.reads.highest() < table.rows), table.name(),
           "rows that are read", text("0..{}", table.rows - 1),
           text("{}..{}", table.reads.lowest().value_or(0), table.reads.highest().value_or(0)));
    for (std::size_t m = 0; m < n; ++m) {
      expect(counts.tables[m].name() != table.name(), table.name(), "table", "once", "twice");
    }
  }
  return found;
}

/// What a stream of calls teaches a method: which positions, offsets and lengths occur, and how often each row of each
/// learned table is read. Padding and hidden pairs count nowhere; a key that a bias removes counts as seen, and heads
/// count once. Counts are exact whole numbers, so coverages of parts of the stream merge in any order.
/// Units:  positions of the calls; offsets are key minus query.
/// Throws: errc::coverage for calls or counts of another method, errc::frame_mismatch for those of other frames, and
///         beyond 2^60 counts of a kind. Then it stays as it was.
/// Source: the coverage of learned positions and the training-time counters of numinens.position-call.v1.
class coverage {
 public:
  /// Nothing was observed yet, and any method may be.
  coverage() = default;
  /// Throws: errc::coverage for what check(counts) lists.
  explicit coverage(coverage_counts counts) : counts_(std::move(counts)) { check(*counts_).throw_if_any(); }

  /// Counts the call of a plan, and what state encoders add to the call's query rows.
  /// Throws: as above; errc::description if a policy of the plan has no describe().
  /// Cost:   that of count_rows; a look for each query row and encoder; for each offset and table by offset; for each
  ///         visible pair and table by pair.
  template <class Plan, class... Encoders>
  void observe(const Plan& plan, const Encoders&... encoders) {
    static_assert((state_encoder<Encoders, typename Plan::scalar> && ...),
                  "coverage: what is observed beside a plan is a state encoder");
    coverage_counts one{plan.call().query_space().frame(), plan.call().key_space().frame(), count_rows(plan), {}, {}};
    read_collector reads;
    (reads.template add_encoder<typename Plan::scalar>(encoders, plan.call()), ...);
    reads.add(plan, one.rows.offsets);
    one.tables = reads.tables();
    one.not_counted = reads.not_counted();
    merge(std::move(one));
  }

  /// Counts what the other has counted.
  void merge(const coverage& other) {
    if (other.counts_) merge(coverage_counts(*other.counts_));
  }

  /// Whether nothing was observed yet.
  [[nodiscard]] bool empty() const noexcept { return !counts_; }
  /// Throws: errc::coverage if nothing was observed.
  [[nodiscard]] const coverage_counts& counts() const {
    require(counts_.has_value(), errc::coverage, "coverage", "calls", "at least one observed", "none");
    return *counts_;
  }
  /// The reads of a table. Throws: errc::coverage if no table has that name.
  [[nodiscard]] const table_reads& table(std::string_view name) const {
    const auto& all = counts().tables;
    const auto found = std::find_if(all.begin(), all.end(), [name](const table_reads& t) { return t.name() == name; });
    require(found != all.end(), errc::coverage, "coverage", "table", text("one of: {}", names(all)), name);
    return *found;
  }

  /// How many sequences have more than `row` token rows: what can have taught row `row` of a table that positions from
  /// 0 on read.
  [[nodiscard]] index_t longer_than(index_t row) const { return counts().rows.lengths.above(row); }

  /// For each table, how many rows there are, how many were read, and how many less than `enough` times.
  /// Throws: errc::coverage for an `enough` below 1.
  [[nodiscard]] std::vector<table_support> support(index_t enough) const {
    std::vector<table_support> all;
    for (const table_reads& table : counts().tables) {
      all.push_back({table.name(), table.rows, table.reads.numbers(1), table.rows - table.reads.numbers(enough)});
    }
    return all;
  }

  friend bool operator==(const coverage&, const coverage&) = default;

 private:
  [[nodiscard]] static std::string names(const std::vector<table_reads>& tables) {
    std::string all;
    for (const table_reads& table : tables) all += (all.empty() ? "" : ", ") + table.name();
    return all.empty() ? "none" : all;
  }

  void merge(coverage_counts other) {
    if (!counts_) {
      counts_ = std::move(other);
      return;
    }
    const auto expect_frame = [](const coordinate_frame& mine, const coordinate_frame& theirs, std::string_view side) {
      require(mine == theirs, errc::frame_mismatch, "coverage", side, mine.name(), theirs.name());
    };
    expect_frame(counts_->query_frame, other.query_frame, "frame of the queries");
    expect_frame(counts_->key_frame, other.key_frame, "frame of the keys");
    const auto said = [](const coverage_counts& of) {
      return [&of] {
        std::string all;
        for (const table_reads& t : of.tables) all += fmt::format("{} [{} rows, {}]; ", t.name(), t.rows, t.rule);
        for (const std::string& name : of.not_counted) all += name + "; ";
        return all.empty() ? std::string("none") : all.substr(0, all.size() - 2);
      };
    };
    const bool same_tables =
        std::equal(counts_->tables.begin(), counts_->tables.end(), other.tables.begin(), other.tables.end(),
                   [](const table_reads& a, const table_reads& b) { return a.same_table(b); }) &&
        counts_->not_counted == other.not_counted;
    require(same_tables, errc::coverage, "coverage", "tables", said(*counts_), said(other));
    other.rows.add(counts_->rows);  // a tally that overflows throws: *this is not yet changed
    for (std::size_t n = 0; n < other.tables.size(); ++n) other.tables[n].reads.add(counts_->tables[n].reads);
    counts_ = std::move(other);
  }

  std::optional<coverage_counts> counts_;
};

}  // namespace posgeo::audit
