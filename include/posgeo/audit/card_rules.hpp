// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/audit/card_summary.hpp>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>

namespace posgeo::audit {

namespace detail {

/// Collects where a card contradicts itself.
class card_rules {
 public:
  card_rules(const positional_card& card, violations& found) : card_(card), found_(found) {}

  void method() const {
    const auto reference = detail::reference_of(card_.policies);
    expect(card_.method.reference == reference, "method", "reference",
           text("{}, which follows from what is read", manifest::name_of(reference)),
           manifest::name_of(card_.method.reference));
    expect(card_.method.scaling == scaling_of(card_.policies), "method", "scaling", "that of the policies", "another");
    for (const policy_part& one : card_.policies) one_policy(one);
    if (!card_.method.resized.value()) return;
    const bool absolute = std::any_of(card_.policies.begin(), card_.policies.end(), has_table);
    expect(absolute, "method", "resized", "none, without a table", "a resized table");
    positive(card_.method.resized.value()->rows_before, "resized table", "rows before");
    named(card_.method.resized.value()->rule, "resized table", "rule");
  }

  void conventions() const {
    const convention_part& c = card_.conventions;
    const auto origin = origin_of(detail::reads_of(card_.policies));
    expect(
        c.origin == origin, "origin", "effect on outputs",
        text("{}, for a method that reads {}", manifest::name_of(origin), words_of(detail::reads_of(card_.policies))),
        manifest::name_of(c.origin));
    const bool padded = c.padding_side != padded_side::never;
    expect(padded == (c.padding_positions != padded_count::none), "padding", "positions",
           padded ? "a rule for rows without a token" : "none, since nothing is padded",
           manifest::name_of(c.padding_positions));
    expect(!padded || c.padding_keys == key_rows_are::hidden, "padding", "keys",
           "hidden (visible::active), since batches are padded", "visible");
    const bool packed = c.packed_positions != packed_count::never_packed;
    expect(!packed || c.keys_of_other_sequences == key_rows_are::hidden, "packing", "keys of other sequences",
           "hidden (visible::segments), since sequences are packed", "visible");
    const bool causal = c.causal != causal_alignment::not_causal;
    expect(causal || c.cached_call_begins_at == cache_offset::no_cache, "cache", "visibility",
           "causal, since a kept row has seen nothing behind it", "not causal");
    const auto reach = [this](const stated<index_t>& said, std::string_view side) {
      expect(said == reach_of(card_.policies, side), "window", side, "the reach of the policies", "another");
    };
    reach(c.reach_behind, "behind");
    reach(c.reach_ahead, "ahead");
    for (const policy_part& one : card_.policies) {
      const bool by_position = one.policy.name() == "causal" && family_of(one.policy) == "visibility";
      expect(!by_position || c.causal == causal_alignment::by_position, "causal visibility", "alignment",
             "by_position, as the policy causal is", manifest::name_of(c.causal));
    }
  }

  void lengths() const {
    const length_part& all = card_.lengths;
    const auto& configured = all.configured.value();
    positive(all.trained, "lengths", "trained");
    if (configured) positive(*configured, "lengths", "configured");
    expect(!configured || all.trained <= *configured || card_.method.scaling.value(), "lengths", "trained",
           text("at most the configured {}, without a scaling rule", configured.value_or(0)), all.trained);
    for (const policy_part& one : card_.policies) one_range(one);
    if (const auto& rule = card_.method.scaling.value()) scaling(*rule);
    for (std::size_t n = 0; n < all.evaluated.size(); ++n) one_evaluation(n);
  }

  void evidence() const {
    if (const auto& taught = card_.coverage.value()) coverage(*taught);
    if (const auto& audited = card_.audit.value()) {
      named(audited->name, "audit", "name");
      for (const finding_part& one : audited->findings) {
        expect(one.tolerance >= 0.0 && std::isfinite(one.tolerance), "audit", manifest::name_of(one.intervention),
               "a tolerance of at least 0", one.tolerance);
      }
    }
    for (const std::string& sentence : card_.not_claimed) named(sentence, "card", "not_claimed");
  }

 private:
  template <class Axis, class Expected, class Actual>
  void expect(bool ok, std::string_view object, const Axis& axis, const Expected& expected,
              const Actual& actual) const {
    found_.expect(ok, errc::card, object, axis, expected, actual);
  }
  void positive(index_t count, std::string_view object, std::string_view axis) const {
    expect(count >= 1, object, axis, "at least 1", count);
  }
  template <class Axis>
  void named(const std::string& name, std::string_view object, const Axis& axis) const {
    expect(!name.empty(), object, axis, "at least one character", "none");
  }
  [[nodiscard]] static bool has_table(const policy_part& one) {
    bool found = false;
    manifest::detail::each_setting(one.policy, "", [&found](const std::string&, const policy_record::value& what) {
      found = found || std::holds_alternative<manifest::table_record>(what);
    });
    return found;
  }
  void one_policy(const policy_part& one) const {
    const policy_record& policy = one.policy;
    expect(one.reads == parts_of(audit::reads_of(one.reads)), policy.name(), "reads", "each part once, in order",
           "others");
    expect(!family_of(policy).empty(), policy.name(), "family", "the name of its family's tag", "none");
    const auto* const speeds = setting<policy_record>(policy, "frequencies");
    expect(speeds == nullptr || speeds->name() != "speeds", policy.name(), "frequencies",
           "a rule that says what it is (describe())", "numbers without a rule");
    const auto* const slopes = slopes_of(policy);
    expect(slopes == nullptr || std::cmp_equal(slopes->size(), card_.heads.query), policy.name(), "slopes",
           text("{}, one for each query head", card_.heads.query), slopes == nullptr ? 0 : slopes->size());
  }

  /// The longest sequence that a policy takes, if it does not take all.
  [[nodiscard]] std::optional<index_t> longest(const range_part& range) const {
    const convention_part& c = card_.conventions;
    std::optional<index_t> most;
    const auto limit = [&most](index_t length) { most = std::min(length, most.value_or(length)); };
    const auto beyond = [](const stated<index_t>& reach, index_t distance) {
      return !reach.value() || *reach.value() > distance;
    };
    if (const auto& last = range.highest_position.value()) {
      limit(saturating_add(saturating_subtract(*last, c.first_position), 1));
    }
    if (const auto& far = range.lowest_offset.value(); far && beyond(c.reach_behind, saturating_subtract(0, *far))) {
      limit(saturating_add(saturating_subtract(0, *far), 1));
    }
    const auto& ahead = range.highest_offset.value();
    if (ahead && c.causal == causal_alignment::not_causal && beyond(c.reach_ahead, *ahead)) {
      limit(saturating_add(*ahead, 1));
    }
    return most;
  }
  void one_range(const policy_part& one) const {
    const std::string& name = one.policy.name();
    const auto& lowest = one.range.lowest_position.value();
    expect(!lowest || card_.conventions.first_position >= *lowest, "origin", "first position",
           text("at least {}, where {} begins", lowest.value_or(0), name), card_.conventions.first_position);
    const std::optional<index_t> most = longest(one.range);
    if (!most) return;
    const auto within = [&](index_t length, const auto& axis) {
      expect(length <= *most, "lengths", axis, text("at most {}, for more {} refuses", *most, name), length);
    };
    const auto& configured = card_.lengths.configured.value();
    expect(configured.has_value(), "lengths", "configured", text("a length, since {} is bounded", name), "none");
    if (configured) within(*configured, "configured");
    within(card_.lengths.trained, "trained");
    for (const evaluation& done : card_.lengths.evaluated) {
      if (!configured) {
        within(done.length, text("evaluated, '{}'", done.task));
      } else {
        expect(done.length <= *configured, "lengths", text("evaluated, '{}'", done.task),
               text("at most the configured {}, since {} is bounded", *configured, name), done.length);
      }
    }
  }

  void scaling(const scaling_rule& rule) const {
    const auto& original = rule.original_length.value();
    expect(!original || *original <= card_.lengths.trained, "scaling", text("original length of {}", rule.rule),
           text("at most the trained {}", card_.lengths.trained), original.value_or(0));
    const auto& configured = card_.lengths.configured.value();
    if (rule.rule != "yarn" || !original || !rule.factor.value() || !configured) return;
    const double most = static_cast<double>(*original) * *rule.factor.value();
    expect(static_cast<double>(*configured) <= most, "lengths", "configured",
           text("at most {}, which is factor times original length of {}", most, rule.rule), *configured);
  }

  void one_evaluation(std::size_t n) const {
    const evaluation& one = card_.lengths.evaluated[n];
    const std::string object = fmt::format("evaluation {}", n);
    positive(one.length, object, "length");
    named(one.task, object, "task");
    named(one.metric, object, "metric");
    if (one.placement.value()) named(*one.placement.value(), object, "placement");
    expect(std::isfinite(one.value), object, "value", "a finite number", one.value);
    const auto range = trained_range(one.length, card_.lengths.trained);
    expect(one.range == range, object, "range",
           text("{} for length {}, trained {}", manifest::name_of(range), one.length, card_.lengths.trained),
           manifest::name_of(one.range));
    for (std::size_t m = 0; m < n; ++m) {
      const evaluation& other = card_.lengths.evaluated[m];
      const bool same = one.length == other.length && one.kind == other.kind && one.task == other.task &&
                        one.placement == other.placement && one.metric == other.metric;
      expect(!same, object, "task, placement, metric and length", "each once", text("those of evaluation {}", m));
    }
  }

  void coverage(const coverage_part& taught) const {
    positive(taught.sequences, "coverage", "sequences");
    positive(taught.longest, "coverage", "longest sequence");
    positive(taught.enough, "coverage", "enough");
    const index_t trained = card_.lengths.trained;
    expect(taught.longest <= trained, "coverage", "longest sequence", text("at most the trained length {}", trained),
           taught.longest);
    const index_t reached =
        saturating_add(saturating_subtract(taught.highest_position, card_.conventions.first_position), 1);
    expect(std::max(taught.longest, reached) >= trained, "lengths", "trained",
           text("at most {}, which is all that was counted", std::max(taught.longest, reached)), trained);
    for (const table_use& one : taught.tables) {
      const bool ordered = one.addressed >= 0 && one.addressed <= one.configured &&
                           one.below_enough >= one.configured - one.addressed && one.below_enough <= one.configured;
      expect(ordered, one.table, "rows addressed and below enough", text("those of {} rows", one.configured),
             text("{} and {}", one.addressed, one.below_enough));
      expect(has_rows(one), "coverage", "table", text("one of the policies, with {} rows", one.configured), one.table);
    }
  }
  /// Whether a policy has the table of that name, with as many rows on one of its axes.
  [[nodiscard]] bool has_rows(const table_use& one) const {
    bool found = false;
    for (const policy_part& part : card_.policies) {
      const policy_record& policy = part.policy;
      if (!one.table.starts_with(policy.name())) continue;
      manifest::detail::each_setting(policy, "", [&](const std::string& name, const policy_record::value& what) {
        const auto* const table = std::get_if<manifest::table_record>(&what);
        if (table == nullptr || !one.table.ends_with(" " + name)) return;
        found = found || std::count(table->extents.begin(), table->extents.end(), one.configured) > 0;
      });
    }
    return found;
  }

  const positional_card& card_;
  violations& found_;
};

}  // namespace detail

/// Lists where a card contradicts itself: lengths beyond a table, an evaluation that is not marked as beyond training,
/// an origin that is said to matter to a relative method, padding that is visible, a summary that does not follow from
/// its policies. Empty for a card of card_of.
[[nodiscard]] inline violations check(const positional_card& card) {
  violations found;
  const detail::card_rules rules(card, found);
  rules.method();
  rules.conventions();
  rules.lengths();
  rules.evidence();
  return found;
}

}  // namespace posgeo::audit
