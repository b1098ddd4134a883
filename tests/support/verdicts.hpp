// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/attend/eager.hpp>
#include <posgeo/audit/expected.hpp>
#include <posgeo/audit/interventions.hpp>
#include <posgeo/call/prefill_chunk.hpp>
#include <posgeo/scale/inverse_sqrt_terms.hpp>

#include <array>
#include <cmath>
#include <limits>

#include "support/attention_inputs.hpp"
#include "support/catch.hpp"
#include "support/uneven_call.hpp"

// Runs an attention on a call and on its edits, and says what came of it.
namespace posgeo::test {

/// Hides padding, other sequences or the future, whichever it is told to: one type for every mask.
class chosen_mask {
 public:
  using family = posgeo::family::visibility;
  explicit chosen_mask(hides what) : what_(what) {}
  [[nodiscard]] hides hidden() const noexcept { return what_; }
  [[nodiscard]] reads positional_reads() const noexcept {
    const auto if_hidden = [this](hides part, reads what) { return includes(what_, part) ? what : reads::nothing; };
    return if_hidden(hides::padding, reads::padding) | if_hidden(hides::other_segments, reads::sequence) |
           if_hidden(hides::future, reads::ahead);
  }
  [[nodiscard]] chosen_mask unmasked() const noexcept {
    return chosen_mask(what_ & (hides::padding | hides::other_segments));
  }
  void check(const position_call& call, const heads&, violations& found) const {
    if (includes(what_, hides::future)) expect_same_frame(call, "mask", found);
  }
  class term {
   public:
    term(hides what, position_call call) : what_(what), call_(std::move(call)) {}
    [[nodiscard]] bool operator()(batch_index b, query_index i, key_index j) const noexcept {
      return (call_.active(b, j) || !includes(what_, hides::padding)) &&
             (call_.sequence(b, i) == call_.sequence(b, j) || !includes(what_, hides::other_segments)) &&
             (!includes(what_, hides::future) || call_.at(b, j) <= call_.at(b, i));
    }
    [[nodiscard]] key_range keys(batch_index, query_index) const noexcept {
      return {key_index{0}, key_index{call_.keys()}};
    }

   private:
    hides what_;
    position_call call_;
  };
  template <class T>
  [[nodiscard]] term compile(const position_call& call, const heads& layout) const {
    require_fit(*this, call, layout);
    return {what_, call};
  }

 private:
  hides what_;
};

inline const chosen_mask hides_all{hides::padding | hides::other_segments | hides::future};
inline const chosen_mask hides_rows{hides::padding | hides::other_segments};
inline const chosen_mask hides_nothing{hides::nothing};

/// Two streams in the middle of their sequences without a row of padding.
[[nodiscard]] inline position_call dense_call() {
  const std::array<call::prefill_entry, 2> entries{
      call::prefill_entry{.committed_length = 7, .first_position = 7, .length = 4, .past_length = 3, .sequence = 0},
      call::prefill_entry{.committed_length = 9, .first_position = 9, .length = 4, .past_length = 3, .sequence = 1}};
  return call::prefill_chunk({.entries = entries, .query_rows = 4, .key_rows = 7});
}

/// What the rows of a call hold, by the rows of the original; NaN where nobody may look.
[[nodiscard]] inline tensor<double, 4> gathered(const tensor<double, 4>& from, index_t entries,
                                                const std::vector<audit::row_source>& sources) {
  const index_t rows = entries == 0 ? 0 : static_cast<index_t>(sources.size()) / entries;
  tensor<double, 4> to({entries, from.extent(1), rows, from.extent(3)});
  for (index_t b = 0; b < entries; ++b) {
    for (index_t h = 0; h < from.extent(1); ++h) {
      for (index_t row = 0; row < rows; ++row) {
        const auto& source = sources[static_cast<std::size_t>(b * rows + row)];
        for (index_t d = 0; d < from.extent(3); ++d) {
          to(b, h, row, d) =
              source.any() ? from(source.entry, h, source.row, d) : std::numeric_limits<double>::quiet_NaN();
        }
      }
    }
  }
  return to;
}

struct run_of_call {
  attention_result<double> result;
  std::vector<audit::row_source> queries;
  std::vector<audit::row_source> keys;
};

template <class Attention>
[[nodiscard]] run_of_call run(const Attention& model, const attention_inputs<double>& content,
                              const audit::edited_call& one) {
  const position_call call(one.call);
  const auto plan = model.template compile<double>(call);
  const auto query = gathered(content.query, call.batch(), one.query_source);
  const auto key = gathered(content.key, call.batch(), one.key_source);
  const auto value = gathered(content.value, call.batch(), one.key_source);
  return {attend(eager{}, plan, {query.view(), key.view(), value.view()}, also::everything), one.query_source,
          one.key_source};
}

/// The largest difference of outputs, log-sum-exps and weights of an edited call from the original's.
[[nodiscard]] inline double largest_change(const run_of_call& before, const run_of_call& after) {
  const auto& [was, is] =
      std::pair<const attention_result<double>&, const attention_result<double>&>(before.result, after.result);
  const index_t queries = is.output.extent(2);
  const index_t keys = is.probabilities.extent(3);
  double largest = 0.0;
  const auto add = [&largest](double a, double b) {
    if (!(a == b)) largest = std::max(largest, std::isfinite(a - b) ? std::abs(a - b) : 1e300);
  };
  for (index_t b = 0; b < is.output.extent(0); ++b) {
    for (index_t i = 0; i < queries; ++i) {
      const auto& query = after.queries[static_cast<std::size_t>(b * queries + i)];
      if (!query.any()) continue;
      for (index_t h = 0; h < is.output.extent(1); ++h) {
        add(is.log_sum_exp(b, h, i), was.log_sum_exp(query.entry, h, query.row));
        for (index_t d = 0; d < is.output.extent(3); ++d) {
          add(is.output(b, h, i, d), was.output(query.entry, h, query.row, d));
        }
        for (index_t j = 0; j < keys; ++j) {
          const auto& key = after.keys[static_cast<std::size_t>(b * keys + j)];
          const bool mine = key.any() && key.entry == query.entry;
          add(is.probabilities(b, h, i, j), mine ? was.probabilities(query.entry, h, query.row, key.row) : 0.0);
        }
      }
    }
  }
  return largest;
}

/// What the eager executor, in double, does with an edit.
template <class Attention>
[[nodiscard]] audit::verdict found_by_eager(const Attention& model, const position_call& call, const audit::edit& made,
                                            const attention_inputs<double>& content) {
  const run_of_call before = run(model, content, audit::detail::with_own_sources(call.described()));
  double largest = 0.0;
  for (const audit::edited_call& one : made.calls) {
    try {
      largest = std::max(largest, largest_change(before, run(model, content, one)));
    } catch (const error&) {
      return audit::verdict::refused;
    }
  }
  INFO("largest change " << largest);
  CHECK((largest < 1e-8 || largest > 1e-5));  // nothing in between: no rounding passes for a change
  if (largest > 1e-5) return audit::verdict::changes;
  using enum audit::intervention;
  const bool moves = made.kind == permute_rows || made.kind == permute_content || made.kind == permute_content_unmasked;
  return moves ? audit::verdict::equivariant : audit::verdict::invariant;
}

/// Holds an attention to its declared verdict under every intervention; says how many applied.
template <class Attention>
int expect_declared_verdicts(const Attention& model, const position_call& call,
                             const audit::intervention_settings& settings = {}) {
  const attention_inputs<double> content(model.layout(), call, model.layout().dim, 7);
  int applied = 0;
  for (const audit::edit& made : audit::all_interventions(call, settings)) {
    INFO(audit::name_of(made.kind) << ": " << made.what);
    const audit::verdict declared = audit::expected(made, call, model);
    if (made.calls.empty()) {
      CHECK(declared == audit::verdict::not_applicable);
      continue;
    }
    ++applied;
    const audit::verdict found =
        made.mask == audit::edited_mask::everything && !model.unmasked().check(call).empty() ? audit::verdict::refused
        : made.mask == audit::edited_mask::everything ? found_by_eager(model.unmasked(), call, made, content)
                                                      : found_by_eager(model, call, made, content);
    CHECK(audit::name_of(found) == audit::name_of(declared));
  }
  return applied;
}

/// The same for one policy beside the mask: of a call whose padding, other sequences and future are hidden, and of one
/// that has none of them, where everybody sees everybody unless keys ahead have no number.
template <class Policy>
void expect_declared_verdicts_of(const Policy& policy, const heads& layout) {
  const auto with = [&](const chosen_mask& mask) {
    return attention{layout, scale::inverse_sqrt_terms{}, mask, policy};
  };
  {
    INFO("everything hidden");
    CHECK(expect_declared_verdicts(with(hides_all), uneven_call()) == 15);
  }
  if (with(hides_nothing).looks_back_only()) {
    CHECK(audit::expected(audit::intervention::shift_all, audit::declared_by(with(hides_rows))) ==
          audit::verdict::refused);
    return;
  }
  {
    INFO("the future seen");
    CHECK(expect_declared_verdicts(with(hides_rows), uneven_call()) == 15);
  }
  // Each entry is one sequence, so nothing need be hidden.
  INFO("nothing hidden");
  CHECK(expect_declared_verdicts(with(hides_nothing), dense_call()) == 15);
}

}  // namespace posgeo::test
