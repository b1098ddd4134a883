// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/contract/checkpoint_fields.hpp>

#include <utility>

namespace posgeo::contract::checkpoint_detail {

inline std::string said(checkpoint_family family) {
  constexpr std::array names{
      "sinusoidal",     "learned_absolute", "t5",          "learned_relative", "alibi", "shaw_key", "shaw_key_value",
      "transformer_xl", "deberta_c2p",      "deberta_p2c", "deberta_c2p_p2c",  "tupe",  "rotary"};
  return names.at(static_cast<std::size_t>(family));
}
inline std::string said(table_layout layout) {
  constexpr std::array names{"interleaved",      "concatenated", "rows_by_width", "buckets_by_heads",
                             "heads_by_buckets", "shared_rows",  "rows_per_head"};
  return names.at(static_cast<std::size_t>(layout));
}
inline std::string said(tensor_owner owner) {
  constexpr std::array names{"every_layer", "first_layer", "model"};
  return names.at(static_cast<std::size_t>(owner));
}
inline std::string said(offset_sign sign) {
  return sign == offset_sign::key_minus_query ? "key_minus_query" : "query_minus_key";
}
inline std::string said(index_t count) { return std::to_string(count); }
inline std::string said(position at) { return fmt::format("position {}", at.value()); }
inline std::string said(const source_revision& revision) { return fmt::format("'{}'", revision.text()); }
inline std::string said(const head_layout& heads) {
  return fmt::format("{} query heads, {} key heads, head_dim {}", heads.query, heads.key_value, heads.dim);
}
inline std::string said(const layer_sharing& layers) {
  return fmt::format("{} of {} layers", said(tensor_owner{layers.owner}), layers.layers);
}
inline std::string said(const rotary_layout& rotary) {
  const bool adjacent = rotary.pairs == transform::pairing::adjacent;
  return fmt::format("{} pairs over {} dimensions", adjacent ? "adjacent" : "halves", rotary.rotary_dim);
}
/// The first sixteen heads.
inline std::string said(const head_order& order) {
  std::string all;
  for (std::size_t n = 0; n < std::min<std::size_t>(order.heads().size(), 16); ++n) {
    all += fmt::format("{}{}", n == 0 ? "heads " : " ", order.heads()[n]);
  }
  return order.heads().size() > 16 ? fmt::format("{} ... of {}", all, order.heads().size()) : all;
}
inline std::string said(const clip_rule& rule) {
  const bool clipped = rule.beyond == coordinate::beyond_ends::clipped;
  return fmt::format("{} behind and {} ahead, beyond them {}", rule.behind, rule.ahead,
                     clipped ? "clipped" : "refused");
}
inline std::string said(const t5_rule& rule) {
  const bool causal = rule.settings.direction == coordinate::bucket_direction::causal;
  const bool unused = rule.settings.odd == coordinate::odd_buckets::last_unused;
  return fmt::format("{} t5 buckets{}, {}, max_distance {}", rule.settings.num_buckets,
                     unused ? " (an odd one unused)" : "", causal ? "causal" : "bidirectional",
                     rule.settings.max_distance);
}
inline std::string said(const log_rule& rule) {
  const bool clamped = rule.settings.beyond == coordinate::beyond_max_position::clamped;
  return fmt::format("{} log buckets, max_position {}, beyond it {}", rule.settings.num_buckets,
                     rule.settings.max_position, clamped ? "clamped" : "running on");
}
inline std::string said(const span_rule& rule) {
  return fmt::format("span {}{}", rule.span, rule.buckets.value() ? " of " + said(*rule.buckets.value()) : "");
}
inline std::string said(const offset_rule& rule) {
  return std::visit([](const auto& one) { return said(one); }, rule);
}
template <class Value>
std::string said(const stated<Value>& field) {
  return field.value() ? said(*field.value()) : "none";
}
template <class Choice>
std::string said(const required<Choice>& field) {
  return said(Choice{field});
}

/// Whether a family's contract has a value in a field, has none, or may have one.
enum class presence { stated, none, free };
struct family_rules {
  presence table = presence::none;     ///< layout and rows
  presence relative = presence::none;  ///< sign and rule
  presence rotary = presence::none;
  presence cls = presence::none;
};
inline family_rules rules_of(checkpoint_family family) {
  switch (family) {
    case checkpoint_family::rotary:
      return {.rotary = presence::stated};
    case checkpoint_family::sinusoidal:
    case checkpoint_family::learned_absolute:
      return {.table = presence::stated};
    case checkpoint_family::alibi:
      return {.table = presence::free};
    case checkpoint_family::tupe:
      return {.table = presence::free, .relative = presence::free, .cls = presence::free};
    case checkpoint_family::transformer_xl:
      return {.table = presence::free, .relative = presence::free};
    default:
      return {.table = presence::stated, .relative = presence::stated};
  }
}

inline bool of_numbers(checkpoint_family family) {
  return family == checkpoint_family::t5 || family == checkpoint_family::learned_relative;
}
inline bool of_shaw(checkpoint_family family) {
  return family == checkpoint_family::shaw_key || family == checkpoint_family::shaw_key_value;
}
inline bool of_deberta(checkpoint_family family) {
  return family == checkpoint_family::deberta_c2p || family == checkpoint_family::deberta_p2c ||
         family == checkpoint_family::deberta_c2p_p2c;
}

template <class Expect>
void expect_order(const head_order& order, const posgeo::heads& layout, const Expect& expect) {
  auto sorted = order.heads();
  std::sort(sorted.begin(), sorted.end());
  bool permutation = std::cmp_equal(sorted.size(), layout.query);  // asked first: a head count may be anything
  for (std::size_t n = 0; n < sorted.size(); ++n) permutation = permutation && std::cmp_equal(sorted[n], n);
  expect(permutation, "order", text("each of {} query heads once", layout.query), [&order] { return said(order); });
  if (!permutation) return;
  const index_t group = layout.query / layout.key_value;
  bool together = true;
  for (index_t n = 0; n < layout.query; ++n) {
    const auto at = [&](index_t place) { return order.heads()[static_cast<std::size_t>(place)] / group; };
    together = together && at(n) == at(n / group * group);
  }
  expect(together, "order", text("groups of {} query heads, which share a key head, together", group),
         [&order] { return said(order); });
}

template <class Expect>
void expect_layout(checkpoint_family family, table_layout layout, const Expect& expect) {
  const auto one_of = [&](std::initializer_list<table_layout> allowed) {
    std::string names;
    for (const table_layout one : allowed) names += (names.empty() ? "" : " or ") + said(one);
    expect(std::find(allowed.begin(), allowed.end(), layout) != allowed.end(), "layout", names, said(layout));
  };
  if (family == checkpoint_family::sinusoidal) one_of({table_layout::interleaved, table_layout::concatenated});
  if (family == checkpoint_family::learned_absolute) one_of({table_layout::rows_by_width});
  if (of_numbers(family)) one_of({table_layout::buckets_by_heads, table_layout::heads_by_buckets});
  if (of_shaw(family)) one_of({table_layout::shared_rows, table_layout::rows_per_head});
  if (of_deberta(family)) {
    one_of({table_layout::rows_by_width, table_layout::shared_rows, table_layout::rows_per_head});
  }
}

/// Lists a rule that is not the family's, or that its own settings refuse.
template <class Expect>
void expect_rule(checkpoint_family family, const offset_rule& rule, const Expect& expect) {
  const auto expect_kind = [&](bool ok, std::string_view kind) { expect(ok, "rule", kind, said(rule)); };
  if (family == checkpoint_family::t5) expect_kind(std::holds_alternative<t5_rule>(rule), "t5 buckets");
  if (of_shaw(family) || family == checkpoint_family::learned_relative) {
    expect_kind(std::holds_alternative<clip_rule>(rule), "a reach behind and ahead");
  }
  if (of_deberta(family)) expect_kind(std::holds_alternative<span_rule>(rule), "a span");
  const auto take = [&](const violations& broken) {
    expect(broken.empty(), "rule", "settings that its mechanism takes",
           [&broken] { return fmt::format("those of which it says: {}", broken.front().message); });
  };
  if (const auto* const buckets = std::get_if<t5_rule>(&rule)) {
    take(coordinate::t5_bucket::check(buckets->settings));
  } else if (const auto* const clip = std::get_if<clip_rule>(&rule)) {
    constexpr index_t most = index_t{1} << 31;
    expect(clip->behind >= 0 && clip->behind < most && clip->ahead >= 0 && clip->ahead < most, "rule",
           "reaches from 0 to 2^31 - 1", said(rule));
  } else if (const auto* const span = std::get_if<span_rule>(&rule)) {
    expect(span->span > 0 && span->span <= index_t{1} << 31, "rule", "a span from 1 to 2^31", said(rule));
    if (!span->buckets.value()) return;
    take(coordinate::log_bucket::check(span->buckets.value()->settings));
    expect(span->span == span->buckets.value()->settings.num_buckets, "rule", "a span that is the number of buckets",
           said(rule));
  }
}

/// How many table rows a rule has.
inline index_t classes_of(const offset_rule& rule) {
  if (const auto* const clip = std::get_if<clip_rule>(&rule)) return clip->behind + clip->ahead + 1;
  if (const auto* const buckets = std::get_if<t5_rule>(&rule)) return buckets->settings.num_buckets;
  return 2 * std::get<span_rule>(rule).span;
}

}  // namespace posgeo::contract::checkpoint_detail
