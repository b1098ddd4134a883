// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/audit/card_summary.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string>
#include <string_view>
#include <vector>

namespace posgeo::audit {

namespace detail {

/// A text that Markdown shows as it is, in a cell of a table or in a list: one line, marks with a backslash.
[[nodiscard]] inline std::string escaped(std::string_view given) {
  const auto letter = [&given](std::size_t at) {
    return at < given.size() && std::isalnum(static_cast<unsigned char>(given[at])) != 0;
  };
  constexpr std::string_view marks = "\\`*[]<>|~&$#";
  std::string out;
  for (std::size_t n = 0; n < given.size(); ++n) {
    const char c = given[n];
    const auto code = static_cast<unsigned char>(c);
    if (code <= ' ' || code == 127) {
      if (!out.empty() && out.back() != ' ') out += ' ';
      continue;
    }
    const bool inside_word = n > 0 && letter(n - 1) && letter(n + 1);
    const bool digits = out.find_first_not_of("0123456789") == std::string::npos;
    const bool begins_item = (out.empty() && (c == '+' || c == '-' || c == '=')) ||
                             (!out.empty() && digits && (c == '.' || c == ')') && !letter(n + 1));
    if (marks.find(c) != std::string_view::npos || (c == '_' && !inside_word) || begins_item) out += '\\';
    out += c;
  }
  if (!out.empty() && out.back() == ' ') out.pop_back();
  return out;
}

/// The settings of a policy and of the rules inside it, without its tables.
[[nodiscard]] inline std::string settings_said(const policy_record& policy) {
  constexpr std::size_t most = 128;  // of a list
  const auto value_said = [](const auto& value) -> std::string {
    using V = std::remove_cvref_t<decltype(value)>;
    if constexpr (std::is_same_v<V, policy_record::absent_t>) {
      return "none";
    } else if constexpr (std::is_same_v<V, index_t> || std::is_same_v<V, double> || std::is_same_v<V, std::string>) {
      return fmt::format("{}", value);
    } else if constexpr (std::is_same_v<V, policy_record>) {
      const std::string inner = settings_said(value);
      return inner.empty() ? value.name() : fmt::format("{} ({})", value.name(), inner);
    } else if constexpr (std::is_same_v<V, std::vector<policy_record>>) {
      std::vector<std::string> parts;
      for (const policy_record& part : value) {
        const std::string inner = settings_said(part);
        parts.push_back(inner.empty() ? part.name() : fmt::format("{} ({})", part.name(), inner));
      }
      return fmt::format("[{}]", fmt::join(parts, ", "));
    } else if constexpr (std::is_same_v<V, manifest::table_record>) {
      return {};
    } else {
      if (value.size() > most) return fmt::format("{} numbers", value.size());
      return fmt::format("[{}]", fmt::join(value, ", "));
    }
  };
  std::string out;
  for (const policy_record::setting& one : policy.settings()) {
    if (one.name == "family" || one.name.ends_with("_axes")) continue;
    const std::string said = std::visit(value_said, one.what);
    if (!said.empty()) out += fmt::format("{}{} {}", out.empty() ? "" : ", ", one.name, said);
  }
  return out;
}

/// Writes a card; each function adds a section.
class card_writer {
 public:
  explicit card_writer(const positional_card& card) : card_(card) {}

  [[nodiscard]] std::string written() {
    out_ = "## Positions\n\n";
    summary();
    mechanisms();
    evaluations();
    coverage();
    tests();
    not_claimed();
    return std::move(out_);
  }

 private:
  using cells = std::vector<std::string>;
  void row(const cells& all) { out_ += fmt::format("| {} |\n", fmt::join(all, " | ")); }
  void head(const cells& names) {
    row(names);
    row(cells(names.size(), "---"));
  }
  void section(std::string_view title) { out_ += fmt::format("\n### {}\n\n", title); }
  [[nodiscard]] static std::string words(std::string_view name) {
    std::string out(name);
    std::replace(out.begin(), out.end(), '_', ' ');
    return out;
  }
  template <class E>
  [[nodiscard]] static std::string word(E value) {
    return words(manifest::name_of(value));
  }
  template <class E>
  [[nodiscard]] static std::string joined(const std::vector<E>& all) {
    std::string out;
    for (const E one : all) out += (out.empty() ? "" : ", ") + word(one);
    return out.empty() ? "nothing" : out;
  }

  void summary() {
    const convention_part& c = card_.conventions;
    const length_part& lengths = card_.lengths;
    head({"what", "value"});
    row({"checkpoint", escaped(card_.checkpoint_id.name())});
    row({"positions", word(card_.method.reference)});
    row({"heads",
         fmt::format("{} of queries, {} of keys, {} wide", card_.heads.query, card_.heads.key_value, card_.heads.dim)});
    row({"first position", fmt::format("{}, and the origin {}", c.first_position,
                                       word(c.origin) == "matters" ? "matters" : "is irrelevant")});
    row({"padding", fmt::format("{}; positions: {}; its keys: {}", word(c.padding_side), word(c.padding_positions),
                                word(c.padding_keys))});
    row({"packed sequences",
         fmt::format("positions: {}; keys of others: {}", word(c.packed_positions), word(c.keys_of_other_sequences))});
    row({"keys after the query",
         c.causal == causal_alignment::not_causal ? "visible" : fmt::format("hidden, told {}", causal_said(c.causal))});
    const auto add_reach = [this](std::string_view side, const stated<index_t>& reach) {
      if (reach.value()) row({fmt::format("reach {} the query", side), fmt::format("{} keys", *reach.value())});
    };
    add_reach("before", c.reach_behind);
    add_reach("after", c.reach_ahead);
    row({"cached calls", c.cached_call_begins_at == cache_offset::no_cache
                             ? "none"
                             : fmt::format("begin at {}", word(c.cached_call_begins_at))});
    row({"scaling", scaling_said()});
    if (const auto& resized = card_.method.resized.value()) {
      row({"resized table", fmt::format("from {} rows, {}", resized->rows_before, escaped(resized->rule))});
    }
    const auto& configured = lengths.configured.value();
    row({"configured length", configured ? fmt::format("{}", *configured) : "no limit"});
    row({"trained length", fmt::format("{}", lengths.trained)});
    row({"longest evaluated length", longest() == 0 ? "none" : fmt::format("{}{}", longest(), beyond(longest()))});
  }
  [[nodiscard]] static std::string causal_said(causal_alignment how) {
    if (how == causal_alignment::by_position) return "by position";
    return fmt::format("by the {} corner of the scores", words(manifest::name_of(how)));
  }
  [[nodiscard]] std::string scaling_said() const {
    const auto& rule = card_.method.scaling.value();
    if (!rule) return "none";
    std::string out = fmt::format("{} of {}", escaped(rule->rule), escaped(rule->policy));
    if (const auto& factor = rule->factor.value()) out += fmt::format(", factor {}", *factor);
    if (const auto& length = rule->original_length.value()) out += fmt::format(", from length {}", *length);
    return out;
  }
  [[nodiscard]] index_t longest() const noexcept {
    index_t most = 0;
    for (const evaluation& one : card_.lengths.evaluated) most = std::max(most, one.length);
    return most;
  }
  [[nodiscard]] std::string beyond(index_t length) const {
    return length > card_.lengths.trained ? ", beyond the trained length" : "";
  }

  void mechanisms() {
    section("Mechanisms");
    head({"mechanism", "family", "reads", "takes", "settings", "tables"});
    for (const policy_part& one : card_.policies) {
      const std::string settings = settings_said(one.policy);
      row({escaped(one.policy.name()), escaped(words(family_of(one.policy))), words_of(audit::reads_of(one.reads)),
           taken(one.range), settings.empty() ? "none" : escaped(settings), tables(one.policy)});
    }
  }
  [[nodiscard]] static std::string taken(const range_part& range) {
    std::string out;
    const auto ends = [&out](std::string_view what, const std::optional<index_t>& low,
                             const std::optional<index_t>& high) {
      if (!low && !high) return;
      if (!out.empty()) out += ", ";
      out += what;
      if (low && high) out += fmt::format(" {} to {}", *low, *high);
      if (low && !high) out += fmt::format(" from {} on", *low);
      if (!low && high) out += fmt::format(" up to {}", *high);
    };
    ends("positions", range.lowest_position.value(), range.highest_position.value());
    ends("offsets", range.lowest_offset.value(), range.highest_offset.value());
    return out.empty() ? "all" : out;
  }
  [[nodiscard]] static std::string tables(const policy_record& policy) {
    std::string out;
    manifest::detail::each_setting(policy, "", [&out](const std::string& name, const policy_record::value& what) {
      const auto* const table = std::get_if<manifest::table_record>(&what);
      if (table == nullptr) return;
      out +=
          fmt::format("{}{} {}, {}, xxh3 {}", out.empty() ? "" : "; ", escaped(name), fmt::join(table->extents, " x "),
                      manifest::name_of(table->element_type), table->digest.text());
    });
    return out.empty() ? "none" : out;
  }

  void evaluations() {
    section("Evaluated lengths");
    if (card_.lengths.evaluated.empty()) {
      out_ += "None.\n";
      return;
    }
    head({"length", "range", "kind", "task", "placement", "metric", "value"});
    for (const evaluation& one : card_.lengths.evaluated) {
      row({fmt::format("{}", one.length), word(one.range), word(one.kind), escaped(one.task),
           one.placement.value() ? escaped(*one.placement.value()) : "not controlled", escaped(one.metric),
           fmt::format("{}", one.value)});
    }
  }

  void coverage() {
    const auto& taught = card_.coverage.value();
    section("Coverage of training");
    if (!taught) {
      out_ += "Not counted.\n";
      return;
    }
    out_ += fmt::format("{} sequences, the longest of {} rows, the last row at position {}.", taught->sequences,
                        taught->longest, taught->highest_position);
    if (const auto& low = taught->lowest_offset.value(); low && taught->highest_offset.value()) {
      out_ += fmt::format(" Offsets {} to {}.", *low, *taught->highest_offset.value());
    }
    out_ += "\n";
    if (!taught->tables.empty()) {
      out_ += "\n";
      head({"table", "rows", "read", fmt::format("read less than {} times", taught->enough)});
      for (const table_use& one : taught->tables) {
        row({escaped(one.table), fmt::format("{}", one.configured), fmt::format("{}", one.addressed),
             fmt::format("{}", one.below_enough)});
      }
    }
    if (!taught->not_counted.empty()) {
      out_ += fmt::format("\nNot counted: {}.\n", escaped(fmt::format("{}", fmt::join(taught->not_counted, ", "))));
    }
  }

  void tests() {
    section("Tests");
    const auto& audited = card_.audit.value();
    if (!audited) {
      out_ += "None was run.\n";
      return;
    }
    out_ += fmt::format("Of {}.\n\n", escaped(audited->name));
    head({"intervention", "what was done", "expected", "eager", "found", "change of outputs", "apart from eager",
          "tolerance", "result"});
    for (const finding_part& one : audited->findings) {
      row({word(one.intervention), escaped(one.what), word(one.expected), word(one.reference), word(one.found),
           fmt::format("{:.3g}", one.outputs), fmt::format("{:.3g}", one.from_reference),
           fmt::format("{:.3g}", one.tolerance),
           fmt::format("{}{}{}", one.passed() ? "as expected" : "FAULT", one.message.empty() ? "" : ", ",
                       escaped(one.message))});
    }
    for (const debt_part& one : audited->debts) {
      out_ += fmt::format("\nDebt, {}: {}.\n", word(one.debt), escaped(one.because));
    }
  }

  void not_claimed() {
    section("Not claimed");
    const auto say = [this](std::string_view sentence) { out_ += fmt::format("- {}\n", sentence); };
    const index_t most = longest();
    const auto& configured = card_.lengths.configured.value();
    if (most == 0) {
      say("Quality was not measured at any length.");
    } else if (!configured || *configured > most) {
      say(fmt::format("Quality above length {} was not measured.", most));
    }
    if (most > card_.lengths.trained) {
      say(fmt::format("Training held no sequence above length {}.", card_.lengths.trained));
    }
    std::vector<task_kind> missing;
    for (const task_kind kind :
         {task_kind::retrieval, task_kind::aggregation, task_kind::exact_ordering, task_kind::missing_evidence}) {
      const auto of_kind = [kind](const evaluation& one) { return one.kind == kind; };
      if (std::none_of(card_.lengths.evaluated.begin(), card_.lengths.evaluated.end(), of_kind)) {
        missing.push_back(kind);
      }
    }
    if (!missing.empty()) say(fmt::format("Kinds of tasks that were not evaluated: {}.", joined(missing)));
    if (const std::string failed = tests_failed(); !failed.empty()) say(fmt::format("Tests that failed: {}.", failed));
    if (const std::string open = tests_not_run(); !open.empty()) say(fmt::format("Tests that were not run: {}.", open));
    for (const std::string& sentence : card_.not_claimed) say(escaped(sentence));
  }
  [[nodiscard]] std::string tests_failed() const {
    std::vector<intervention> failed;
    if (const auto& audited = card_.audit.value()) {
      for (const finding_part& one : audited->findings) {
        const bool known = std::count(failed.begin(), failed.end(), one.intervention) > 0;
        if (!one.passed() && !known) failed.push_back(one.intervention);
      }
    }
    return failed.empty() ? "" : joined(failed);
  }
  /// The tests that every long-context claim needs, as far as they are missing.
  [[nodiscard]] std::string tests_not_run() const {
    const auto& audited = card_.audit.value();
    const auto ran = [&audited](intervention kind) {
      return audited && std::any_of(audited->findings.begin(), audited->findings.end(), [kind](const auto& one) {
               return one.intervention == kind && one.found != verdict::not_applicable;
             });
    };
    std::vector<std::string_view> open;
    if (!ran(intervention::shift_all)) open.emplace_back("the same content at another place");
    if (!ran(intervention::cached)) open.emplace_back("cached against whole");
    if (!ran(intervention::pad_left) && !ran(intervention::pad_right)) open.emplace_back("padding");
    return fmt::format("{}", fmt::join(open, ", "));
  }

  const positional_card& card_;
  std::string out_;
};

}  // namespace detail

/// A card as Markdown for a model card: tables and short sentences, headings of levels 2 and 3. Texts of the caller are
/// shown as they are, in one line. What the card does not hold is said under "Not claimed".
[[nodiscard]] inline std::string to_markdown(const positional_card& card) {
  return detail::card_writer(card).written();
}

}  // namespace posgeo::audit
