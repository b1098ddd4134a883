// SPDX-License-Identifier: MIT
#include <posgeo/audit/print_coverage.hpp>
#include <posgeo/bias/t5.hpp>
#include <posgeo/call/packed_batch.hpp>
#include <posgeo/encode/learned_absolute.hpp>
#include <posgeo/model/attention.hpp>
#include <posgeo/scale/none.hpp>
#include <posgeo/visible/causal.hpp>
#include <posgeo/visible/segments.hpp>

#include <sstream>

#include "support/catch.hpp"
#include "support/random.hpp"
#include "support/random_calls.hpp"

namespace audit_print_coverage_test {

using namespace posgeo;
using audit::coverage;
using audit::coverage_counts;
using audit::tally;

coverage taught_by(const std::vector<index_t>& lengths) {
  const attention method(
      heads{}, scale::none{}, visible::segments{}, visible::causal{},
      bias::t5<double>(test::random_table(4, 1, 3),
                       coordinate::t5_bucket(
                           {.num_buckets = 4, .max_distance = 4, .direction = coordinate::bucket_direction::causal})));
  coverage taught;
  taught.observe(
      method.compile<double>(call::packed_batch({.lengths = lengths, .positions = call::packed_positions::restart})),
      encode::learned_absolute<double>(test::random_table(9, 2, 4), {.row_offset = 1}));
  return taught;
}

std::vector<std::string> lines_of(const coverage& given) {
  std::istringstream all(fmt::format("{}", given));
  std::vector<std::string> lines;
  for (std::string line; std::getline(all, line);) lines.push_back(line);
  return lines;
}

TEST_CASE("a coverage prints what was counted and which rows were not read", "[coverage]") {
  // Lengths 3 and 2: offsets 0 five times, -1 three times, -2 once.
  CHECK(fmt::format("{}", taught_by({3, 2})) ==
        "                                    from         to    numbers           counts\n"
        "query rows by position                 0          2          3                5\n"
        "  counts 0..1: 2 each, 2: 1\n"
        "visible pairs by key position          0          2          3                9\n"
        "  counts 0..2: 5 to 1\n"
        "visible pairs by key - query          -2          0          3                9\n"
        "  counts -2..0: 1 to 5\n"
        "sequences by length                    2          3          2                2\n"
        "  counts 2..3: 1 each\n"
        "sequences by memory                    0          0          1                2\n"
        "table                               rows       read  untouched            reads\n"
        "learned_absolute table                 9          3          6                5\n"
        "  reads 1..2: 2 each, 3: 1\n"
        "  untouched 0, 4..8\n"
        "t5 table                               4          3          1                9\n"
        "  reads 0..2: 5 to 1\n"
        "  untouched 3\n");
}

TEST_CASE("support prints a row for each table", "[coverage]") {
  CHECK(audit::support_table(taught_by({3, 2}), 2) ==
        "table                  configured  addressed        below 2\n"
        "learned_absolute table          9          3              7\n"
        "t5 table                        4          3              2\n");
}

TEST_CASE("a coverage of nothing prints so", "[coverage]") {
  CHECK(fmt::format("{}", coverage()) == "nothing observed\n");
  CHECK(fmt::format("{}", taught_by({0})).find("query rows by position                 -          -") !=
        std::string::npos);
}

/// Counts of single numbers far and near, none in line with the others.
coverage_counts scattered(index_t tables) {
  test::dice roll(12);
  coverage_counts counts;
  for (int n = 0; n < 3000; ++n) {
    const index_t at = roll.chance(0.5) ? roll.between(-9000, 9000) : roll.between(-position_limit, position_limit);
    counts.rows.queries.add(at, 1);
    counts.rows.keys.add(at / 2, roll.between(1, 9));
  }
  counts.rows.lengths.add(3000, 1);
  counts.rows.memory.add(0, 1);
  counts.rows.keys.each_line([&](const audit::counted_line& line) {
    counts.rows.offsets.add_line(line.first, line.last, line.count, line.step);
  });
  for (index_t n = 0; n < tables; ++n) {
    counts.tables.push_back({"mechanism", n, "table", "", index_t{1} << 40, {}});
    for (int row = 0; row < 500; ++row) {
      counts.tables.back().reads.add(roll.between(0, roll.chance(0.5) ? 5000 : (index_t{1} << 40) - 1), 1);
    }
    counts.not_counted.push_back(fmt::format("mechanism {} weights", n));
  }
  return counts;
}

TEST_CASE("a printed coverage is bounded and leaves no count out", "[coverage]") {
  const coverage_counts counts = scattered(50);
  const std::vector<std::string> lines = lines_of(coverage(counts));
  CHECK(lines.size() < 400);
  for (const std::string& line : lines) CHECK(line.size() <= 110);
  // All but the range of an item is a count: together they are all counts.
  index_t sum = 0;
  for (const std::string& item : audit::detail::counts_said(counts.rows.queries, 8)) {
    sum += std::stoll(item.substr(item.find(": ") + 2));
  }
  CHECK(sum == 3000);
  index_t untouched = 0;
  const auto& table = counts.tables[0];
  const std::vector<std::string> ranges = audit::detail::untouched_said(table, 5);
  REQUIRE(ranges.size() == 6);
  for (std::size_t n = 0; n < 5; ++n) {
    const auto dots = ranges[n].find("..");
    const index_t first = std::stoll(ranges[n]);
    untouched += (dots == std::string::npos ? first : std::stoll(ranges[n].substr(dots + 2))) - first + 1;
  }
  untouched += std::stoll(ranges[5].substr(std::string("and ").size()));
  CHECK(untouched == table.rows - table.reads.numbers(1));
}

}  // namespace audit_print_coverage_test
