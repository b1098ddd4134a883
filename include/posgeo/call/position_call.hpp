// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/call/row_space.hpp>
#include <posgeo/core/error.hpp>
#include <posgeo/core/policy.hpp>

#include <utility>

namespace posgeo {

/// The kinds of attention call that a description can stand for.
enum class call_kind {
  padded_batch,
  packed_batch,
  decode_step,
  prefill_chunk,
  cross_attention,
  explicit_positions,
};

/// What the cache of one batch entry has seen. Units: tokens.
struct cache_state {
  index_t committed_length = 0;  ///< tokens committed so far, evicted ones included: the next logical position
  index_t past_length = 0;       ///< key rows from earlier calls that are still there
};

/// Whether one sequence may hold two active rows at one position (coupled positions, grid positions) or not.
enum class position_reuse { refused, intended };

/// A call as plain data, before it is checked.
struct call_description {
  call_kind kind = call_kind::explicit_positions;
  row_space query;
  row_space key;
  entry_list<cache_state> cache;
  position_reuse reuse = position_reuse::refused;
};

namespace detail {

inline void check_space(const row_space& space, std::string_view object, position_reuse reuse, violations& found) {
  found.expect(space.rows() >= 0, errc::row_count, object, "rows", "at least 0", space.rows());
  found.expect(space.sizes_agree(), errc::row_count, object, "positions, sequences and active rows",
               text("{} entries x {} rows each", space.entries(), space.rows()), "arrays of other sizes");
  if (space.rows() < 0 || !space.sizes_agree()) return;

  const auto in_limits = [](index_t p) { return p >= -position_limit && p <= position_limit; };
  const auto expect_in_limits = [&](index_t p, index_t b) {
    found.expect(in_limits(p), errc::position_overflow, object, text("position in entry {}", b),
                 "an integer less than 2^62 from zero", p);
  };
  if (space.padded_position()) expect_in_limits(*space.padded_position(), 0);
  if (space.affine()) {
    for (index_t b = 0; b < space.entries(); ++b) {
      const affine_rows& entry = space.affine_entries()[b];
      found.expect(
          entry.active_begin >= 0 && entry.active_begin <= entry.active_end && entry.active_end <= space.rows(),
          errc::row_count, object, text("active rows of entry {}", b), text("a range within 0..{}", space.rows()),
          text("{}..{}", entry.active_begin, entry.active_end));
      expect_in_limits(entry.first, b);
      const index_t steps = space.rows() - 1;
      found.expect(!in_limits(entry.first) || steps <= position_limit - entry.first, errc::position_overflow, object,
                   text("last position in entry {}", b), "an integer less than 2^62 from zero",
                   text("{} + {}", entry.first, steps));
    }
    return;
  }

  const explicit_rows& spelled = space.spelled_out();
  std::vector<std::pair<index_t, index_t>> places;
  for (index_t b = 0; b < space.entries(); ++b) {
    places.clear();
    for (index_t row = 0; row < space.rows(); ++row) {
      const auto at = static_cast<std::size_t>(b * space.rows() + row);
      expect_in_limits(spelled.positions[at], b);
      if (spelled.active[at] != 0) places.emplace_back(spelled.sequences[at], spelled.positions[at]);
    }
    if (reuse == position_reuse::intended) continue;
    std::sort(places.begin(), places.end());
    const auto twice = std::adjacent_find(places.begin(), places.end());
    if (twice == places.end()) continue;
    found.expect(false, errc::position_reused, object, text("positions of sequence {} in entry {}", twice->first, b),
                 "each position once (give each packed sequence an id of its own, or say position_reuse::intended)",
                 text("position {} twice", twice->second));
  }
}

}  // namespace detail

/// Lists every rule that the description breaks; empty means that position_call{description} will not throw.
[[nodiscard]] inline violations check(const call_description& d) {
  violations found;
  constexpr index_t most = index_t{1} << 31;
  found.expect(d.query.entries() > 0, errc::empty_batch, "call", "batch entries", "at least 1", d.query.entries());
  found.expect(d.query.entries() <= most, errc::row_count, "call", "batch entries", "at most 2^31", d.query.entries());
  found.expect(d.query.entries() == d.key.entries(), errc::shape_mismatch, "call", "batch entries of the key space",
               d.query.entries(), d.key.entries());
  if (!found.empty()) return found;
  detail::check_space(d.query, "query space", d.reuse, found);
  detail::check_space(d.key, "key space", d.reuse, found);

  const bool needs_cache = d.kind == call_kind::decode_step || d.kind == call_kind::prefill_chunk;
  found.expect((d.cache.size() == 0 && !needs_cache) || d.cache.size() == d.query.entries(), errc::row_count, "call",
               "cache states", text("{}{}", needs_cache ? "" : "none or ", d.query.entries()), d.cache.size());
  for (index_t b = 0; b < d.cache.size(); ++b) {
    const cache_state& cache = d.cache[b];
    found.expect(cache.committed_length >= 0, errc::negative_offset, "call", text("committed_length of entry {}", b),
                 "at least 0", cache.committed_length);
    found.expect(cache.past_length >= 0, errc::negative_offset, "call", text("past_length of entry {}", b),
                 "at least 0", cache.past_length);
    found.expect(cache.past_length <= cache.committed_length, errc::committed_length, "call",
                 text("past_length of entry {}", b), text("at most committed_length {}", cache.committed_length),
                 cache.past_length);
  }
  if (!found.empty()) return found;

  for (index_t b = 0; b < d.cache.size(); ++b) {
    const auto [first, last] = d.query.active_rows(b);
    if (first >= last) continue;
    index_t lowest = d.query.at(b, first).value();
    for (index_t row = first; !d.query.affine() && row < last; ++row) {
      if (d.query.active(b, row)) lowest = std::min(lowest, d.query.at(b, row).value());
    }
    found.expect(lowest == d.cache[b].committed_length, errc::committed_length, "call",
                 text("first query position of entry {}", b), text("committed_length {}", d.cache[b].committed_length),
                 lowest);
  }
  if (d.kind == call_kind::cross_attention) {
    found.expect(!(d.query.frame() == d.key.frame()), errc::frame_mismatch, "cross-attention", "coordinate frames",
                 "one frame for the target and another for the source", text("'{}' for both", d.key.frame().name()));
  }
  return found;
}

/// One attention call: which rows there are, whose they are and where each one stands. Immutable, cheap to copy.
/// Shapes: `batch` entries, `queries` storage rows in the query space, `keys` storage rows in the key space.
/// Units: positions and offsets in tokens (or what the frame counts), 64 bits.
/// Throws: everything that check(description) lists.
/// Source: the positional-call manifest numinens.position-call.v1.
class position_call {
 public:
  explicit position_call(call_description description) : d_(std::move(description)) {
    posgeo::check(d_).throw_if_any();
  }

  /// What the call was made of.
  [[nodiscard]] const call_description& described() const noexcept { return d_; }
  [[nodiscard]] call_kind kind() const noexcept { return d_.kind; }
  [[nodiscard]] index_t batch() const noexcept { return d_.query.entries(); }
  [[nodiscard]] index_t queries() const noexcept { return d_.query.rows(); }
  [[nodiscard]] index_t keys() const noexcept { return d_.key.rows(); }
  [[nodiscard]] const row_space& query_space() const noexcept { return d_.query; }
  [[nodiscard]] const row_space& key_space() const noexcept { return d_.key; }

  [[nodiscard]] position at(batch_index b, query_index i) const noexcept { return d_.query.at(b.value(), i.value()); }
  [[nodiscard]] position at(batch_index b, key_index j) const noexcept { return d_.key.at(b.value(), j.value()); }
  [[nodiscard]] bool active(batch_index b, query_index i) const noexcept {
    return d_.query.active(b.value(), i.value());
  }
  [[nodiscard]] bool active(batch_index b, key_index j) const noexcept { return d_.key.active(b.value(), j.value()); }
  [[nodiscard]] index_t sequence(batch_index b, query_index i) const noexcept {
    return d_.query.sequence(b.value(), i.value());
  }
  [[nodiscard]] index_t sequence(batch_index b, key_index j) const noexcept {
    return d_.key.sequence(b.value(), j.value());
  }

  /// Key position minus query position. The only subtraction of positions in the library; ask same_frame() first.
  [[nodiscard]] relative_offset offset(batch_index b, query_index i, key_index j) const noexcept {
    return relative_offset{at(b, j).value() - at(b, i).value()};
  }
  [[nodiscard]] bool same_frame() const noexcept { return d_.query.frame() == d_.key.frame(); }

  /// Whether the active rows of an entry, queries and keys together, belong to more than one sequence.
  [[nodiscard]] bool mixes_sequences() const noexcept {
    for (index_t b = 0; b < batch(); ++b) {
      const auto of_queries = d_.query.sequence_bounds(b);
      const auto of_keys = d_.key.sequence_bounds(b);
      if (!of_keys) continue;
      if (of_keys->first != of_keys->second) return true;
      if (of_queries && *of_queries != *of_keys) return true;
    }
    return false;
  }

  [[nodiscard]] bool has_cache() const noexcept { return d_.cache.size() > 0; }
  /// Tokens committed to the cache before this call; 0 where the call has no cache.
  [[nodiscard]] index_t committed_length(batch_index b) const noexcept {
    return d_.cache.size() == 0 ? 0 : d_.cache[b.value()].committed_length;
  }
  /// Key rows of earlier calls that are still there; 0 where the call has no cache.
  [[nodiscard]] index_t past_length(batch_index b) const noexcept {
    return d_.cache.size() == 0 ? 0 : d_.cache[b.value()].past_length;
  }

 private:
  call_description d_;
};

/// Refuses a call whose spaces have different frames, on behalf of a method that subtracts positions.
inline void expect_same_frame(const position_call& call, std::string_view object, violations& found) {
  found.expect(call.same_frame(), errc::frame_mismatch, object, "coordinate frames",
               text("the query frame '{}' for both", call.query_space().frame().name()),
               text("'{}' for the keys", call.key_space().frame().name()));
}

}  // namespace posgeo
