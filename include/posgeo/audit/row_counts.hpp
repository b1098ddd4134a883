// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/audit/tally.hpp>
#include <posgeo/contract/visible_offsets.hpp>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

namespace posgeo::audit {

/// Where the rows and the visible pairs of calls stand. Padding and hidden pairs count nowhere.
/// Units: positions of the call; offsets are key minus query.
struct row_counts {
  tally queries;  ///< token rows of the query side, by position
  tally keys;     ///< visible pairs, by the position of their key
  tally offsets;  ///< visible pairs, by offset; empty across frames, where no offset exists
  tally lengths;  ///< sequences of batch entries, by their token rows on the query side; one without counts nowhere
  tally memory;   ///< the same sequences, by the key rows that earlier calls left their batch entry

  void add(const row_counts& other) {
    queries.add(other.queries);
    keys.add(other.keys);
    offsets.add(other.offsets);
    lengths.add(other.lengths);
    memory.add(other.memory);
  }
  friend bool operator==(const row_counts&, const row_counts&) = default;
};

namespace detail {

/// The numbers of a tally, each as often as it was counted, added up; nothing for one below 0 and above 2^60.
[[nodiscard]] inline std::optional<index_t> weighted_total(const tally& numbers) {
  __extension__ using wide = __int128;
  wide sum = 0;
  numbers.each_line([&sum](const counted_line& line) {
    if (line.first < 0 || line.last > tally::most) sum = static_cast<wide>(tally::most) + 1;
    if (sum > tally::most) return;
    const wide last = static_cast<wide>(line.last) - line.first;
    const wide ones = last * (last + 1) / 2;                                                     // 0 + 1 + .. + last
    const wide squares = line.step == 0 ? wide{0} : last * (last + 1) / 2 * (2 * last + 1) / 3;  // 0 + 1 + 4 + ..
    sum += static_cast<wide>(line.first) * line.count * (last + 1) +
           (static_cast<wide>(line.first) * line.step + line.count) * ones + line.step * squares;
  });
  if (sum > tally::most) return std::nullopt;
  return static_cast<index_t>(sum);
}

/// Token rows of one sequence at first, first + 1 ..: `count` positions, `times` rows at each.
struct stretch {
  index_t sequence;
  index_t first;
  index_t count;
  index_t times;
  [[nodiscard]] index_t last() const noexcept { return first + count - 1; }
};

/// The token rows of an entry, sequence after sequence.
[[nodiscard]] inline std::vector<stretch> stretches_of(const row_space& rows, index_t b) {
  std::vector<stretch> out;
  if (rows.affine()) {
    const affine_rows& entry = rows.affine_entries()[b];
    const index_t count = entry.active_end - entry.active_begin;
    if (count > 0) out.push_back({entry.sequence, entry.first + entry.active_begin, count, 1});
    return out;
  }
  std::vector<std::pair<index_t, index_t>> places;
  for (index_t row = 0; row < rows.rows(); ++row) {
    if (rows.active(b, row)) places.emplace_back(rows.sequence(b, row), rows.at(b, row).value());
  }
  std::sort(places.begin(), places.end());
  for (auto at = places.begin(); at != places.end();) {
    const auto after = std::upper_bound(at, places.end(), *at);
    const index_t times = after - at;
    const bool goes_on = !out.empty() && out.back().sequence == at->first && out.back().last() + 1 == at->second &&
                         out.back().times == times;
    if (goes_on) {
      ++out.back().count;
    } else {
      out.push_back({at->first, at->second, 1, times});
    }
    at = after;
  }
  return out;
}

/// Counts, for each number from low to high, in how many ways it is first + m + n with 0 <= m < a and 0 <= n < b: up by
/// one, level, and down by one.
inline void add_sums(tally& to, std::pair<index_t, index_t> within, index_t first, index_t a, index_t b,
                     index_t times) {
  const auto [low, high] = within;
  const index_t least = std::min(a, b);
  const index_t most = std::max(a, b);
  const auto add = [&, low = low, high = high](index_t from, index_t end, index_t count, index_t step) {
    const index_t begin = std::max(from, low);
    if (begin > std::min(end, high)) return;
    to.add_line(begin, std::min(end, high), (count + step * (begin - from)) * times, step * times);
  };
  // No sum is beyond the last one, first + most + least - 2, which may be the largest number there is.
  add(first, first + (least - 1), 1, 1);
  if (most > least) add(first + least, first + (most - 1), least, 0);
  if (least > 1) add(first + most, first + (most + least - 2), least - 1, -1);
}

/// Counts the pairs of two stretches whose offset the rule allows.
inline void add_pairs(const stretch& query, const stretch& key, const visibility_rule& rule, row_counts& out) {
  const index_t low = std::max(-rule.behind, key.first - query.last());
  const index_t high = std::min(rule.ahead, key.last() - query.first);
  if (low > high) return;
  const index_t times = query.times * key.times;
  add_sums(out.offsets, {low, high}, key.first - query.last(), query.count, key.count, times);
  add_sums(out.keys, {key.first, key.last()}, query.first + low, query.count, high - low + 1, times);
}

}  // namespace detail

/// The counts of one call.
/// Cost:   where all visibilities are rules, a step for each pair of stretches of one sequence, a stretch being rows
///         that stand one after the other; else one for each visible pair. Never memory for pairs.
/// Throws: errc::coverage for a call of more than 2^60 pairs of rows.
template <class Plan>
[[nodiscard]] row_counts count_rows(const Plan& plan) {
  const position_call& call = plan.call();
  index_t pairs = 0;
  require(!__builtin_mul_overflow(call.queries(), call.keys(), &pairs) &&
              !__builtin_mul_overflow(pairs, call.batch(), &pairs) && pairs <= tally::most,
          errc::coverage, "call", "pairs of rows", "at most 2^60",
          text("{} x {} x {}", call.batch(), call.queries(), call.keys()));
  constexpr bool ruled = posgeo::detail::plan_parts<Plan>::only_ruled;
  row_counts out;
  for (const batch_index b : indices<batch_index>(call.batch())) {
    const std::vector<detail::stretch> queries = detail::stretches_of(call.query_space(), b.value());
    index_t length = 0;
    for (std::size_t n = 0; n < queries.size(); ++n) {
      const detail::stretch& query = queries[n];
      out.queries.add_line(query.first, query.last(), query.times, 0);
      length += query.count * query.times;
      if (n + 1 < queries.size() && queries[n + 1].sequence == query.sequence) continue;
      out.lengths.add(length, 1);
      out.memory.add(call.past_length(b), 1);
      length = 0;
    }
    if constexpr (ruled) {
      // A call with padding, or of several sequences in an entry, has visibilities that hide them, or no plan.
      const visibility_rule rule = contract::detail::rule_of_all(plan);
      const std::vector<detail::stretch> keys = detail::stretches_of(call.key_space(), b.value());
      const auto by_sequence = [](const detail::stretch& x, const detail::stretch& y) {
        return x.sequence < y.sequence;
      };
      for (const detail::stretch& query : queries) {
        const auto [begin, end] = std::equal_range(keys.begin(), keys.end(), query, by_sequence);
        for (auto key = begin; key != end; ++key) detail::add_pairs(query, *key, rule, out);
      }
    }
  }
  if constexpr (!ruled) {
    contract::each_visible_pair(plan, contract::query_rows::tokens, [&](batch_index b, query_index i, key_index j) {
      out.keys.add(call.at(b, j).value(), 1);
      if (call.same_frame()) out.offsets.add(call.offset(b, i, j).value(), 1);
    });
  }
  if (!call.same_frame()) out.offsets = {};
  return out;
}

}  // namespace posgeo::audit
