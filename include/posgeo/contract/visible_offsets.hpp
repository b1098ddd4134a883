// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/attend/plan_parts.hpp>
#include <posgeo/call/position_call.hpp>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

namespace posgeo::contract {

/// Which query rows are counted.
enum class query_rows {
  all,     ///< padding too: what an executor works on
  tokens,  ///< active rows: what the model means
};

/// Offsets that occur, key minus query. A number that falls and then rises with the offset, or the reverse, has its
/// least and its greatest value at one of the four.
struct offset_reach {
  relative_offset lowest;
  relative_offset highest;
  std::optional<relative_offset> nearest_behind;  ///< the greatest that is not above 0
  std::optional<relative_offset> nearest_ahead;   ///< the least that is above 0

  [[nodiscard]] static offset_reach at(relative_offset one) noexcept {
    const bool ahead = one.value() > 0;
    return {one, one, ahead ? std::nullopt : std::optional(one), ahead ? std::optional(one) : std::nullopt};
  }
  void join(const offset_reach& other) noexcept {
    lowest = std::min(lowest, other.lowest);
    highest = std::max(highest, other.highest);
    nearest_behind = std::max(nearest_behind, other.nearest_behind);  // no offset is below every offset
    if (!nearest_ahead || (other.nearest_ahead && *other.nearest_ahead < *nearest_ahead)) {
      nearest_ahead = other.nearest_ahead ? other.nearest_ahead : nearest_ahead;
    }
  }
};

/// What a query row sees.
struct row_view {
  index_t keys = 0;                   ///< how many
  std::optional<offset_reach> reach;  ///< absent without keys, and across frames, where no offset exists
};

namespace detail {

/// The visibilities of a plan as one rule, where all of them are rules.
template <class Plan>
[[nodiscard]] visibility_rule rule_of_all(const Plan& plan) noexcept {
  return std::apply([](const auto&... term) { return (visibility_rule{} & ... & term.rule()); }, plan.visibilities());
}

/// Key positions from `low` to `high`, both included, that a query may see.
struct position_span {
  index_t low;
  index_t high;
};
[[nodiscard]] constexpr position_span span_of(index_t query, const visibility_rule& rule) noexcept {
  return {saturating_subtract(query, rule.behind), saturating_add(query, rule.ahead)};
}

/// Keys of an entry that stand next to each other, asked by their ends alone.
class consecutive_keys {
 public:
  consecutive_keys(const row_space& keys, index_t b, const visibility_rule& rule) noexcept
      : first_(keys.affine_entries()[b].first),
        end_(keys.rows()),
        by_sequence_(includes(rule.rows, hides::other_segments)) {
    const affine_rows& entry = keys.affine_entries()[b];
    sequence_ = entry.sequence;
    if (includes(rule.rows, hides::padding)) {
      begin_ = entry.active_begin;
      end_ = entry.active_end;
    }
  }
  [[nodiscard]] row_view seen_by(index_t query, index_t sequence, const visibility_rule& rule) const noexcept {
    if (by_sequence_ && sequence != sequence_) return {};
    const position_span span = span_of(query, rule);
    const index_t low = std::max(span.low, first_ + begin_);
    const index_t high = std::min(span.high, first_ + end_ - 1);
    if (begin_ >= end_ || low > high) return {};
    offset_reach reach{relative_offset{low - query}, relative_offset{high - query}, std::nullopt, std::nullopt};
    if (low <= query) reach.nearest_behind = relative_offset{std::min(high, query) - query};
    if (high > query) reach.nearest_ahead = relative_offset{std::max(low, query + 1) - query};
    return {high - low + 1, reach};
  }

 private:
  index_t first_;
  index_t begin_ = 0;
  index_t end_;
  index_t sequence_ = 0;
  bool by_sequence_;
};

/// Keys of an entry in the order of their positions, of each sequence where sequences are apart.
class sorted_keys {
 public:
  sorted_keys(const row_space& keys, index_t b, const visibility_rule& rule)
      : by_sequence_(includes(rule.rows, hides::other_segments)) {
    for (index_t row = 0; row < keys.rows(); ++row) {
      if (includes(rule.rows, hides::padding) && !keys.active(b, row)) continue;
      places_.emplace_back(by_sequence_ ? keys.sequence(b, row) : 0, keys.at(b, row).value());
    }
    std::sort(places_.begin(), places_.end());
  }
  [[nodiscard]] row_view seen_by(index_t query, index_t sequence, const visibility_rule& rule) const noexcept {
    if (!by_sequence_) sequence = 0;
    const position_span span = span_of(query, rule);
    const auto first = std::lower_bound(places_.begin(), places_.end(), std::pair{sequence, span.low});
    const auto last = std::upper_bound(first, places_.end(), std::pair{sequence, span.high});
    if (first == last) return {};
    const auto offset = [query](const auto& place) { return relative_offset{place->second - query}; };
    offset_reach reach{offset(first), offset(std::prev(last)), std::nullopt, std::nullopt};
    const auto ahead = std::upper_bound(first, last, std::pair{sequence, query});
    if (ahead != first) reach.nearest_behind = offset(std::prev(ahead));
    if (ahead != last) reach.nearest_ahead = offset(ahead);
    return {last - first, reach};
  }

 private:
  std::vector<std::pair<index_t, index_t>> places_;
  bool by_sequence_;
};

}  // namespace detail

/// Calls visit(b, i, j) for each pair that the visibilities of a plan show. Cost: one look for each pair that their
/// ranges leave.
template <class Plan, class Visit>
void each_visible_pair(const Plan& plan, query_rows counted, const Visit& visit) {
  const position_call& call = plan.call();
  for (const batch_index b : indices<batch_index>(call.batch())) {
    for (const query_index i : indices<query_index>(call.queries())) {
      if (counted == query_rows::tokens && !call.active(b, i)) continue;
      const key_range keys = plan.keys(b, i);
      for (const key_index j : indices<key_index>(keys.begin, keys.end)) {
        if (plan.visible(b, i, j)) visit(b, i, j);
      }
    }
  }
}

/// Calls visit(view) for each query row: how many keys it sees, and at which offsets.
/// Units:  offsets are key minus query. A key that a bias removes counts as seen.
/// Cost:   where all visibilities are rules, a step for each query row, and, where key positions are no affine range,
///         a sort of them; else each_visible_pair's. Never memory for pairs.
template <class Plan, class Visit>
void each_row_view(const Plan& plan, query_rows counted, const Visit& visit) {
  const position_call& call = plan.call();
  const auto hand_over = [&](row_view view) {
    if (!call.same_frame()) view.reach.reset();
    visit(view);
  };
  if constexpr (posgeo::detail::plan_parts<Plan>::only_ruled) {
    const visibility_rule rule = detail::rule_of_all(plan);
    const row_space& keys = call.key_space();
    for (const batch_index b : indices<batch_index>(call.batch())) {
      const auto ask = [&](const auto& of_entry) {
        for (const query_index i : indices<query_index>(call.queries())) {
          if (counted == query_rows::tokens && !call.active(b, i)) continue;
          hand_over(of_entry.seen_by(call.at(b, i).value(), call.sequence(b, i), rule));
        }
      };
      if (keys.affine() && !keys.padded_position()) {
        ask(detail::consecutive_keys(keys, b.value(), rule));
      } else {
        ask(detail::sorted_keys(keys, b.value(), rule));
      }
    }
  } else {
    for (const batch_index b : indices<batch_index>(call.batch())) {
      for (const query_index i : indices<query_index>(call.queries())) {
        if (counted == query_rows::tokens && !call.active(b, i)) continue;
        row_view view;
        const key_range range = plan.keys(b, i);
        for (const key_index j : indices<key_index>(range.begin, range.end)) {
          if (!plan.visible(b, i, j)) continue;
          const offset_reach here = offset_reach::at(call.offset(b, i, j));
          if (view.keys++ == 0) {
            view.reach = here;
          } else {
            view.reach->join(here);
          }
        }
        hand_over(view);
      }
    }
  }
}

/// The offsets that the visible pairs of a plan have; nothing without pairs, or across frames.
template <class Plan>
[[nodiscard]] std::optional<offset_reach> visible_offsets(const Plan& plan, query_rows counted) {
  std::optional<offset_reach> all;
  each_row_view(plan, counted, [&all](const row_view& view) {
    if (!view.reach) return;
    if (all) {
      all->join(*view.reach);
    } else {
      all = view.reach;
    }
  });
  return all;
}

}  // namespace posgeo::contract
