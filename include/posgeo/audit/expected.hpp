// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/audit/intervention.hpp>
#include <posgeo/coordinate/offset_bounds.hpp>
#include <posgeo/core/positional_range.hpp>
#include <posgeo/core/reads.hpp>
#include <posgeo/model/attention.hpp>

#include <algorithm>

namespace posgeo::audit {

/// What an attention declares about itself, and what the content of its rows reads beside it (a state encoder).
struct declaration {
  reads policies = reads::nothing;
  reads content = reads::nothing;
  hides hidden = hides::nothing;     ///< what its visibilities hide
  hides must_hide = hides::nothing;  ///< what they must hide, or no call is taken
  positional_range range = {};

  [[nodiscard]] reads all() const noexcept { return policies | content; }
};

template <class... Policies>
[[nodiscard]] declaration declared_by(const attention<Policies...>& of) {
  return {.policies = of.positional_reads(),
          .hidden = of.hidden(),
          .must_hide = of.looks_back_only() ? hides::future : hides::nothing,
          .range = of.range()};
}

/// The same, with content that a state encoder made.
template <says_reads Content, class... Policies>
[[nodiscard]] declaration declared_by(const attention<Policies...>& of, const Content& content) {
  declaration all = declared_by(of);
  all.content = content.positional_reads();
  all.range = all.range & range_of(content);
  return all;
}

/// What an intervention does to an attention, by the laws of what it reads. The call is one that the attention takes,
/// long enough for the change to be seen, and the edited one within its range.
[[nodiscard]] inline verdict expected(intervention kind, const declaration& of) noexcept {
  using enum intervention;
  const reads all = of.all();
  const auto any = [all](reads parts) { return includes_any(all, parts); };
  const auto changes_if = [](bool changed) { return changed ? verdict::changes : verdict::invariant; };
  // A number for keys ahead that nobody has: whatever is done, no call is taken.
  if (!includes(of.hidden, of.must_hide)) return verdict::refused;
  // Values in the order of storage rows whose names are checked: any other rows are not theirs.
  const bool bound = any(reads::row) && any(reads::name);
  switch (kind) {
    case permute_rows:  // every row goes with its position: only who reads storage rows notices
      if (bound) return verdict::refused;
      return any(reads::row) ? verdict::changes : verdict::equivariant;
    case permute_content:  // nobody stays where it was: only who asks no row where it is does not notice
    case permute_content_unmasked:
      return any(reads::offset | reads::absolute | reads::row | reads::name) ? verdict::changes : verdict::equivariant;
    case shift_all:  // differences stay, places do not; a name that nobody bound a value to is refused
    case out_of_range:
      if (any(reads::name)) return verdict::refused;
      return changes_if(any(reads::absolute | reads::extent));
    case shift_queries:  // every difference changes
    case stretch_gap:    // some do, and the order of rows stays
      if (any(reads::name)) return verdict::refused;
      if (kind == stretch_gap) return changes_if(any(reads::distance | reads::absolute | reads::extent));
      return changes_if(any(reads::offset | reads::absolute_query | reads::extent));
    case reverse:  // before becomes after, and every distance stays
      if (bound) return verdict::refused;
      return changes_if(any(reads::order | reads::absolute | reads::name));
    case mirror_evidence:  // the same for one query, and one key may reach further than any did
      if (bound) return verdict::refused;
      return changes_if(any(reads::order | reads::absolute | reads::name | reads::extent));
    case swap_frames:  // positions of two frames are not compared; content reads each side by itself
      if (bound || includes_any(of.policies, reads::offset | reads::absolute | reads::name | reads::frame))
        return verdict::refused;
      return verdict::invariant;
    case pad_left:  // padding that is hidden moves storage rows, and nothing else
    case pad_right:
      if (!includes(of.hidden, hides::padding) || any(reads::row)) return verdict::refused;
      return changes_if(any(reads::extent));
    case pack:  // so do other sequences that are hidden
      if (!includes(of.hidden, hides::other_segments) || any(reads::row)) return verdict::refused;
      return changes_if(any(reads::extent));
    case chunk:  // keys that are not there yet were hidden, or else they are missed
    case cached:
      if (any(reads::row)) return verdict::refused;
      return changes_if(!includes(of.hidden, hides::future) || any(reads::extent));
  }
  return verdict::not_applicable;
}

namespace detail {

/// Whether a call stays within a range.
[[nodiscard]] inline bool within(const call_description& described, const positional_range& range) {
  const position_call call(described);
  for (const row_space* space : {&call.query_space(), &call.key_space()}) {
    for (index_t b = 0; b < space->entries(); ++b) {
      for (index_t row = 0; row < space->rows(); ++row) {
        const index_t at = space->at(b, row).value();
        if (space->active(b, row) && (at < range.lowest_position || at > range.highest_position)) return false;
      }
    }
  }
  if (!call.same_frame()) return true;
  const auto offsets = coordinate::bounds_of_offsets(call);
  return !offsets ||
         (offsets->lowest.value() >= range.lowest_offset && offsets->highest.value() <= range.highest_offset);
}

/// Where a pair of rows stands.
struct pair_place {
  index_t query;
  index_t key;
};

/// Whether anything that is read of two rows differs between two places of theirs.
[[nodiscard]] inline bool differs(reads all, const pair_place& before, const pair_place& after) noexcept {
  const index_t from = before.key - before.query;
  const index_t to = after.key - after.query;
  const auto size = [](index_t x) { return x < 0 ? -x : x; };
  return (includes(all, reads::ahead) && (from > 0) != (to > 0)) ||
         (includes(all, reads::behind) && (from < 0) != (to < 0)) ||
         (includes(all, reads::distance) && size(from) != size(to)) ||
         (includes(all, reads::absolute_query) && before.query != after.query) ||
         (includes(all, reads::absolute_key) && before.key != after.key);
}

/// Whether a pair of tokens that see each other is read otherwise in an edited call than in the original.
[[nodiscard]] inline bool any_differs(const edited_call& one, const position_call& original, const declaration& of) {
  const position_call call(one.call);
  const bool past_only = includes(of.hidden, hides::future);
  for (const batch_index b : indices<batch_index>(call.batch())) {
    for (const query_index i : indices<query_index>(call.queries())) {
      const row_source query = one.query_source[static_cast<std::size_t>(b.value() * call.queries() + i.value())];
      if (!query.any() || !call.active(b, i)) continue;
      for (const key_index j : indices<key_index>(call.keys())) {
        const row_source key = one.key_source[static_cast<std::size_t>(b.value() * call.keys() + j.value())];
        if (!key.any() || !call.active(b, j) || call.sequence(b, i) != call.sequence(b, j)) continue;
        const pair_place before{original.query_space().at(query.entry, query.row).value(),
                                original.key_space().at(key.entry, key.row).value()};
        const pair_place after{call.at(b, i).value(), call.at(b, j).value()};
        if (past_only && before.key > before.query && after.key > after.query) continue;
        if (differs(of.all(), before, after)) return true;
      }
    }
  }
  return false;
}

}  // namespace detail

/// What an edit of a call does to an attention: as above, and refused if a call of it leaves the range; and nothing
/// that changes where the order, distance or place of no pair that is read does (a decode step has no key ahead).
/// With edited_mask::everything the declaration is that of attention.unmasked().
[[nodiscard]] inline verdict expected(const edit& made, const position_call& original, const declaration& of) {
  if (made.calls.empty()) return verdict::not_applicable;
  const verdict by_law = expected(made.kind, of);
  if (by_law == verdict::refused) return by_law;
  for (const edited_call& one : made.calls) {
    if (!detail::within(one.call, of.range)) return verdict::refused;
  }
  const bool told_by_place = made.kind != intervention::permute_rows && made.kind != intervention::chunk &&
                             made.kind != intervention::cached && made.kind != intervention::pack;
  if (by_law != verdict::changes || !told_by_place ||
      includes_any(of.all(), reads::row | reads::name | reads::extent)) {
    return by_law;
  }
  for (const edited_call& one : made.calls) {
    if (detail::any_differs(one, original, of)) return by_law;
  }
  const bool of_content =
      made.kind == intervention::permute_content || made.kind == intervention::permute_content_unmasked;
  return of_content ? verdict::equivariant : verdict::invariant;
}

/// The same with the declaration of the attention that the edit is for, and of content that reads where rows stand.
template <class... Policies>
[[nodiscard]] verdict expected(const edit& made, const position_call& original, const attention<Policies...>& of) {
  return expected(made, original, made.mask == edited_mask::everything ? declared_by(of.unmasked()) : declared_by(of));
}
template <says_reads Content, class... Policies>
[[nodiscard]] verdict expected(const edit& made, const position_call& original, const attention<Policies...>& of,
                               const Content& content) {
  return expected(
      made, original,
      made.mask == edited_mask::everything ? declared_by(of.unmasked(), content) : declared_by(of, content));
}

}  // namespace posgeo::audit
