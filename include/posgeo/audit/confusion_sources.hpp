// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/audit/confusion_numbers.hpp>
#include <posgeo/audit/confusion_policies.hpp>
#include <posgeo/model/attention.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

namespace posgeo::audit {

/// One policy of an attention without its type. Units of `numbers`: those of the policy.
struct policy_source {
  std::string_view family;
  std::string name;
  bool reads_table = false;  ///< learned rows that an offset picks
  hides hidden = hides::nothing;
  policy_function numbers;
  std::vector<policy_edit> edits;
};

/// An attention without its type: what its policies give, its scale and its cap.
struct attention_source {
  heads layout;
  std::vector<policy_source> policies;
  double scale = 1.0;
  index_t dot_products = 1;
  std::optional<scale::softcap> cap;
};

/// Throws: nothing of its own.
template <class... Policies>
[[nodiscard]] attention_source source_of(const attention<Policies...>& model) {
  attention_source out{.layout = model.layout(), .policies = {}, .dot_products = model.dot_products(), .cap = {}};
  const auto add = [&](const auto& policy) {
    using P = std::remove_cvref_t<decltype(policy)>;
    if constexpr (score_scale<P>) {
      out.scale = policy.factor(model.layout(), model.dot_products());
    } else if constexpr (std::same_as<P, scale::softcap>) {
      out.cap = policy;
    } else {
      policy_source one{.family = P::family::name, .name = std::string(P::family::name), .numbers = {}, .edits = {}};
      if constexpr (described_policy<P>) {
        const description said = policy.describe();
        one.name = said.name();
        one.reads_table =
            said.find("table") != nullptr || said.find("key_table") != nullptr || said.find("query_table") != nullptr;
      }
      if constexpr (visibility<P>) one.hidden = policy.hidden();
      one.numbers = as_numbers(policy, model.layout());
      one.edits = edits_of(policy, model.layout());
      out.policies.push_back(std::move(one));
    }
  };
  std::apply([&](const auto&... policy) { (add(policy), ...); }, model.policies());
  return out;
}

}  // namespace posgeo::audit
