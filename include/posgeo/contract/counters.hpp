// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/contract/admission.hpp>

#include <concepts>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace posgeo::contract {

/// Whether compiled positional state was found in a cache.
enum class cache_use { no_cache, hit, miss };

/// The classes that visible pairs have in one table of a plan.
struct bucket_counter {
  std::string_view family;
  index_t number;  ///< of the term in its family, from 0
  index_t lowest;
  index_t highest;
  friend bool operator==(const bucket_counter&, const bucket_counter&) = default;
};

/// What a run did with positions. Offsets and buckets are those of visible pairs of token queries; absent where no pair
/// is visible, where no term has buckets, or across frames.
/// Units:  bytes; offsets are key minus query, in the call's positions; buckets are table rows.
/// Source: the counters of the positional-call manifest numinens.position-call.v1.
struct position_counters {
  std::string position_backend;
  std::string position_fallback_reason;  ///< empty where the first choice ran
  index_t bias_materialized_bytes = 0;
  index_t relation_materialized_bytes = 0;
  std::optional<index_t> bucket_min;    ///< over all tables
  std::optional<index_t> bucket_max;    ///< over all tables
  std::vector<bucket_counter> buckets;  ///< of each table
  std::optional<index_t> offset_min;
  std::optional<index_t> offset_max;
  index_t memory_length = 0;  ///< key rows of earlier calls, of the entry that has most
  cache_use position_cache_hit = cache_use::no_cache;
};

/// What takes counters: record(counters), or a call with them.
template <class S>
concept counter_sink = requires(S& sink, const position_counters& counters) {
  sink.record(counters);
}
|| std::invocable<S&, const position_counters&>;

namespace detail {

/// A compiled bias with a table row for each offset, which falls or rises on each side of 0.
template <class Term>
concept rows_by_offset = requires(const Term& term, relative_offset offset) {
  { term.table_row(offset) } -> std::same_as<index_t>;
};
/// A compiled bias with a table row for each pair.
template <class Term>
concept rows_by_pair = requires(const Term& term, batch_index b, query_index i, key_index j) {
  { term.table_row(b, i, j) } -> std::same_as<index_t>;
}
|| requires(const Term& term, batch_index b, query_index i, key_index j) {
  { term.row(b, i, j) } -> std::same_as<index_t>;
};

struct bucket_range {
  std::optional<index_t> lowest;
  std::optional<index_t> highest;
  void join(index_t bucket) noexcept {
    lowest = lowest ? std::min(*lowest, bucket) : bucket;
    highest = highest ? std::max(*highest, bucket) : bucket;
  }
};

/// The least and the greatest class of the offsets in a reach, where the class falls or rises on each side of 0.
template <class ClassOf>
[[nodiscard]] bucket_range classes_in(const offset_reach& reach, const ClassOf& class_of) {
  bucket_range range;
  range.join(class_of(reach.lowest));
  range.join(class_of(reach.highest));
  if (reach.nearest_behind) range.join(class_of(*reach.nearest_behind));
  if (reach.nearest_ahead) range.join(class_of(*reach.nearest_ahead));
  return range;
}

template <class Plan, class Term>
[[nodiscard]] bucket_range classes_of_pairs(const Plan& plan, const Term& term) {
  bucket_range range;
  each_visible_pair(plan, query_rows::tokens, [&](batch_index b, query_index i, key_index j) {
    if constexpr (requires { term.table_row(b, i, j); }) {
      range.join(term.table_row(b, i, j));
    } else {
      range.join(term.row(b, i, j));
    }
  });
  return range;
}

template <class Plan>
void count_buckets(const Plan& plan, const std::optional<offset_reach>& reach, position_counters& out) {
  using T = typename Plan::scalar;
  using parts = posgeo::detail::plan_parts<Plan>;
  const auto keep = [&out](std::string_view family, index_t number, const bucket_range& range) {
    if (range.lowest) out.buckets.push_back({family, number, *range.lowest, *range.highest});
  };
  const auto keep_side = [&](std::string_view family, index_t number, const auto& side) {
    if (side && reach) keep(family, number, classes_in(*reach, [&side](relative_offset o) { return side->of(o); }));
  };
  index_t number = 0;
  parts::each(plan.contents(), [&](const auto& term) {
    using Term = std::remove_cvref_t<decltype(term)>;
    if constexpr (query_sided<Term, T>) keep_side("content_term query side", number, term.query_side());
    if constexpr (key_sided<Term, T>) keep_side("content_term key side", number, term.key_side());
    ++number;
  });
  number = 0;
  parts::each(plan.biases(), [&](const auto& term) {
    using Term = std::remove_cvref_t<decltype(term)>;
    if constexpr (rows_by_offset<Term>) {
      if (reach) {
        keep("score_bias", number, classes_in(*reach, [&term](relative_offset o) { return term.table_row(o); }));
      }
    } else if constexpr (rows_by_pair<Term>) {
      keep("score_bias", number, classes_of_pairs(plan, term));
    }
    ++number;
  });
  number = 0;
  parts::each(plan.values(), [&](const auto& term) {
    if constexpr (class_values<std::remove_cvref_t<decltype(term)>, T>) {
      keep_side("value_term", number, term.classes_of_value());
    }
    ++number;
  });
  bucket_range all;
  for (const bucket_counter& one : out.buckets) {
    all.join(one.lowest);
    all.join(one.highest);
  }
  out.bucket_min = all.lowest;
  out.bucket_max = all.highest;
}

template <class Plan>
[[nodiscard]] position_counters counters_of(const Plan& plan, std::string backend, std::string reason,
                                            const admission_bytes& bytes, cache_use cache) {
  position_counters out;
  out.position_backend = std::move(backend);
  out.position_fallback_reason = std::move(reason);
  out.bias_materialized_bytes = bytes.bias_materialized;
  out.relation_materialized_bytes = bytes.relation_materialized;
  out.position_cache_hit = cache;
  const position_call& call = plan.call();
  for (const batch_index b : indices<batch_index>(call.batch())) {
    out.memory_length = std::max(out.memory_length, call.past_length(b));
  }
  const auto reach = visible_offsets(plan, query_rows::tokens);
  if (reach) {
    out.offset_min = reach->lowest.value();
    out.offset_max = reach->highest.value();
  }
  count_buckets(plan, reach, out);
  return out;
}

template <counter_sink Sink>
void hand_to(Sink& sink, const position_counters& counters) {
  if constexpr (requires { sink.record(counters); }) {
    sink.record(counters);
  } else {
    sink(counters);
  }
}

}  // namespace detail

/// Counts a plan as an admission runs it, and hands the counters to the sink.
/// Cost:   that of visible_offsets; that of each_visible_pair for each bias whose classes are not by offset.
template <class Plan, counter_sink Sink>
void observe(const Plan& plan, const admission& how, cache_use cache, Sink&& sink) {
  detail::hand_to(sink, detail::counters_of(plan, how.executor, how.fallback_reason(), how.bytes, cache));
}
/// The same of an executor that was not admitted but named.
template <class Plan, class Executor, counter_sink Sink>
requires(!std::same_as<Executor, admission>) void observe(const Plan& plan, const Executor& executor, index_t value_dim,
                                                          cache_use cache, Sink&& sink) {
  admission_bytes bytes;
  if (relations_of(executor) == relation_memory::materialised) detail::add_materialised(plan, value_dim, bytes);
  detail::hand_to(sink, detail::counters_of(plan, name_of(executor), "", bytes, cache));
}

/// An executor that hands counters to a sink after each run that ends well. Without it nothing is counted: the plain
/// executor is another type. The sink must outlive it.
template <class Executor, counter_sink Sink>
class counted {
 public:
  counted(Executor executor, Sink& sink) : executor_(std::move(executor)), sink_(&sink) {}

  /// The same executor, whose counters say why it runs and whether its plan came from a cache.
  [[nodiscard]] counted with(const std::string& fallback_reason, cache_use cache) const {
    counted other = *this;
    other.fallback_reason_ = fallback_reason;
    other.cache_ = cache;
    return other;
  }

  [[nodiscard]] std::string name() const { return name_of(executor_); }
  [[nodiscard]] capability_set capabilities() const noexcept { return capabilities_of(executor_); }
  template <class Plan>
  [[nodiscard]] std::size_t workspace_bytes(const Plan& plan, index_t value_dim) const {
    return static_cast<std::size_t>(workspace_bytes_of(executor_, plan, value_dim).value_or(0));
  }

  template <class Plan>
  [[nodiscard]] std::vector<term_run> terms_of(const Plan& plan) const {
    return contract::terms_of(executor_, plan);
  }

  template <class Plan, class E, class O>
  void run(const Plan& plan, const qkv<E>& in, const attention_output<typename Plan::scalar, O>& out) const {
    executor_.run(plan, in, out);
    admission_bytes bytes;
    if (relations_of(executor_) == relation_memory::materialised) {
      detail::add_materialised(plan, in.value.extent(3), bytes);
    }
    detail::hand_to(*sink_, detail::counters_of(plan, name(), fallback_reason_, bytes, cache_));
  }

 private:
  Executor executor_;
  Sink* sink_;
  std::string fallback_reason_;
  cache_use cache_ = cache_use::no_cache;
};

}  // namespace posgeo::contract
