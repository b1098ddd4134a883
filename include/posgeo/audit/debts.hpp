// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/audit/coverage.hpp>
#include <posgeo/audit/outcome.hpp>
#include <posgeo/core/positional_range.hpp>
#include <posgeo/core/reads.hpp>
#include <posgeo/visible/visibility.hpp>

#include <fmt/format.h>

#include <limits>
#include <string>
#include <vector>

namespace posgeo::audit {

/// What debts are read from.
struct debt_sources {
  reads read = reads::nothing;     ///< by the attention and by what encodes its states
  positional_range range = {};     ///< that both take
  hides hidden = hides::nothing;   ///< by its visibility
  const coverage* seen = nullptr;  ///< of training; nullptr where it is not known
};

/// What a call reads, and under which name a debt speaks of it.
struct read_by_call {
  std::string what;
  coverage_counts counts;
};

namespace detail {

/// A change as few digits; infinite where a number became NaN or a key came or went.
[[nodiscard]] inline std::string change_said(double by) {
  return by > std::numeric_limits<double>::max() ? std::string("infinite") : fmt::format("{:.2g}", by);
}

/// Which numbers of a tally another has never counted: how many, the lowest and the highest.
struct not_counted {
  index_t numbers = 0;
  index_t lowest = 0;
  index_t highest = 0;
};
[[nodiscard]] inline not_counted beyond(const tally& of, const tally& known) {
  not_counted out;
  of.each_line([&](const counted_line& line) {
    for (index_t at = line.first; at <= line.last; ++at) {
      if (line(at) == 0 || known(at) > 0) continue;
      if (out.numbers == 0) out.lowest = at;
      out.highest = at;
      ++out.numbers;
    }
  });
  return out;
}

/// Offsets that training did not hold, and table rows that it never read.
inline void add_unseen(const read_by_call& call, const coverage& seen, std::vector<owed>& debts) {
  const not_counted offsets = beyond(call.counts.rows.offsets, seen.counts().rows.offsets);
  if (offsets.numbers > 0) {
    debts.push_back({debt::distance, fmt::format("{} has {} offsets that training did not hold, from {} to {}",
                                                 call.what, offsets.numbers, offsets.lowest, offsets.highest)});
  }
  for (const table_reads& table : call.counts.tables) {
    for (const table_reads& taught : seen.counts().tables) {
      if (!table.same_table(taught)) continue;
      const not_counted rows = beyond(table.reads, taught.reads);
      if (rows.numbers == 0) continue;
      debts.push_back({debt::distance, fmt::format("{} reads {} rows of {} that training never read, from {} to {}",
                                                   call.what, rows.numbers, table.name(), rows.lowest, rows.highest)});
    }
  }
}

/// Offsets that share a table row: the table does not tell them apart.
inline void add_shared(const read_by_call& call, std::vector<owed>& debts) {
  const index_t offsets = call.counts.rows.offsets.numbers(1);
  for (const table_reads& table : call.counts.tables) {
    const index_t rows = table.reads.numbers(1);
    if (rows == 0 || rows >= offsets) continue;
    debts.push_back({debt::distance, fmt::format("{}: {} offsets read {} rows of {}, which cannot tell them all apart",
                                                 call.what, offsets, rows, table.name())});
  }
}

}  // namespace detail

/// The debts that findings show. Coordinate: a shift of all positions changes the numbers. Distance: the attention
/// depends on offsets, and the calls hold offsets or read table rows that training did not, or offsets that share a
/// row. Procedure: a range of positions, a distance that is the last to be seen, the extent of the call, or how a
/// sequence is cut into calls. A debt is a dependence that was measured or declared, not a loss of quality.
/// Source: "Three debts hidden by a single context length", after which these are named.
[[nodiscard]] inline std::vector<owed> debts_of(const std::vector<finding>& findings,
                                                const std::vector<read_by_call>& calls, const debt_sources& from) {
  std::vector<owed> debts;
  const auto by = [](const finding& one) { return detail::change_said(one.measured.outputs); };
  for (const finding& one : findings) {
    if (one.kind != intervention::shift_all || one.found != verdict::changes) continue;
    debts.push_back({debt::coordinate, fmt::format("{} ({}) changes the outputs by up to {}: the numbers depend on "
                                                   "where the origin is",
                                                   name_of(one.kind), one.what, by(one))});
  }
  const bool depends = std::any_of(findings.begin(), findings.end(), [](const finding& one) {
    return (one.kind == intervention::stretch_gap || one.kind == intervention::shift_queries) &&
           one.found == verdict::changes;
  });
  for (const read_by_call& call : calls) {
    if (!depends) break;
    if (from.seen != nullptr) detail::add_unseen(call, *from.seen, debts);
    if (!includes(from.read, reads::row)) detail::add_shared(call, debts);
  }
  for (const finding& one : findings) {
    const bool moved = one.kind == intervention::out_of_range || one.kind == intervention::shift_all;
    if (moved && one.found == verdict::refused) {
      debts.push_back(
          {debt::procedure, fmt::format("{} ({}) is refused: {}", name_of(one.kind), one.what, one.message)});
    }
    const bool cut = one.kind == intervention::chunk || one.kind == intervention::cached;
    if (cut && one.found == verdict::changes) {
      debts.push_back(
          {debt::procedure, fmt::format("{} ({}) changes the outputs by up to {}: the numbers depend on how "
                                        "the sequence is cut into calls",
                                        name_of(one.kind), one.what, by(one))});
    }
  }
  const auto bounded = [&debts](std::string_view of, index_t lowest, index_t highest) {
    constexpr index_t of_arithmetic = index_t{1} << 40;  // an end beyond is that of a number format, not of a table
    const auto end = [](index_t at) {
      return at <= -of_arithmetic || at >= of_arithmetic ? std::string("any") : fmt::format("{}", at);
    };
    if (lowest <= -of_arithmetic && highest >= of_arithmetic) return;
    debts.push_back({debt::procedure, fmt::format("the method takes {} from {} to {} and refuses others", of,
                                                  end(lowest), end(highest))});
  };
  bounded("positions", from.range.lowest_position, from.range.highest_position);
  bounded("offsets", from.range.lowest_offset, from.range.highest_offset);
  if (includes(from.hidden, hides::distant)) {
    debts.push_back({debt::procedure, "the visibility hides keys beyond a distance: nothing there is read"});
  }
  if (includes(from.read, reads::extent)) {
    debts.push_back({debt::procedure,
                     "the method reads how long a call is or how far it reaches: the numbers of a row "
                     "may differ in a longer call"});
  }
  return debts;
}

}  // namespace posgeo::audit
