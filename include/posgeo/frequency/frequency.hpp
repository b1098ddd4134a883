// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/core/index.hpp>

#include <concepts>

namespace posgeo {

/// How fast each pair of dimensions turns: `pairs()` speeds, `at(pair)` radians per position.
template <class F>
concept frequency_rule = std::copyable<F> && requires(const F& f, index_t pair) {
  { f.pairs() } -> std::same_as<index_t>;
  { f.at(pair) } -> std::same_as<double>;
};

}  // namespace posgeo
