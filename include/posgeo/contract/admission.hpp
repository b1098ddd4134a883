// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/contract/attention_work.hpp>
#include <posgeo/contract/executors.hpp>
#include <posgeo/model/attention.hpp>

#include <array>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace posgeo::contract {

/// Whether a call that no named executor can run may go to eager, which can run everything.
enum class reference_fallback { allowed, refused };

/// What is wanted of a run beside the plan.
struct admission_request {
  required<precision> elements;  ///< of queries, keys and values
  required<precision> output;
  required<index_t> value_dim;
  also wanted = also::nothing;
  capability_set beside = {};  ///< what policies outside of the plan need: capabilities_of(state encoder)
};

/// An executor that was not chosen, and what it lacks; nothing where it merely comes later.
struct other_path {
  std::string executor;
  capability_set missing;
};

/// Units: bytes.
struct admission_bytes {
  index_t inputs = 0;
  index_t outputs = 0;
  std::optional<index_t> workspace;  ///< absent where an executor outside of the library does not say
  index_t bias_materialized = 0;
  index_t relation_materialized = 0;
};

/// How a plan is run, and why so.
struct admission {
  std::string executor;
  std::optional<std::size_t> place;  ///< in the list of executors; absent for the fallback
  capability_set needed;
  std::vector<other_path> others;  ///< every other executor of the list, in order
  std::vector<term_run> terms;     ///< empty where an executor outside of the library does not say
  admission_bytes bytes;
  attention_work work;

  /// Why the first executor of the list does not run the plan; empty if it does.
  [[nodiscard]] std::string fallback_reason() const {
    if (place == std::size_t{0} || others.empty()) return "";
    return others.front().executor + " lacks " + others.front().missing.names();
  }
};

namespace detail {

[[nodiscard]] constexpr index_t bytes_of_number(precision format) noexcept {
  return format == precision::binary64 ? 8 : format == precision::binary32 ? 4 : 2;
}

/// The formats of elements that attend reads into a plan of T: its own and, in float, the two of sixteen bits.
template <class T>
[[nodiscard]] constexpr bool reads_elements(precision elements) noexcept {
  const bool narrow = elements == precision::binary16 || elements == precision::bfloat16;
  return elements == precision_of<T> || (std::same_as<T, float> && narrow);
}

/// Bytes of biases and of relation rows that an executor has for all pairs at once.
template <class Plan>
void add_materialised(const Plan& plan, index_t value_dim, admission_bytes& bytes) {
  using T = typename Plan::scalar;
  using parts = posgeo::detail::plan_parts<Plan>;
  constexpr auto size = static_cast<index_t>(sizeof(T));
  const index_t pairs = saturating_product({plan.call().queries(), plan.call().keys(), size});
  if (Plan::has_biases) {
    bytes.bias_materialized = saturating_product({plan.call().batch(), plan.layout().query, pairs});
  }
  const auto add_rows = [&](index_t width) {
    bytes.relation_materialized = saturating_add(bytes.relation_materialized, saturating_product({pairs, width}));
  };
  parts::each(plan.contents(), [&](const auto& term) {
    using Term = std::remove_cvref_t<decltype(term)>;
    if constexpr (query_sided<Term, T>) {
      if (term.query_side()) add_rows(plan.layout().dim);
    }
    if constexpr (key_sided<Term, T>) {
      if (term.key_side()) add_rows(plan.layout().dim);
    }
  });
  if constexpr (parts::class_values_terms > 0) add_rows(parts::class_values_terms * value_dim);
}

}  // namespace detail

/// Bytes of a run, all entries and heads.
template <class Plan, class E>
[[nodiscard]] admission_bytes bytes_of(const Plan& plan, const admission_request& r, const E& executor) {
  using detail::saturating_product;
  const heads& layout = plan.layout();
  const position_call& call = plan.call();
  const auto outputs_with = [&](index_t columns, index_t size) {
    return saturating_product({call.batch(), layout.query, call.queries(), columns, size});
  };
  const auto add = [](index_t& sum, index_t part) { sum = saturating_add(sum, part); };
  constexpr auto size = static_cast<index_t>(sizeof(typename Plan::scalar));
  admission_bytes bytes;
  bytes.inputs = outputs_with(layout.dim, detail::bytes_of_number(r.elements));  // the queries have this size
  add(bytes.inputs, saturating_product({call.batch(), layout.key_value, call.keys(), layout.dim + r.value_dim,
                                        detail::bytes_of_number(r.elements)}));
  bytes.outputs = outputs_with(r.value_dim, detail::bytes_of_number(r.output));
  if (includes(r.wanted, also::log_sum_exp)) add(bytes.outputs, outputs_with(1, size));
  if (includes(r.wanted, also::scores)) add(bytes.outputs, outputs_with(call.keys(), size));
  if (includes(r.wanted, also::probabilities)) add(bytes.outputs, outputs_with(call.keys(), size));
  bytes.workspace = workspace_bytes_of(executor, plan, r.value_dim);
  if (relations_of(executor) == relation_memory::materialised) detail::add_materialised(plan, r.value_dim, bytes);
  return bytes;
}

/// Chooses the first executor that can do everything that the plan and the request need; nothing is dropped for a
/// faster one. Executors that attend runs read the elements that attend reads; a declared one what it says.
/// Throws: errc::admission, naming every missing capability of every executor, if none can and the fallback is refused
///         or eager cannot either, and for an output that is neither in the format of the plan nor in that of the
///         elements; errc::shape_mismatch for a negative value width.
/// Source: the backend admission of the positional-call manifest numinens.position-call.v1.
template <class Plan, class... Executors>
requires requires { typename Plan::scalar; }
[[nodiscard]] admission admit(const Plan& plan, const admission_request& r, reference_fallback fallback,
                              const Executors&... executors) {
  require(r.value_dim >= 0, errc::shape_mismatch, "admission", "value_dim", "at least 0", index_t{r.value_dim});
  using T = typename Plan::scalar;
  require(r.output == precision_of<T> || r.output == r.elements, errc::admission, "admission", "output",
          text("{}, as the plan, or {}, as the elements", name_of(precision_of<T>), name_of(r.elements)),
          name_of(r.output));
  const capability_set unread =
      detail::reads_elements<T>(r.elements) ? capability_set{} : capabilities_of(precision{r.elements});
  admission chosen;
  chosen.needed = capabilities_of(plan) | capabilities_of(precision{r.elements}) | capabilities_of(r.wanted) | r.beside;
  [[maybe_unused]] std::size_t place = 0;
  [[maybe_unused]] const auto consider = [&](const auto& executor) {
    capability_set missing = chosen.needed - capabilities_of(executor);
    if constexpr (!std::same_as<std::remove_cvref_t<decltype(executor)>, declared_executor>) missing = missing | unread;
    if (missing.empty() && !chosen.place) {
      chosen.place = place;
    } else {
      chosen.others.push_back({name_of(executor), missing});
    }
    ++place;
  };
  (consider(executors), ...);

  const auto fill = [&](const auto& executor) {
    chosen.executor = name_of(executor);
    chosen.bytes = bytes_of(plan, r, executor);
    chosen.terms = terms_of(executor, plan);
  };
  if (chosen.place) {
    [[maybe_unused]] std::size_t at = 0;
    [[maybe_unused]] const auto fill_if_chosen = [&](const auto& executor) {
      if (at++ == *chosen.place) fill(executor);
    };
    (fill_if_chosen(executors), ...);
  } else {
    if (fallback == reference_fallback::allowed && !unread.empty()) chosen.others.push_back({"eager", unread});
    if (fallback == reference_fallback::refused || !unread.empty()) {
      violations found;
      found.expect(!chosen.others.empty(), errc::admission, "admission", "executors", "at least 1", 0);
      for (const other_path& other : chosen.others) {
        found.expect(false, errc::admission, other.executor, "capabilities", text("also {}", other.missing.names()),
                     "an executor without");
      }
      found.throw_if_any();
    }
    fill(eager{});
  }
  chosen.work = work_of(plan, r.value_dim);
  return chosen;
}

/// The same for an attention and a call, in a plan that computes in T. Throws: what compile throws, too.
template <class T = float, class... Policies, class... Executors>
[[nodiscard]] admission admit(const attention<Policies...>& model, const position_call& call,
                              const admission_request& r, reference_fallback fallback, const Executors&... executors) {
  return admit(model.template compile<T>(call), r, fallback, executors...);
}

}  // namespace posgeo::contract
