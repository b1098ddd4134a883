// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/core/description.hpp>
#include <posgeo/core/policy.hpp>

#include <memory>
#include <string_view>
#include <tuple>
#include <vector>

namespace posgeo {

namespace detail {

/// The family of the first policy that cannot say what it is, or nothing.
template <class... Policies>
[[nodiscard]] constexpr std::string_view undescribed_family() noexcept {
  std::string_view first;
  ((first = first.empty() && !described_policy<Policies> ? Policies::family::name : first), ...);
  return first;
}

}  // namespace detail

/// What the policies of an attention are, in the order in which it names them. Made once; its copies share it.
/// The first field of each is "family", the name of its tag.
/// Throws: errc::description, when built, for a policy whose own description has a field "family".
class policy_descriptions {
 public:
  template <class... Policies>
  explicit policy_descriptions(const std::tuple<Policies...>& policies)
      : missing_(detail::undescribed_family<Policies...>()) {
    if constexpr ((described_policy<Policies> && ...)) {
      all_ = std::apply(
          [](const auto&... policy) {
            return std::make_shared<const std::vector<description>>(std::vector{of(policy)...});
          },
          policies);
    }
  }

  /// Throws: errc::description if a policy has no description; the message has the name of its family.
  [[nodiscard]] const std::vector<description>& all() const {
    require(all_ != nullptr, errc::description, "attention", text("description of its {} policy", missing_),
            "describe(), or named{...} around a function or view", "none");
    return *all_;
  }

 private:
  template <class Policy>
  [[nodiscard]] static description of(const Policy& policy) {
    const description own = policy.describe();
    description whole = description(own.name()).with("family", Policy::family::name);
    for (const description::field& field : own.fields()) whole = std::move(whole).with(field.name, field.what);
    return whole;
  }

  std::shared_ptr<const std::vector<description>> all_;
  std::string_view missing_;
};

}  // namespace posgeo
