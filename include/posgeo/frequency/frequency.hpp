// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/core/description.hpp>
#include <posgeo/core/index.hpp>

#include <concepts>
#include <optional>
#include <vector>

namespace posgeo {

/// How fast each pair of dimensions turns: `pairs()` speeds, `at(pair)` radians per position. A rule may also say
///   head_dim()          the only head width that it is made for;
///   attention_factor()  what cosines and sines are multiplied by, and so a score by its square;
///   sequence_length()   how many positions, from 0 on, its speeds are made for.
template <class F>
concept frequency_rule = std::copyable<F> && requires(const F& f, index_t pair) {
  { f.pairs() } -> std::same_as<index_t>;
  { f.at(pair) } -> std::same_as<double>;
};

/// The rule's factor on cosines and sines; 1 where it names none.
template <frequency_rule F>
[[nodiscard]] double attention_factor_of(const F& frequency) {
  if constexpr (requires { frequency.attention_factor(); }) return frequency.attention_factor();
  return 1.0;
}

/// How many positions the rule's speeds are made for, if it says so.
template <frequency_rule F>
[[nodiscard]] std::optional<index_t> sequence_length_of(const F& frequency) {
  if constexpr (requires { frequency.sequence_length(); }) return frequency.sequence_length();
  return std::nullopt;
}

/// What the rule says that it is or, where it has no describe(), every number that it gives.
template <frequency_rule F>
[[nodiscard]] description description_of(const F& frequency) {
  if constexpr (described_policy<F>) {
    return frequency.describe();
  } else {
    std::vector<double> speeds;
    for (index_t pair = 0; pair < frequency.pairs(); ++pair) speeds.push_back(frequency.at(pair));
    std::optional<index_t> head_dim;
    if constexpr (requires { frequency.head_dim(); }) head_dim = frequency.head_dim();
    return description("speeds")
        .with("speeds", speeds)
        .with("head_dim", head_dim)
        .with("attention_factor", attention_factor_of(frequency))
        .with("sequence_length", sequence_length_of(frequency));
  }
}

}  // namespace posgeo
