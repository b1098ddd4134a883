// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/call/explicit_positions.hpp>
#include <posgeo/contract/convert/clip_reach.hpp>
#include <posgeo/contract/convert/step.hpp>
#include <posgeo/core/tensor.hpp>

#include <array>
#include <cmath>
#include <cstdint>
#include <random>
#include <set>

namespace posgeo::contract::convert_detail {

/// What rows are drawn for.
enum class purpose : std::uint64_t { queries, keys, values, query_states, key_states, query_reader, key_reader };

/// Numbers in [-1, 1) that depend on the seed and on what they are for, and on nothing else.
template <class T, std::size_t Rank>
tensor<T, Rank> drawn(const std::array<index_t, Rank>& extents, std::uint64_t seed, purpose what) {
  std::mt19937_64 engine(seed * 1'000'003 + static_cast<std::uint64_t>(what));
  tensor<T, Rank> out(extents);
  for (T& value : out.values()) value = static_cast<T>(std::ldexp(static_cast<double>(engine() >> 11), -52) - 1.0);
  return out;
}

/// Positions of two batch entries. Shapes: arrays [2 * queries] and [2 * keys].
struct drawn_positions {
  static constexpr index_t entries = 2;
  std::vector<index_t> query;
  std::vector<index_t> key;

  [[nodiscard]] index_t queries() const noexcept { return static_cast<index_t>(query.size()) / entries; }
  [[nodiscard]] index_t keys() const noexcept { return static_cast<index_t>(key.size()) / entries; }
  /// The call, or the one in which every position is its negative, so that every offset is.
  [[nodiscard]] position_call call(offset_sign sign = offset_sign::key_minus_query) const {
    const auto signed_positions = [sign](std::vector<index_t> all) {
      for (index_t& p : all) p = sign == offset_sign::key_minus_query ? p : -p;
      return all;
    };
    const auto q = signed_positions(query);
    const auto k = signed_positions(key);
    return call::explicit_positions({.entries = entries,
                                     .query = {.positions = q, .rows = queries()},
                                     .key = {.positions = k, .rows = keys()},
                                     .reuse = position_reuse::intended});
  }
};

/// Every count from 0 to the last up to `dense`, and beyond that, steps of about one part in `dense`.
inline std::set<index_t> counts_to(index_t last, index_t dense) {
  std::set<index_t> all{0, std::max(last - 1, index_t{0}), last};
  for (index_t n = 0; n <= last; n += 1 + n / dense) all.insert(n);
  return all;
}

/// How far distances must be looked at one by one so that every row is read: all of them where each has a row of its
/// own. Buckets that grow with the distance are wider than the steps behind this.
inline index_t dense_distances(const checkpoint_contract& c) {
  if (!c.rule.value()) return 1024;
  if (const auto* const clip = std::get_if<clip_rule>(&*c.rule.value())) return std::max(clip->behind, clip->ahead) + 9;
  const auto* const span = std::get_if<span_rule>(&*c.rule.value());
  return span != nullptr && !span->buckets.value() ? span->span + 9 : 1024 + 2 * *c.rows.value();
}

/// Whether an entry has a count: the lower ones are in both, of the others each has half.
inline bool is_of_entry(index_t entry, index_t count) {
  return count <= 1024 || count % drawn_positions::entries == entry;
}

/// The keys of both entries, filled up to the longer one.
inline std::vector<index_t> side_by_side(std::array<std::vector<index_t>, drawn_positions::entries> of_entry) {
  std::size_t longest = 0;
  for (const auto& one : of_entry) longest = std::max(longest, one.size());
  std::vector<index_t> all;
  for (auto& one : of_entry) {
    one.resize(longest, one.front());
    all.insert(all.end(), one.begin(), one.end());
  }
  return all;
}

/// The distance from which on a rule has nothing new.
inline index_t reach_in_tokens(const stated<offset_rule>& rule) {
  if (!rule.value()) return 0;
  if (const auto* const clip = std::get_if<clip_rule>(&*rule.value())) return std::max(clip->behind, clip->ahead);
  const auto farthest = [](coordinate::offset_bounds ends) {
    return std::max(-ends.lowest.value(), ends.highest.value());
  };
  if (const auto* const buckets = std::get_if<t5_rule>(&*rule.value())) {
    return farthest(coordinate::t5_bucket(buckets->settings).constant_beyond());
  }
  const auto& span = std::get<span_rule>(*rule.value());
  if (!span.buckets.value()) return span.span;
  return farthest(
      coordinate::deberta_span::bucketed(coordinate::log_bucket(span.buckets.value()->settings)).constant_beyond());
}

/// Whether keys beyond the reach are refused, so that none may stand there.
inline bool refuses_beyond(const stated<offset_rule>& rule) {
  const auto* const clip = rule.value() ? std::get_if<clip_rule>(&*rule.value()) : nullptr;
  return clip != nullptr && clip->beyond == coordinate::beyond_ends::refused;
}

/// Three queries, and keys at distances that read every row of the two rules, on both sides. Where a rule
/// refuses what is beyond its reach, nothing stands there.
inline drawn_positions positions_around(const checkpoint_contract& a, const checkpoint_contract& b,
                                        std::uint64_t seed) {
  std::mt19937_64 engine(seed);
  const index_t reach = std::max(reach_in_tokens(a.rule), reach_in_tokens(b.rule));
  const bool bounded = refuses_beyond(a.rule);
  const auto within = [&a, bounded](index_t offset) {
    if (!bounded) return true;
    const auto& rule = std::get<clip_rule>(*a.rule.value());
    return offset >= -rule.behind && offset <= rule.ahead;
  };
  const index_t dense = std::max(dense_distances(a), dense_distances(b));
  drawn_positions out;
  std::array<std::vector<index_t>, drawn_positions::entries> keys;
  for (index_t entry = 0; entry < drawn_positions::entries; ++entry) {
    auto& key = keys[static_cast<std::size_t>(entry)];
    const auto start = static_cast<index_t>(11 + engine() % 1000);
    const auto farthest = static_cast<index_t>(2 + engine() % 5);
    for (const index_t query : {index_t{0}, index_t{1}, farthest}) out.query.push_back(start + (bounded ? 0 : query));
    for (const index_t distance : counts_to(reach + 8, dense)) {
      if (!is_of_entry(entry, distance)) continue;
      if (within(-distance)) key.push_back(start - distance);
      if (within(distance)) key.push_back(start + distance);
    }
  }
  out.key = side_by_side(std::move(keys));
  return out;
}

/// Five queries among, and keys at, every position from 0 to the last that has a row.
inline drawn_positions positions_to(index_t last, std::uint64_t seed) {
  std::mt19937_64 engine(seed);
  drawn_positions out;
  std::array<std::vector<index_t>, drawn_positions::entries> keys;
  for (index_t entry = 0; entry < drawn_positions::entries; ++entry) {
    for (int n = 0; n < 5; ++n) {
      out.query.push_back(static_cast<index_t>(engine() % static_cast<std::uint64_t>(last + 1)));
    }
    for (index_t count = 0; count <= last; ++count) {
      if (is_of_entry(entry, count)) keys[static_cast<std::size_t>(entry)].push_back(count);
    }
  }
  out.key = side_by_side(std::move(keys));
  return out;
}

/// Seven queries and nine keys at unrelated positions.
inline drawn_positions positions_anywhere(std::uint64_t seed) {
  std::mt19937_64 engine(seed);
  drawn_positions out;
  const auto position = [&engine] { return static_cast<index_t>(engine() % 4096) - 100; };
  for (int n = 0; n < 2 * 7; ++n) out.query.push_back(position());
  for (int n = 0; n < 2 * 9; ++n) out.key.push_back(position());
  return out;
}

}  // namespace posgeo::contract::convert_detail
