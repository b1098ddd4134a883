// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/attend/eager.hpp>
#include <posgeo/attend/fused.hpp>
#include <posgeo/contract/capabilities.hpp>
#include <posgeo/contract/term_forms.hpp>
#include <posgeo/core/required.hpp>

#include <initializer_list>
#include <limits>
#include <optional>
#include <string>
#include <utility>

namespace posgeo::contract {

/// Where an executor keeps what positions add to scores.
enum class relation_memory {
  tiles,         ///< a part at a time: nothing has the size of all pairs
  materialised,  ///< biases as [batch, heads, queries, keys], relation rows as [queries, keys, width]
};

/// An executor outside of this library, as its user declares it: what it can do, by name. Nothing checks the
/// declaration.
struct declared_executor {
  required<std::string> name;
  capability_set can;
  required<relation_memory> relations;
};

/// An executor that says itself what it is called and what it can do.
template <class E>
concept self_described_executor = requires(const E& executor) {
  { executor.name() } -> std::convertible_to<std::string>;
  { executor.capabilities() } -> std::same_as<capability_set>;
};

[[nodiscard]] inline std::string name_of(const eager&) { return "eager"; }
template <parallel Threads, class Order>
[[nodiscard]] std::string name_of(const fused<Threads, Order>&) {
  return "fused";
}
[[nodiscard]] inline std::string name_of(const declared_executor& executor) { return executor.name.value(); }
template <self_described_executor E>
[[nodiscard]] std::string name_of(const E& executor) {
  return executor.name();
}

/// The meaning of every family: it can do all.
[[nodiscard]] inline capability_set capabilities_of(const eager&) noexcept { return capability_set::everything(); }
/// All but what would need the scores of all pairs at once.
template <parallel Threads, class Order>
[[nodiscard]] capability_set capabilities_of(const fused<Threads, Order>&) noexcept {
  return capability_set::everything() - capability_set{capability::returns_scores, capability::returns_probabilities};
}
[[nodiscard]] inline capability_set capabilities_of(const declared_executor& executor) noexcept { return executor.can; }
template <self_described_executor E>
[[nodiscard]] capability_set capabilities_of(const E& executor) noexcept {
  return executor.capabilities();
}

namespace detail {
template <class E>
inline constexpr bool is_fused = false;
template <class Threads, class Order>
inline constexpr bool is_fused<fused<Threads, Order>> = true;

/// A product of counts, or the largest number where it would be beyond.
[[nodiscard]] inline index_t saturating_product(std::initializer_list<index_t> factors) noexcept {
  index_t product = 1;
  for (const index_t factor : factors) {
    if (__builtin_mul_overflow(product, factor, &product)) return std::numeric_limits<index_t>::max();
  }
  return product;
}
}  // namespace detail

/// Where an executor keeps what positions add: the library's own never have it for all pairs of all heads.
template <class E>
[[nodiscard]] relation_memory relations_of(const E& executor) noexcept {
  if constexpr (requires { executor.relations; }) return executor.relations;
  return relation_memory::tiles;
}

/// Bytes that a run needs beside inputs and outputs: what the executor itself says; of eager its four tiles [queries,
/// keys] and its copies of a head's rows; nothing where it is not known.
template <class Plan, class E>
[[nodiscard]] std::optional<index_t> workspace_bytes_of(const E& executor, const Plan& plan, index_t value_dim) {
  if constexpr (requires { executor.workspace_bytes(plan, value_dim); }) {
    return static_cast<index_t>(executor.workspace_bytes(plan, value_dim));
  } else if constexpr (std::same_as<E, eager>) {
    constexpr auto size = static_cast<index_t>(sizeof(typename Plan::scalar));
    const index_t queries = plan.call().queries();
    const index_t keys = plan.call().keys();
    const index_t width = saturating_add(plan.layout().dim, value_dim);
    const index_t rows = detail::saturating_product({saturating_add(queries, keys), width, size});
    return saturating_add(detail::saturating_product({4, queries, keys, size}), rows);
  } else {
    return std::nullopt;
  }
}

/// How an executor runs the terms of a plan; nothing where it is not known.
template <class Plan, class E>
[[nodiscard]] std::vector<term_run> terms_of(const E& executor, const Plan& plan) {
  if constexpr (requires { executor.terms_of(plan); }) {
    return executor.terms_of(plan);
  } else if constexpr (std::same_as<E, eager>) {
    return pairwise_forms_of(plan);
  } else if constexpr (detail::is_fused<E>) {
    return block_forms_of(plan);
  } else {
    return {};
  }
}

}  // namespace posgeo::contract
