// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/attend/eager.hpp>
#include <posgeo/audit/compare.hpp>
#include <posgeo/audit/debts.hpp>
#include <posgeo/audit/expected.hpp>
#include <posgeo/audit/function.hpp>
#include <posgeo/audit/interventions.hpp>

namespace posgeo::audit {

/// How an attention is examined.
struct examination {
  std::string name;                                         ///< of what is examined, for the report
  std::optional<std::vector<edit>> edits = std::nullopt;    ///< left out: all_interventions(call)
  padding_content padding = padding_content::not_a_number;  ///< what rows hold that are no tokens
  std::optional<double> unit_roundoff = std::nullopt;       ///< of the function's numbers; left out: that of T
  const coverage* trained = nullptr;                        ///< what training taught, if it was counted
};

namespace detail {

/// A run, or why there is none.
struct attempt {
  std::optional<observation> seen;
  std::string refusal;
};

/// What an edit without effect is called.
[[nodiscard]] constexpr verdict unchanged(intervention kind) noexcept {
  const bool rows_move = kind == intervention::permute_rows || kind == intervention::permute_content ||
                         kind == intervention::permute_content_unmasked;
  return rows_move ? verdict::equivariant : verdict::invariant;
}

/// What an attention and the content of its rows declare together.
template <class Attention, class Content>
[[nodiscard]] declaration declared_with(const Attention& attention, const Content& content) {
  declaration both = declared_by(attention);
  both.content = content.positional_reads();
  both.range = both.range & range_of(content);
  return both;
}

/// One attention under examination, with its runs of the call as it is.
template <class T, class Function, class Attention, class Content>
class examiner {
 public:
  examiner(const Function& function, const Attention& attention, const position_call& call, const Content& content,
           const examination& settings)
      : function_(function), attention_(attention), call_(call), content_(content), settings_(settings) {
    const std::vector<edited_call> whole{unedited(call)};
    reference_ = of_reference(whole);
    for (const also wanted : {also::everything, also::log_sum_exp, also::nothing}) {
      wanted_ = wanted;
      found_ = of_function(whole);
      if (found_.seen) break;  // what a function refuses to give it is not asked for again
    }
    if (reference_.seen && found_.seen) leave_out_what_is_not_given(*reference_.seen, *found_.seen);
  }

  [[nodiscard]] const attempt& reference() const noexcept { return reference_; }
  [[nodiscard]] const attempt& found() const noexcept { return found_; }

  /// How far the function is from the reference in a run of both, and what rounding may do.
  [[nodiscard]] static double between(const observation& reference, const observation& found) {
    const changes by = compare(reference, found);
    return std::max(by.outputs, by.log_sum_exp.value_or(0.0));
  }
  [[nodiscard]] double tolerance(const observation& other, double u) const {
    magnitudes most = other.largest;
    if (reference_.seen) most.add(reference_.seen->largest);
    return rounding_of(most, attention_.layout().dim, u);
  }
  [[nodiscard]] double unit_roundoff() const {
    return settings_.unit_roundoff.value_or(static_cast<double>(std::numeric_limits<T>::epsilon()) / 2.0);
  }

  [[nodiscard]] finding examine(const edit& one, verdict expected) const {
    finding out{.kind = one.kind, .what = one.what, .expected = expected};
    const verdict stays = unchanged(one.kind);
    attempt reference = of_reference(one.calls);
    attempt found = of_function(one.calls);
    if (!reference_.seen) reference = {std::nullopt, reference_.refusal};
    if (!found_.seen) found = {std::nullopt, found_.refusal};
    if (reference.seen && found.seen) leave_out_what_is_not_given(*reference.seen, *found.seen);
    const auto judged = [&](const attempt& before, const attempt& after, double tolerated, changes& measured) {
      if (!after.seen) return verdict::refused;
      measured = compare(*before.seen, *after.seen);
      return largest(measured) <= tolerated ? stays : verdict::changes;
    };
    const observation* const sized = reference.seen ? &*reference.seen : found.seen ? &*found.seen : nullptr;
    const double exact = sized == nullptr ? 0.0 : tolerance(*sized, 0x1p-53);
    out.tolerance = sized == nullptr ? 0.0 : tolerance(*sized, unit_roundoff());
    changes of_reference_run;
    out.reference = judged(reference_, reference, exact, of_reference_run);
    out.found = judged(found_, found, out.tolerance, out.measured);
    const bool lost = out.found == stays && largest(of_reference_run) <= 2.0 * out.tolerance;
    if (lost && out.reference == verdict::changes) out.reference = stays;  // a change that rounding in T may hide
    if (reference.seen && found.seen) out.from_reference = between(*reference.seen, *found.seen);
    out.message = found.seen ? reference.refusal : found.refusal;
    return out;
  }

 private:
  template <class Run>
  [[nodiscard]] static attempt tried(const Run& run) {
    try {
      return {run(), {}};
    } catch (const error& refusal) {
      return {std::nullopt, refusal.what()};
    }
  }
  [[nodiscard]] attempt of_reference(const std::vector<edited_call>& calls) const {
    return tried([&] {
      return observe<double, T>(as_function(eager{}), attention_, call_, calls, content_,
                                {settings_.padding, also::everything});
    });
  }
  [[nodiscard]] attempt of_function(const std::vector<edited_call>& calls) const {
    return tried([&] {
      return observe<T, T>(function_, attention_, call_, calls, content_, {settings_.padding, wanted_});
    });
  }
  /// Both runs are judged by what the function gives.
  static void leave_out_what_is_not_given(observation& reference, const observation& found) {
    if (found.log_sum_exp.values().empty()) reference.log_sum_exp = {};
    if (found.scores.values().empty()) {
      reference.scores = {};
      reference.exact_weights = found.exact_weights;
    }
  }

  const Function& function_;
  const Attention& attention_;
  const position_call& call_;
  const Content& content_;
  const examination& settings_;
  also wanted_ = also::everything;
  attempt reference_;
  attempt found_;
};

}  // namespace detail

/// Holds a function against interventions on a call: the content of the rows stays, something of the call is edited,
/// and what follows is measured, beside what the eager executor does in double and what the policies declare. The
/// function computes in T. What it does not give is done without: weights are read by values that are 1 at one key.
/// An audit shows what numbers depend on. It does not show how well a model uses them.
/// Units:  outputs in those of the values; score differences and log-sum-exp are natural logarithms.
/// Throws: what the attention's check of the call as it is lists; errc::executor_refusal with the message where the
///         function or the content refuses it; errc::description for a policy that does not say what it is. What they
///         throw for an edited call is a verdict.
/// Cost:   for each edited call a run of both, and, without probabilities, one for each `value dim` keys.
template <class T = float, class Function, class Attention, audited_content Content = random_content>
[[nodiscard]] report examine(const Function& function, const Attention& attention, const position_call& call,
                             const examination& settings, const Content& content = {}) {
  report out{.name = settings.name, .method = content.describe()};
  for (const description& policy : attention.describe()) out.method.push_back(policy);
  attention.check(call).throw_if_any();
  const detail::examiner<T, Function, Attention, Content> kept(function, attention, call, content, settings);
  require(kept.reference().seen.has_value() && kept.found().seen.has_value(), errc::executor_refusal, "audit",
          "the call as it is", "one that the function takes", kept.found().refusal + kept.reference().refusal);
  out.from_reference = kept.between(*kept.reference().seen, *kept.found().seen);
  out.tolerance = kept.tolerance(*kept.found().seen, kept.unit_roundoff());

  const std::vector<edit> edits = settings.edits ? *settings.edits : all_interventions(call);
  const auto everybody = attention.unmasked();
  const declaration masked_says = detail::declared_with(attention, content);
  const declaration everybody_says = detail::declared_with(everybody, content);
  std::optional<detail::examiner<T, Function, std::remove_cv_t<decltype(everybody)>, Content>> unmasked;
  for (const edit& one : edits) {
    const verdict declared = expected(one, call, one.mask == edited_mask::kept ? masked_says : everybody_says);
    if (one.calls.empty()) {
      out.findings.push_back({.kind = one.kind,
                              .what = one.what,
                              .expected = declared,
                              .reference = verdict::not_applicable,
                              .found = verdict::not_applicable});
    } else if (one.mask == edited_mask::everything) {
      if (!unmasked) unmasked.emplace(function, everybody, call, content, settings);
      out.findings.push_back(unmasked->examine(one, declared));
    } else {
      out.findings.push_back(kept.examine(one, declared));
    }
  }

  std::vector<read_by_call> reads_of_calls;
  const auto add = [&](const call_description& described, std::string what) {
    coverage one;
    one.observe(attention.template compile<double>(position_call(described)));
    reads_of_calls.push_back({std::move(what), one.counts()});
  };
  add(call.described(), "the call");
  for (std::size_t n = 0; n < edits.size(); ++n) {
    if (edits[n].kind != intervention::stretch_gap || out.findings[n].reference == verdict::refused) continue;
    for (const edited_call& edited : edits[n].calls) {
      add(edited.call, fmt::format("{} ({})", name_of(edits[n].kind), edits[n].what));
    }
  }
  out.debts = debts_of(out.findings, reads_of_calls,
                       {masked_says.all(), masked_says.range, attention.hidden(), settings.trained});
  return out;
}

}  // namespace posgeo::audit
