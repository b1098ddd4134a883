// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/audit/confusion_parts.hpp>
#include <posgeo/call/position_call.hpp>
#include <posgeo/core/policy.hpp>

#include <concepts>
#include <functional>
#include <utility>

namespace posgeo::audit {

/// Writes out what a policy gives a call and its transformed rows. Throws: what the policy throws when compiled.
using policy_function = std::function<policy_numbers(const position_call&, const attention_rows&)>;

namespace detail {

template <class P, class Family>
inline constexpr bool is_of = std::same_as<typename P::family, Family>;

/// Whether a policy may be asked about keys after the query: one that has no number for them must not be.
template <class P>
[[nodiscard]] bool answers_ahead(const P& policy) {
  constexpr bool clips = requires { policy.classes()(relative_offset{}); };
  if constexpr (!clips && is_of<P, family::content_term> && requires { policy.looks_back_only(); }) {
    return !policy.looks_back_only();
  } else {
    return true;
  }
}

/// Calls visit(b, h, i, j) for every pair of every query head.
template <class Visit>
void each_pair(const attention_rows& rows, const Visit& visit) {
  for (const batch_index b : indices<batch_index>(rows.batch)) {
    for (const head_index h : indices<head_index>(rows.layout.query)) {
      for (const query_index i : indices<query_index>(rows.queries)) {
        for (const key_index j : indices<key_index>(rows.keys)) visit(b, h, i, j);
      }
    }
  }
}

template <class Term>
void turn_rows(const Term& term, attention_rows rows, policy_numbers& out) {
  const index_t group = rows.layout.query / rows.layout.key_value;
  for (const batch_index b : indices<batch_index>(rows.batch)) {
    for (const head_index h : indices<head_index>(rows.layout.query)) {
      for (const query_index i : indices<query_index>(rows.queries)) {
        term.query(b, h, i, rows.query_row(b.value(), h.value(), i.value()));
      }
    }
    for (index_t shared = 0; shared < rows.layout.key_value; ++shared) {
      for (const key_index j : indices<key_index>(rows.keys)) {
        term.key(b, head_index{shared * group}, j, rows.key_row(b.value(), shared, j.value()));
      }
    }
  }
  out.query = std::move(rows.query);
  out.key = std::move(rows.key);
}

}  // namespace detail

/// The policy as a function of a call. A content term without numbers for keys after the query gives them 0.
template <class P>
[[nodiscard]] policy_function as_numbers(P policy, const heads& layout) {
  return [policy = std::move(policy), layout](const position_call& call, const attention_rows& rows) {
    using detail::is_of;
    policy_numbers out;
    const auto term = policy.template compile<double>(call, layout);
    if constexpr (is_of<P, family::qk_transform>) {
      detail::turn_rows(term, rows, out);
    } else if constexpr (is_of<P, family::score_bias>) {
      detail::each_pair(rows, [&](batch_index b, head_index h, query_index i, key_index j) {
        out.pairs.push_back(term(b, rows.asked(h), i, j));
      });
    } else if constexpr (is_of<P, family::content_term>) {
      const bool ahead = detail::answers_ahead(policy) || !call.same_frame();
      detail::each_pair(rows, [&](batch_index b, head_index h, query_index i, key_index j) {
        const bool answers = ahead || call.offset(b, i, j).value() <= 0;
        const index_t shared = rows.key_heads[static_cast<std::size_t>(h.value())];
        out.pairs.push_back(answers ? term(b, rows.asked(h), i, j, rows.query_row(b.value(), h.value(), i.value()),
                                           rows.key_row(b.value(), shared, j.value()))
                                    : 0.0);
      });
    } else if constexpr (is_of<P, family::value_term>) {
      const auto width = static_cast<std::size_t>(rows.value_dim);
      out.rows.resize(rows.pairs() * width);
      detail::each_pair(rows, [&](batch_index b, head_index h, query_index i, key_index j) {
        double* const row = out.rows.data() + rows.pair(b.value(), h.value(), i.value(), j.value()) * width;
        term.accumulate(b, rows.asked(h), i, j, 1.0, std::span<double>(row, width));
      });
    } else if constexpr (is_of<P, family::visibility>) {
      for (const batch_index b : indices<batch_index>(rows.batch)) {
        for (const query_index i : indices<query_index>(rows.queries)) {
          for (const key_index j : indices<key_index>(rows.keys)) out.seen.push_back(term(b, i, j) ? 1 : 0);
        }
      }
    } else {
      static_assert(is_of<P, family::softmax_sink>);
      for (const head_index h : indices<head_index>(rows.layout.query)) out.heads.push_back(term(h));
    }
    return out;
  };
}

}  // namespace posgeo::audit
