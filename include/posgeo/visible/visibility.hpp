// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/call/position_call.hpp>
#include <posgeo/core/policy.hpp>

#include <algorithm>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

namespace posgeo {

/// What a visibility promises to hide from every query, so that a call that needs it can be held against it.
enum class hides : unsigned {
  nothing = 0,
  padding = 1,         ///< key rows that are no tokens
  other_segments = 2,  ///< key rows of other sequences
  future = 4,          ///< keys that stand after the query
  distant = 8,         ///< keys beyond some distance
};

[[nodiscard]] constexpr hides operator|(hides a, hides b) noexcept {
  return static_cast<hides>(static_cast<unsigned>(a) | static_cast<unsigned>(b));
}
[[nodiscard]] constexpr hides operator&(hides a, hides b) noexcept {
  return static_cast<hides>(static_cast<unsigned>(a) & static_cast<unsigned>(b));
}
/// Whether `all` contains everything in `part`.
[[nodiscard]] constexpr bool includes(hides all, hides part) noexcept { return (all & part) == part; }

/// The names of what is hidden, with " | " between them.
[[nodiscard]] inline std::string names_of(hides all) {
  constexpr std::pair<hides, std::string_view> names[] = {{hides::padding, "padding"},
                                                          {hides::other_segments, "other_segments"},
                                                          {hides::future, "future"},
                                                          {hides::distant, "distant"}};
  std::string out;
  for (const auto& [part, name] : names) {
    if (includes(all, part)) out.append(out.empty() ? "" : " | ").append(name);
  }
  return out.empty() ? "nothing" : out;
}

/// Who may see whom. Legality, not preference: a hidden key has weight exactly 0, whatever its score.
/// term(b, i, j) is the predicate; term.keys(b, i) a range outside of which it is false.
template <class P, class T = float>
concept visibility = member_of<P, family::visibility> &&
    requires(const P& policy, const compiled_t<P, T>& term, batch_index b, query_index i, key_index j) {
  { policy.hidden() } -> std::same_as<hides>;
  requires noexcept(policy.hidden());
  { term(b, i, j) } -> std::same_as<bool>;
  requires noexcept(term(b, i, j));
  { term.keys(b, i) } -> std::same_as<key_range>;
  requires noexcept(term.keys(b, i));
};

/// A visibility as numbers: key j is seen exactly if -behind <= key - query <= ahead, and, where `rows` has
/// hides::padding, j is active and, where it has hides::other_segments, both rows are of one sequence. `rows` has no
/// other.
/// Units: positions of the call.
struct visibility_rule {
  static constexpr index_t unbounded = std::numeric_limits<index_t>::max();
  index_t behind = unbounded;
  index_t ahead = unbounded;
  hides rows = hides::nothing;

  /// What both rules show.
  [[nodiscard]] friend constexpr visibility_rule operator&(const visibility_rule& a,
                                                           const visibility_rule& b) noexcept {
    return {std::min(a.behind, b.behind), std::min(a.ahead, b.ahead), a.rows | b.rows};
  }
  friend constexpr bool operator==(const visibility_rule&, const visibility_rule&) noexcept = default;
};

/// Block form of a compiled visibility: its predicate as a rule.
template <class Term>
concept ruled_visibility = requires(const Term& term) {
  { term.rule() } -> std::same_as<visibility_rule>;
  requires noexcept(term.rule());
};

/// A row_space's range of storage rows as key rows.
[[nodiscard]] inline key_range to_keys(std::pair<index_t, index_t> rows) noexcept {
  return {key_index{rows.first}, key_index{rows.second}};
}

}  // namespace posgeo
