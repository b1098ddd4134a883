// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/call/explicit_positions.hpp>
#include <posgeo/call/prefill_chunk.hpp>
#include <posgeo/visible/window.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <tuple>

#include "support/executors.hpp"
#include "support/random.hpp"
#include "support/reference.hpp"

namespace posgeo::bench {

enum class mask { full, causal };
enum class element { f32, f64, bf16, f16 };
enum class spacing {
  affine,     ///< positions follow one another
  irregular,  ///< they have gaps, so that offsets must be gathered
};

/// What is to be measured, but for the mechanism.
struct request {
  heads layout;
  index_t queries = 0;
  index_t keys = 0;  ///< the queries are the last of them
  mask sees = mask::full;
  element type = element::f32;
  spacing rows = spacing::affine;
  executor runs_on = executor::measured;
  index_t layers = 1;  ///< caches that a run goes through one after the other, as the layers of a model do

  [[nodiscard]] constexpr auto all() const noexcept {
    return std::tuple{layout.query, layout.key_value, layout.dim, queries, keys, sees, type, rows, runs_on, layers};
  }
  friend constexpr bool operator==(const request& a, const request& b) noexcept { return a.all() == b.all(); }
};

/// What one run has to do. Units: flops, a multiply and an add each count, and bytes.
struct work {
  double attention = 0;     ///< 4 * head_dim for each head and visible pair
  double class_scores = 0;  ///< products of query or key rows with the rows of the classes that they need
  double appended = 0;      ///< dimensions appended to the score's dot product
  double bytes = 0;         ///< keys and values, each read once, queries and outputs
  double workspace = 0;     ///< bytes beside inputs and outputs
  [[nodiscard]] double counted() const noexcept { return attention + class_scores + appended; }
};

/// An attention bound to inputs, ready to run, its results already compared with the reference.
struct prepared {
  std::function<void()> run;
  work does;
};

/// An attention and what its positional terms cost.
template <class Attention>
struct model {
  Attention of;
  std::function<index_t(relative_offset)> class_of = nullptr;  ///< where there are class scores
  index_t class_sides = 0;                                     ///< query side, key side, or both
  index_t appended_dim = 0;
  std::shared_ptr<const void> memory = nullptr;  ///< what the attention reads and does not own
};

/// Everybody, or the causal mask. One type for both, so that each family is compiled once.
[[nodiscard]] inline visible::window sees(mask m) {
  return {.behind = visible::window::unbounded, .ahead = m == mask::full ? visible::window::unbounded : index_t{0}};
}

[[nodiscard]] inline position_call call_of(const request& r) {
  if (r.rows == spacing::affine) return call::prefill_chunk(r.keys - r.queries, r.queries);
  std::mt19937_64 engine(11);
  std::uniform_int_distribution<index_t> gap(1, 3);
  std::vector<index_t> positions;
  for (index_t at = 0; static_cast<index_t>(positions.size()) < r.keys; at += gap(engine)) positions.push_back(at);
  const std::span<const index_t> all(positions);
  return call::explicit_positions(
      {.query = {.positions = all.last(static_cast<std::size_t>(r.queries)), .rows = r.queries},
       .key = {.positions = all, .rows = r.keys}});
}
/// No position of call_of reaches it.
[[nodiscard]] constexpr index_t position_end(const request& r) noexcept {
  return r.rows == spacing::affine ? r.keys : 3 * r.keys;
}

namespace detail {

/// How far an output may be from the reference, where values lie between -1.8 and 1.8.
template <class E>
constexpr double allowed_error() {
  if constexpr (std::same_as<E, double>) return 1e-12;
  if constexpr (std::same_as<E, float>)
    return 4e-5;  // a key-position bias is hundreds of score units, of which float keeps 5 digits
  return 4e-3;    // weights may be rounded to eight bits
}

template <class Plan>
[[nodiscard]] double visible_pairs(const Plan& plan) {
  index_t pairs = 0;
  for (const query_index i : indices<query_index>(plan.call().queries())) {
    const key_range keys = plan.keys(batch_index{0}, i);
    for (const key_index j : indices<key_index>(keys.begin, keys.end)) pairs += plan.visible(batch_index{0}, i, j);
  }
  return static_cast<double>(pairs);
}

/// Rows and classes that meet: for each query, the different classes of the keys it sees. Classes are monotone.
template <class Plan>
[[nodiscard]] double class_pairs(const Plan& plan, const std::function<index_t(relative_offset)>& class_of) {
  constexpr batch_index b{0};
  index_t pairs = 0;
  for (const query_index i : indices<query_index>(plan.call().queries())) {
    std::optional<index_t> last;
    const key_range keys = plan.keys(b, i);
    for (const key_index j : indices<key_index>(keys.begin, keys.end)) {
      if (!plan.visible(b, i, j)) continue;
      const index_t now = class_of(plan.call().offset(b, i, j));
      pairs += last != now;
      last = now;
    }
  }
  return static_cast<double>(pairs);
}

/// Rows with a variance of 1, so that scaled scores have one too.
template <class E>
[[nodiscard]] tensor<E, 4> random_rows(const std::array<index_t, 4>& extents, std::uint64_t seed) {
  std::mt19937_64 engine(seed);
  std::uniform_real_distribution<float> uniform(-std::sqrt(3.0F), std::sqrt(3.0F));
  tensor<E, 4> out(extents);
  for (E& value : out.values()) value = static_cast<E>(uniform(engine));
  return out;
}

template <class E, class Plan>
struct bound_inputs {
  Plan plan;
  tensor<E, 4> query;
  std::vector<tensor<E, 4>> keys;
  std::vector<tensor<E, 4>> values;
  tensor<typename Plan::scalar, 4> output;
  std::shared_ptr<const void> memory;
  std::vector<std::byte> workspace = {};
  [[nodiscard]] qkv<E> layer(std::size_t n) const { return {query.view(), keys[n].view(), values[n].view()}; }
};

template <class Executor, class Plan, class E>
concept runs = requires(const Executor& executor, const Plan& plan, const qkv<E>& in,
                        const attention_output<typename Plan::scalar>& out) {
  attend(executor, plan, in, out);
};

template <class E, class Model, class Plan>
void require_close(const Model& m, const bound_inputs<E, Plan>& inputs) {
  const auto exact = m.of.template compile<double>(inputs.plan.call());
  const index_t queries = inputs.plan.call().queries();
  for (const index_t h : {index_t{0}, inputs.plan.layout().query - 1}) {
    for (const index_t i : {index_t{0}, queries / 3, queries - 1}) {
      const auto expected =
          reference_row(exact, inputs.layer(inputs.keys.size() - 1), batch_index{0}, head_index{h}, query_index{i});
      const auto got = inputs.output.view().row(0, h, i);
      for (std::size_t d = 0; d < expected.size(); ++d) {
        if (std::abs(expected[d] - static_cast<double>(got[d])) <= allowed_error<E>()) continue;
        throw std::runtime_error(fmt::format("wrong result: head {}, query {}, column {}: expected {}, got {}", h, i, d,
                                             expected[d], static_cast<double>(got[d])));
      }
    }
  }
}

template <class E, class Executor, class Model>
[[nodiscard]] std::optional<prepared> prepare(const Executor& executor, const Model& m, const request& r) {
  using T = std::conditional_t<std::same_as<E, double>, double, float>;
  using plan_type = decltype(m.of.template compile<T>(std::declval<const position_call&>()));
  if constexpr (!runs<Executor, plan_type, E>) {
    return std::nullopt;
  } else {
    const heads& layout = m.of.layout();
    const auto inputs = std::make_shared<bound_inputs<E, plan_type>>(
        bound_inputs<E, plan_type>{m.of.template compile<T>(call_of(r)),
                                   random_rows<E>({1, layout.query, r.queries, layout.dim}, 1),
                                   {},
                                   {},
                                   tensor<T, 4>({1, layout.query, r.queries, layout.dim}),
                                   m.memory});
    const std::array<index_t, 4> cache{1, layout.key_value, r.keys, layout.dim};
    inputs->keys.assign(static_cast<std::size_t>(r.layers), random_rows<E>(cache, 2));
    inputs->values.assign(static_cast<std::size_t>(r.layers), random_rows<E>(cache, 3));
    prepared out;
    out.run = [executor = ready(executor, inputs->plan, layout.dim, inputs->workspace), inputs] {
      for (std::size_t n = 0; n < inputs->keys.size(); ++n) {
        attend(executor, inputs->plan, inputs->layer(n), {inputs->output.view()});
      }
    };
    out.run();
    require_close<E>(m, *inputs);

    const auto each = static_cast<double>(layout.query * r.layers);
    const double pairs = visible_pairs(inputs->plan);
    const auto dim = static_cast<double>(layout.dim);
    out.does.attention = 4 * pairs * dim * each;
    if (m.class_of) {
      const auto sides = static_cast<double>(m.class_sides);
      out.does.class_scores = 2 * sides * class_pairs(inputs->plan, m.class_of) * dim * each;
    }
    out.does.appended = 2 * pairs * static_cast<double>(m.appended_dim) * each;
    const auto sized = [](const auto& t) { return static_cast<double>(t.values().size_bytes()); };
    out.does.bytes = static_cast<double>(r.layers) *
                     (sized(inputs->keys[0]) + sized(inputs->values[0]) + sized(inputs->query) + sized(inputs->output));
    out.does.workspace = workspace_bytes(executor, inputs->plan, layout.dim);
    return out;
  }
}

}  // namespace detail

template <class E>
inline constexpr element element_of = std::same_as<E, float>             ? element::f32
                                      : std::same_as<E, double>          ? element::f64
                                      : std::same_as<E, Eigen::bfloat16> ? element::bf16
                                                                         : element::f16;

/// Binds make(request) to inputs of the asked type, one of Elements; nothing where this build cannot run it.
template <class... Elements, class Make>
[[nodiscard]] std::optional<prepared> prepare(const Make& make, const request& r) {
  std::optional<prepared> out;
  if (r.runs_on != executor::measured) return out;
  const auto with = [&]<class E>(const E*) {
    if (r.type == element_of<E>) out = detail::prepare<E>(measured_executor{}, make(r), r);
  };
  (with(static_cast<const Elements*>(nullptr)), ...);
  return out;
}

/// The same on any executor.
template <class... Elements, class Make>
[[nodiscard]] std::optional<prepared> prepare_on_any(const Make& make, const request& r) {
  std::optional<prepared> out;
  const auto with = [&]<class E>(const E*) {
    if (r.type != element_of<E>) return;
    with_executor(r.runs_on, [&](const auto& executor) { out = detail::prepare<E>(executor, make(r), r); });
  };
  (with(static_cast<const Elements*>(nullptr)), ...);
  return out;
}

}  // namespace posgeo::bench
