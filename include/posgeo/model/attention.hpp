// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/bias/score_bias.hpp>
#include <posgeo/content/content_term.hpp>
#include <posgeo/core/head_parts.hpp>
#include <posgeo/core/narrow.hpp>
#include <posgeo/core/positional_range.hpp>
#include <posgeo/core/reads.hpp>
#include <posgeo/model/plan.hpp>
#include <posgeo/model/policy_descriptions.hpp>
#include <posgeo/scale/inverse_sqrt_head_dim.hpp>
#include <posgeo/scale/score_scale.hpp>
#include <posgeo/scale/sink.hpp>
#include <posgeo/transform/qk_transform.hpp>
#include <posgeo/value/value_term.hpp>
#include <posgeo/visible/everything.hpp>
#include <posgeo/visible/visibility.hpp>

namespace posgeo {

/// Whether P opts into a family that an attention is made of and has that family's expressions.
template <class P>
concept attention_policy = qk_transform<P> || content_term<P> || score_bias<P> || value_term<P> || visibility<P> ||
    score_scale<P> || std::same_as<P, scale::softcap> || std::same_as<P, scale::sink>;

namespace detail {

template <class Family, class... Policies>
inline constexpr int members = (0 + ... + (std::same_as<typename Policies::family, Family> ? 1 : 0));

/// The compiled term of a policy of the family, or nothing, as a tuple.
template <class Family, class T, class P>
auto term_of(const P& policy, const position_call& call, const heads& layout) {
  if constexpr (std::same_as<typename P::family, Family>) {
    return std::tuple<compiled_t<P, T>>{policy.template compile<T>(call, layout)};
  } else {
    return std::tuple<>{};
  }
}

template <class P>
auto unmasked(const P& policy) {
  if constexpr (visibility<P>) {
    return visible::without_mask(policy);
  } else {
    return policy;
  }
}

}  // namespace detail

/// Policies put together. One head's output row is made in this order, and in no other:
///   1. transforms turn the query and key rows;
///   2. raw score = query . key + content terms;
///   3. times the scale;
///   4. softcap, if it is placed before the biases;
///   5. plus the score biases, which the scale never touches;
///   6. softcap, if it is placed after them;
///   7. visibility: hidden keys leave, by selection (several policies: all of them must show the key);
///   8. softmax, natural logarithm, over them and the sink if there is one; a row that sees nothing has output 0, and
///      its log-sum-exp is -infinity or the sink;
///   9. weighted values plus value terms.
/// Throws: errc::head_count and errc::shape_mismatch, when built, for an impossible head layout; errc::description,
///         when built, for a policy whose describe() has a field "family".
/// Source: docs/conventions.md.
template <class... Policies>
class attention {
  static_assert((attention_policy<Policies> && ...),
                "attention: a policy names no family of an attention, or lacks its family's expressions");
  static_assert(detail::members<family::score_scale, Policies...> == 1,
                "attention: name exactly one score scale (scale::none where the model has none)");
  static_assert(detail::members<family::visibility, Policies...> >= 1,
                "attention: name who may see whom (visible::everything if everybody may)");
  static_assert(detail::members<family::softcap, Policies...> <= 1, "attention: at most one softcap");
  static_assert(detail::members<family::qk_transform, Policies...> <= 1, "attention: at most one query/key transform");
  static_assert(detail::members<family::softmax_sink, Policies...> <= 1, "attention: at most one softmax sink");

 public:
  explicit attention(const posgeo::heads& layout, Policies... policies)
      : layout_(layout), policies_(std::move(policies)...), method_(policies_) {
    violations found;
    posgeo::check(layout_, found);
    found.throw_if_any();
  }

  [[nodiscard]] const posgeo::heads& layout() const noexcept { return layout_; }
  /// The policies, in the order in which the attention names them.
  [[nodiscard]] const std::tuple<Policies...>& policies() const noexcept { return policies_; }

  /// What each policy is, in the order in which the attention names them: the first field is "family", the others are
  /// the policy's own. The head layout is none of it.
  /// Throws: errc::description if a policy has no describe().
  [[nodiscard]] std::vector<description> describe() const { return method_.all(); }

  /// The attention of some of its heads: each policy's part, in a layout of their own. The numbers of head n of the
  /// part are those of head slice.global(n) of the whole. Throws: errc::head_partition for a slice of another layout,
  /// for a part (slice the whole), and for a score scale that
  ///         counts heads; a policy that may hold numbers of each head and has no part(slice) does not compile.
  [[nodiscard]] attention part(const head_slice& slice) const {
    require(!slice_, errc::head_partition, "attention", "heads to take a part of", "those of the whole",
            "those of a part");
    const auto said = [](const posgeo::heads& h) {
      return text("{} query heads, {} key heads, head_dim {}", h.query, h.key_value, h.dim);
    };
    const posgeo::heads& whole = slice.whole();
    require(whole.query == layout_.query && whole.key_value == layout_.key_value && whole.dim == layout_.dim,
            errc::head_partition, "attention", "whole of the slice", said(layout_), said(whole));
    attention out = std::apply(
        [&](const auto&... policy) { return attention(slice.layout(), part_of(policy, slice)...); }, policies_);
    each([&](const auto& policy) {
      if constexpr (score_scale<std::remove_cvref_t<decltype(policy)>>) {
        const double factor = policy.factor(layout_, dot_products());
        const double of_part = policy.factor(out.layout_, out.dot_products());
        require(factor == of_part, errc::head_partition, "attention", "score scale of the part", factor, of_part);
      }
    });
    out.slice_ = slice;
    return out;
  }
  /// The heads of the whole that these are, if this is a part.
  [[nodiscard]] const std::optional<head_slice>& slice() const noexcept { return slice_; }

  /// Everything that the visibility policies together promise to hide.
  [[nodiscard]] hides hidden() const noexcept {
    hides all = hides::nothing;
    each([&all](const auto& policy) {
      if constexpr (visibility<std::remove_cvref_t<decltype(policy)>>) all = all | policy.hidden();
    });
    return all;
  }

  /// Whether a policy has no number for a key after the query: keys there must be hidden.
  [[nodiscard]] bool looks_back_only() const noexcept {
    bool any = false;
    each([&any](const auto& policy) {
      if constexpr (posgeo::looks_back_only<std::remove_cvref_t<decltype(policy)>>) {
        any = any || policy.looks_back_only();
      }
    });
    return any;
  }

  /// What of a call its policies read together.
  [[nodiscard]] reads positional_reads() const noexcept {
    static_assert((says_reads<Policies> && ...),
                  "attention: a policy does not say what it reads of a call: reads positional_reads() const noexcept");
    reads all = reads::nothing;
    each([&all](const auto& policy) {
      if constexpr (says_reads<std::remove_cvref_t<decltype(policy)>>) all = all | policy.positional_reads();
    });
    // A content term meets rows that a transform has turned by where each stands, not by how far two are apart.
    constexpr bool meets_turned_rows = detail::members < family::qk_transform,
                   Policies... >> 0 && detail::members < family::content_term, Policies... >> 0;
    return meets_turned_rows ? all | reads::absolute : all;
  }
  /// The positions and offsets that all of its policies take.
  [[nodiscard]] positional_range range() const noexcept {
    positional_range all;
    each([&all](const auto& policy) { all = all & range_of(policy); });
    return all;
  }

  /// The same attention where everybody sees everybody: padding and other sequences stay hidden, by visible::active and
  /// visible::segments.
  [[nodiscard]] auto unmasked() const {
    return std::apply(
        [this](const auto&... policy) {
          return attention<decltype(detail::unmasked(policy))...>(layout_, detail::unmasked(policy)...);
        },
        policies_);
  }

  /// How many dot products a raw score sums: query . key, and those that the content terms count.
  [[nodiscard]] index_t dot_products() const noexcept {
    index_t count = 1;
    each([&count](const auto& policy) {
      if constexpr (requires { policy.dot_products(); }) count += policy.dot_products();
    });
    return count;
  }

  /// Lists everything that keeps the attention from being compiled for the call.
  [[nodiscard]] violations check(const position_call& call) const {
    violations found;
    each([&](const auto& policy) { check_policy(policy, call, layout_, found); });
    each([&](const auto& policy) {
      if constexpr (std::same_as<std::remove_cvref_t<decltype(policy)>, scale::inverse_sqrt_head_dim>) {
        found.expect(dot_products() == 1, errc::scale_settings, "attention", "score scale",
                     text("one that counts {} dot products (scale::inverse_sqrt_terms)", dot_products()),
                     "inverse_sqrt_head_dim, which counts one");
      }
    });
    check_special_rows(found);
    check_graphs(found);
    const hides hidden_keys = hidden();
    found.expect(!call.key_space().has_padding() || includes(hidden_keys, hides::padding), errc::padding_visible,
                 "attention", "padded keys of the call", "a visibility that hides them (visible::active)", "none");
    found.expect(!call.mixes_sequences() || includes(hidden_keys, hides::other_segments), errc::segment_isolation,
                 "attention", "sequences that the call mixes", "a visibility that isolates them (visible::segments)",
                 "none");
    each([&](const auto& policy) {
      if constexpr (posgeo::looks_back_only<std::remove_cvref_t<decltype(policy)>>) {
        found.expect(!policy.looks_back_only() || includes(hidden_keys, hides::future), errc::future_visible,
                     "attention", "keys after the query, of which a causal bias or term says nothing",
                     "a visibility that hides them (visible::causal)", "none");
      }
    });
    return found;
  }

  /// Binds every policy to the call; T is the type that the plan computes in.
  /// Throws: everything that check(call) lists; errc::scale_settings and errc::non_finite for numbers that T cannot
  /// hold.
  template <class T = float>
  [[nodiscard]] auto compile(const position_call& call) const {
    check(call).throw_if_any();
    double factor = 1.0;
    std::optional<scale::softcap> cap;
    each([&](const auto& policy) {
      using P = std::remove_cvref_t<decltype(policy)>;
      if constexpr (score_scale<P>) factor = policy.factor(layout_, dot_products());
      if constexpr (std::same_as<P, scale::softcap>) cap = policy;
    });
    const auto require_usable = [](double value, std::string_view object) {
      require(fits<T>(value) && static_cast<T>(value) > T{0}, errc::scale_settings, object, "value",
              "one that the type of the plan can hold", value);
    };
    require_usable(factor, "score scale");
    if (cap) require_usable(cap->cap(), "softcap");
    const auto bind = [&](auto transforms, auto contents, auto biases, auto values, auto visibilities, auto sinks) {
      return plan<T, decltype(transforms), decltype(contents), decltype(biases), decltype(values),
                  decltype(visibilities), decltype(sinks)>(layout_, call, method_, factor, cap, std::move(transforms),
                                                           std::move(contents), std::move(biases), std::move(values),
                                                           std::move(visibilities), std::move(sinks));
    };
    return bind(terms<family::qk_transform, T>(call), terms<family::content_term, T>(call),
                terms<family::score_bias, T>(call), terms<family::value_term, T>(call),
                terms<family::visibility, T>(call), terms<family::softmax_sink, T>(call));
  }

 private:
  /// Policies that have a rule for a [CLS] row must agree where it stands.
  void check_special_rows(violations& found) const {
    std::optional<std::optional<position>> first;
    const auto said = [](const std::optional<position>& cls) {
      return [cls] { return cls ? fmt::format("position {}", cls->value()) : std::string("none"); };
    };
    each([&](const auto& policy) {
      if constexpr (requires {
                      { policy.cls() } -> std::same_as<std::optional<position>>;
                    }) {
        const std::optional<position> cls = policy.cls();
        if (!first) first.emplace(cls);
        found.expect(*first == cls, errc::special_row, "attention", "[CLS] of its policies", said(*first), said(cls));
      }
    });
  }

  /// Policies that read graphs must read the same ones.
  void check_graphs(violations& found) const {
    each([&](const auto& a) {
      each([&]([[maybe_unused]] const auto& b) {
        if constexpr (requires { a.graphs() == b.graphs(); }) {
          found.expect(a.graphs() == b.graphs(), errc::graph_structure, "attention", "graphs of its policies",
                       "the same for all", "others");
        }
      });
    });
  }

  template <class Visit>
  void each(const Visit& visit) const {
    std::apply([&](const auto&... policy) { (visit(policy), ...); }, policies_);
  }
  template <class Family, class T>
  [[nodiscard]] auto terms(const position_call& call) const {
    return std::apply(
        [&](const auto&... policy) { return std::tuple_cat(detail::term_of<Family, T>(policy, call, layout_)...); },
        policies_);
  }

  posgeo::heads layout_;
  std::tuple<Policies...> policies_;
  policy_descriptions method_;
  std::optional<head_slice> slice_;
};

}  // namespace posgeo
