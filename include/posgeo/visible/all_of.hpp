// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/core/description.hpp>
#include <posgeo/core/reads.hpp>
#include <posgeo/visible/everything.hpp>
#include <posgeo/visible/visibility.hpp>

#include <algorithm>
#include <tuple>

namespace posgeo::visible {

/// A key is seen if every part shows it.
/// Shapes: one answer for each (batch, query, key).
/// Throws: what the parts throw.
/// Source: none; the conjunction of masks.
template <visibility... Parts>
requires(sizeof...(Parts) > 0) class all_of {
 public:
  using family = posgeo::family::visibility;

  explicit all_of(Parts... parts) : parts_(std::move(parts)...) {}

  [[nodiscard]] hides hidden() const noexcept {
    return std::apply([](const auto&... part) { return (part.hidden() | ...); }, parts_);
  }
  [[nodiscard]] description describe() const requires(described_policy<Parts>&&...) {
    return std::apply(
        [](const auto&... part) {
          return description("all_of").with("parts", std::vector<description>{part.describe()...});
        },
        parts_);
  }
  [[nodiscard]] reads positional_reads() const noexcept requires(says_reads<Parts>&&...) {
    return std::apply([](const auto&... part) { return (part.positional_reads() | ...); }, parts_);
  }
  void check(const position_call& call, const heads& layout, violations& found) const {
    std::apply([&](const auto&... part) { (check_policy(part, call, layout, found), ...); }, parts_);
  }

  /// The same of the parts that hide nothing by where rows stand, and of visible::everything for the others.
  [[nodiscard]] auto unmasked() const {
    return std::apply(
        [](const auto&... part) { return all_of<decltype(without_mask(part))...>(without_mask(part)...); }, parts_);
  }

  template <class... Terms>
  class term {
   public:
    explicit term(Terms... terms) : terms_(std::move(terms)...) {}
    [[nodiscard]] bool operator()(batch_index b, query_index i, key_index j) const noexcept {
      return std::apply([&](const auto&... part) { return (part(b, i, j) && ...); }, terms_);
    }
    [[nodiscard]] key_range keys(batch_index b, query_index i) const noexcept {
      return std::apply(
          [&](const auto&... part) {
            return key_range{std::max({part.keys(b, i).begin...}), std::min({part.keys(b, i).end...})};
          },
          terms_);
    }
    [[nodiscard]] visibility_rule rule() const noexcept requires(ruled_visibility<Terms>&&...) {
      return std::apply([](const auto&... part) { return (visibility_rule{} & ... & part.rule()); }, terms_);
    }

   private:
    std::tuple<Terms...> terms_;
  };

  template <class T>
  [[nodiscard]] auto compile(const position_call& call, const heads& layout) const {
    return std::apply(
        [&](const auto&... part) { return term<compiled_t<Parts, T>...>{part.template compile<T>(call, layout)...}; },
        parts_);
  }

 private:
  std::tuple<Parts...> parts_;
};

}  // namespace posgeo::visible
