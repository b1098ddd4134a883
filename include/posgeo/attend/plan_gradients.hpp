// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/bias/score_bias.hpp>
#include <posgeo/content/content_term.hpp>
#include <posgeo/core/table_gradient.hpp>
#include <posgeo/model/plan.hpp>
#include <posgeo/transform/qk_transform.hpp>
#include <posgeo/value/value_term.hpp>

#include <tuple>
#include <type_traits>

namespace posgeo {

namespace detail {

/// The gradient that a term says it has; a term without one is refused before anybody asks.
template <class Term>
auto gradient_or_nothing(const Term& term) {
  if constexpr (says_gradient<Term>) {
    return term.gradient();
  } else {
    return nothing_learned{};
  }
}
template <class... Terms>
auto gradients_of(const std::tuple<Terms...>& terms) {
  return std::apply([](const auto&... term) { return std::tuple{gradient_or_nothing(term)...}; }, terms);
}

template <class Terms, class Visit, std::size_t... N>
void each_term(const Terms& terms, const Visit& visit, std::index_sequence<N...>) {
  (visit(std::get<N>(terms), std::integral_constant<std::size_t, N>{}), ...);
}
/// Calls visit(term, number) for each term of a tuple.
template <class Terms, class Visit>
void each_term(const Terms& terms, const Visit& visit) {
  each_term(terms, visit, std::make_index_sequence<std::tuple_size_v<Terms>>{});
}

/// The name of the n-th policy of a family, as far as the plan can say it.
template <class Plan>
std::string policy_name(const Plan& plan, std::string_view family, index_t n) {
  try {
    for (const description& policy : plan.method()) {
      if (policy.fields().front().what == description::value(std::string(family)) && n-- == 0) return policy.name();
    }
  } catch (const error&) {  // a policy that does not describe itself leaves the plan without names
  }
  return "a policy without a name";
}

template <class T>
struct backward_form {
  template <class Term>
  static constexpr bool of(family::qk_transform) {
    return transform_gradient<Term, T>;
  }
  template <class Term>
  static constexpr bool of(family::content_term) {
    return content_gradient<Term, T>;
  }
  template <class Term>
  static constexpr bool of(family::score_bias) {
    return bias_gradient<Term, T>;
  }
  template <class Term>
  static constexpr bool of(family::value_term) {
    return value_gradient<Term, T>;
  }
};

/// Whether each term of a family has its backward form; `said(n, has)` hears of each.
template <class Plan, class Family, class... Terms, class Said>
constexpr bool all_backward(const std::tuple<Terms...>*, const Said& said) {
  index_t n = 0;
  bool all = true;
  [[maybe_unused]] const auto ask = [&](bool has) {
    said(Family::name, n++, has);
    all = all && has;
  };
  (ask(backward_form<typename Plan::scalar>::template of<Terms>(Family{})), ...);
  return all;
}
template <class Plan, class Said>
constexpr bool all_backward(const Said& said) {
  using transforms = std::remove_cvref_t<decltype(std::declval<const Plan&>().transforms())>;
  using contents = std::remove_cvref_t<decltype(std::declval<const Plan&>().contents())>;
  using biases = std::remove_cvref_t<decltype(std::declval<const Plan&>().biases())>;
  using values = std::remove_cvref_t<decltype(std::declval<const Plan&>().values())>;
  const bool turned = all_backward<Plan, family::qk_transform>(static_cast<const transforms*>(nullptr), said);
  const bool read = all_backward<Plan, family::content_term>(static_cast<const contents*>(nullptr), said);
  const bool biased = all_backward<Plan, family::score_bias>(static_cast<const biases*>(nullptr), said);
  const bool valued = all_backward<Plan, family::value_term>(static_cast<const values*>(nullptr), said);
  return turned && read && biased && valued;
}
struct says_nothing {
  constexpr void operator()(std::string_view, index_t, bool) const noexcept {}
};
/// Whether every policy of the plan can be differentiated.
template <class Plan>
inline constexpr bool has_backward = all_backward<Plan>(says_nothing{});

/// Lists, by name, the policies whose terms have no backward form.
template <class Plan>
void check_backward(const Plan& plan, violations& found) {
  (void)all_backward<Plan>([&](std::string_view family, index_t n, bool has) {
    found.expect(has, errc::executor_refusal, "backward pass",
                 text("{} {}, {}", family, n, has ? std::string() : policy_name(plan, family, n)),
                 "gradient expressions of its compiled term", "none");
  });
}

}  // namespace detail

/// The gradients of everything that a plan's policies learn: one value for each policy of a family, in the order in
/// which the attention names them. A policy without learned numbers has nothing_learned at its place.
template <class Plan>
class plan_gradients_of {
 public:
  using T = typename Plan::scalar;

  /// Zeros. Throws: errc::executor_refusal for a policy without gradient expressions, by name.
  explicit plan_gradients_of(const Plan& plan) : plan_gradients_of(plan, checked(plan)) {}

  template <std::size_t N = 0>
  [[nodiscard]] auto& content() noexcept {
    return std::get<N>(contents_);
  }
  template <std::size_t N = 0>
  [[nodiscard]] auto& bias() noexcept {
    return std::get<N>(biases_);
  }
  template <std::size_t N = 0>
  [[nodiscard]] auto& value() noexcept {
    return std::get<N>(values_);
  }
  [[nodiscard]] auto& sink() noexcept { return std::get<0>(sinks_); }

  /// Calls visit(gradient) for the gradient of each policy: contents, biases, values, sink.
  template <class Visit>
  void each(const Visit& visit) const {
    const auto all = [&](const auto&... gradient) { (visit(gradient), ...); };
    std::apply(all, contents_);
    std::apply(all, biases_);
    std::apply(all, values_);
    std::apply(all, sinks_);
  }
  /// Calls visit(table) for each table_gradient of them.
  template <class Visit>
  void each_table(const Visit& visit) const {
    each([&](const auto& gradient) {
      for (const auto& table : gradient.tables()) visit(table);
    });
  }

  [[nodiscard]] bool same_shape(const plan_gradients_of& other) const {
    bool same = true;
    both(*this, other, [&same](const auto& mine, const auto& others) { same = same && mine.same_shape(others); });
    return same;
  }
  /// Adds the gradients of another batch or worker. Workers that are added in one order give one result.
  /// Throws: errc::shape_mismatch for gradients of other tables; nothing is added then.
  void add(const plan_gradients_of& other) {
    require(same_shape(other), errc::shape_mismatch, "plan gradients", "gradients to add",
            "those of the same attention", "others");
    both(*this, other, [](auto& mine, const auto& others) { mine.add(others); });
  }
  void reset() noexcept {
    const auto all = [](auto&... gradient) { (gradient.reset(), ...); };
    std::apply(all, contents_);
    std::apply(all, biases_);
    std::apply(all, values_);
    std::apply(all, sinks_);
  }
  /// Lets the terms that collect first hand over what they have.
  void finish(const Plan& plan) {
    finish(plan.contents(), contents_);
    finish(plan.biases(), biases_);
  }

 private:
  struct passed {};
  static passed checked(const Plan& plan) {
    violations found;
    detail::check_backward(plan, found);
    found.throw_if_any();
    return {};
  }
  plan_gradients_of(const Plan& plan, passed)
      : contents_(detail::gradients_of(plan.contents())),
        biases_(detail::gradients_of(plan.biases())),
        values_(detail::gradients_of(plan.values())),
        sinks_(detail::gradients_of(plan.sinks())) {}

  template <class Mine, class Others, class Visit, std::size_t... N>
  static void each_pair(Mine& mine, Others& others, const Visit& visit, std::index_sequence<N...>) {
    (visit(std::get<N>(mine), std::get<N>(others)), ...);
  }
  template <class Mine, class Visit>
  static void both(Mine& mine, const plan_gradients_of& other, const Visit& visit) {
    const auto pairs = [&](auto& m, const auto& o) {
      each_pair(m, o, visit, std::make_index_sequence<std::tuple_size_v<std::remove_cvref_t<decltype(o)>>>{});
    };
    pairs(mine.contents_, other.contents_);
    pairs(mine.biases_, other.biases_);
    pairs(mine.values_, other.values_);
    pairs(mine.sinks_, other.sinks_);
  }
  template <class Terms, class Gradients>
  static void finish(const Terms& terms, Gradients& gradients) {
    each_pair(
        terms, gradients,
        [](const auto& term, auto& gradient) {
          if constexpr (finishes_gradient<std::remove_cvref_t<decltype(term)>>) term.finish_gradient(gradient);
        },
        std::make_index_sequence<std::tuple_size_v<Terms>>{});
  }

  decltype(detail::gradients_of(std::declval<const Plan&>().contents())) contents_;
  decltype(detail::gradients_of(std::declval<const Plan&>().biases())) biases_;
  decltype(detail::gradients_of(std::declval<const Plan&>().values())) values_;
  decltype(detail::gradients_of(std::declval<const Plan&>().sinks())) sinks_;
};

/// Zero gradients of everything that the plan's policies learn. They are those of the attention, not of the call: every
/// plan of one attention adds to them. Throws: see plan_gradients_of.
template <class Plan>
[[nodiscard]] plan_gradients_of<Plan> plan_gradients(const Plan& plan) {
  return plan_gradients_of<Plan>(plan);
}

}  // namespace posgeo
