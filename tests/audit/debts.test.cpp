// SPDX-License-Identifier: MIT
#include <posgeo/audit/debts.hpp>

#include "support/catch.hpp"

namespace audit_debts_test {

using namespace posgeo;
using namespace posgeo::audit;

finding of(intervention kind, verdict found) {
  finding one{.kind = kind, .what = "as told", .reference = found, .found = found};
  one.measured.outputs = 0.25;
  if (found == verdict::refused) one.message = "a table of 8 rows";
  return one;
}
std::vector<std::string> said(const std::vector<owed>& debts) {
  std::vector<std::string> all;
  for (const owed& one : debts) all.push_back(std::string(name_of(one.kind)) + ": " + one.because);
  return all;
}
using words = std::vector<std::string>;

/// A call of offsets -6 .. 0 whose table of 8 rows is read at 0 .. 4.
read_by_call long_call() {
  read_by_call call{"the call", {}};
  call.counts.rows.offsets.add_line(-6, 0, 1, 1);
  table_reads table{"t5", 0, "table", "a rule", 8, {}};
  table.reads.add_line(0, 4, 3, 0);
  call.counts.tables.push_back(table);
  return call;
}
/// Training of offsets -4 .. 0, of which one does not occur, and of rows 0 .. 2.
coverage training() {
  coverage_counts counts;
  counts.rows.offsets.add_line(-4, -3, 2, 0);
  counts.rows.offsets.add_line(-1, 0, 2, 0);
  counts.rows.queries.add(0, 2);
  counts.rows.keys.add(0, 8);
  counts.rows.lengths.add(1, 2);
  counts.rows.memory.add(0, 2);
  table_reads table{"t5", 0, "table", "a rule", 8, {}};
  table.reads.add_line(0, 2, 1, 0);
  counts.tables.push_back(table);
  return coverage(counts);
}

TEST_CASE("a shift that changes numbers owes for the origin", "[audit]") {
  CHECK(said(debts_of({of(intervention::shift_all, verdict::changes)}, {}, {})) ==
        words{"coordinate: shift_all (as told) changes the outputs by up to 0.25: the numbers depend on where the "
              "origin is"});
  CHECK(debts_of({of(intervention::shift_all, verdict::invariant)}, {}, {}).empty());
  CHECK(debts_of({of(intervention::shift_queries, verdict::changes)}, {}, {}).empty());
}

TEST_CASE("offsets and rows that training did not hold are owed where offsets matter", "[audit]") {
  const coverage seen = training();
  const debt_sources from{.read = reads::offset | reads::row, .seen = &seen};
  CHECK(said(debts_of({of(intervention::stretch_gap, verdict::changes)}, {long_call()}, from)) ==
        words{"distance: the call has 3 offsets that training did not hold, from -6 to -2",
              "distance: the call reads 2 rows of t5 table that training never read, from 3 to 4"});
  CHECK(debts_of({of(intervention::stretch_gap, verdict::invariant)}, {long_call()}, from).empty());
}

TEST_CASE("offsets that share a row are owed, unless the caller bound rows to values", "[audit]") {
  const std::vector<finding> findings{of(intervention::shift_queries, verdict::changes)};
  CHECK(said(debts_of(findings, {long_call()}, {.read = reads::offset})) ==
        words{"distance: the call: 7 offsets read 5 rows of t5 table, which cannot tell them all apart"});
  CHECK(debts_of(findings, {long_call()}, {.read = reads::row}).empty());
}

TEST_CASE("a finite procedure is owed", "[audit]") {
  CHECK(
      said(debts_of({of(intervention::out_of_range, verdict::refused), of(intervention::cached, verdict::changes)}, {},
                    {.read = reads::extent, .hidden = hides::distant})) ==
      words{"procedure: out_of_range (as told) is refused: a table of 8 rows",
            "procedure: cached (as told) changes the outputs by up to 0.25: the numbers depend on how the sequence is "
            "cut into calls",
            "procedure: the visibility hides keys beyond a distance: nothing there is read",
            "procedure: the method reads how long a call is or how far it reaches: the numbers of a row may differ in "
            "a longer call"});
  CHECK(said(debts_of({}, {}, {.range = {.lowest_position = 0, .highest_position = 31, .lowest_offset = -16}})) ==
        words{"procedure: the method takes positions from 0 to 31 and refuses others",
              "procedure: the method takes offsets from -16 to any and refuses others"});
  CHECK(debts_of({}, {}, {.range = {.lowest_position = -(index_t{1} << 50), .highest_position = index_t{1} << 50}})
            .empty());
}

}  // namespace audit_debts_test
