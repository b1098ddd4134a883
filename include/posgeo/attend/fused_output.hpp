// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/attend/fused_entry.hpp>
#include <posgeo/attend/offset_mass.hpp>
#include <posgeo/attend/value_tiles.hpp>

#include <cmath>

namespace posgeo {
inline namespace POSGEO_SIMD_ISA {
namespace kernel {

/// What becomes of the weights of a group beside their product with the values, and the end of its rows.
template <class Plan, class E, class O>
class fused_output {
 public:
  using T = typename Plan::scalar;
  using parts = detail::plan_parts<Plan>;
  using shape = tile_shape<T>;

  fused_output(const Plan& plan, const fused_sizes<Plan>& sizes, const fused_entry<Plan, E>& entry,
               const attention_output<T, O>& out)
      : plan_(plan), sizes_(sizes), entry_(entry), memory_(entry.memory()), out_(out) {}

  /// Weighted values of keys [begin, end) of a block, as they are packed.
  void add_values(const row_group<T>& group, index_t block, index_t begin, index_t end) noexcept {
    value_tiles<value_start::zero>(job(group, entry_.values_from(block + begin), sizes_.width, begin, end),
                                   group.count);
    if (entry_.any_broken()) add_broken(group, block, begin, end);
  }
  /// The same of values as they are stored. Gives false, and adds nothing, where a sum is not finite: a value of a
  /// hidden key may be the reason; and where values are no whole packs.
  [[nodiscard]] bool add_stored_values(const row_group<T>& group, index_t block, index_t begin, index_t end) noexcept {
    if (sizes_.width != sizes_.value_dim) return false;
    T* const sums = memory_.block_sums;
    std::fill_n(sums, shape::rows * sizes_.width, T{0});
    const index_t stride = entry_.stored_value_stride();
    const E* stored = entry_.stored_values_from(block + begin);
    for (index_t n = begin; n < end; n += keys_at_once, stored += keys_at_once * stride) {
      read_ahead ahead(stored, sizes_.value_dim, stride);
      auto some = job(group, stored, stride, n, std::min(n + keys_at_once, end));
      some.out = sums;
      some.out_stride = sizes_.width;
      some.ahead = &ahead;
      value_tiles<value_start::output>(some, group.count);
    }
    simd::pack<T> of_any = simd::zero<T>();
    for (index_t d = 0; d < group.count * sizes_.width; d += shape::lanes) {
      const simd::pack<T> x = simd::load(sums + d);
      of_any = of_any + (x - x);
    }
    if (!simd::all(simd::at_most(of_any, simd::zero<T>()))) return false;
    for (index_t r = 0; r < group.count; ++r) {
      add_row(memory_.out + (group.chunk_row + r) * sizes_.out_width, sums + r * sizes_.width, sizes_.width);
    }
    return true;
  }

  /// The mass of each class of the value terms, and value terms that know only pairs.
  void add_value_terms([[maybe_unused]] const row_group<T>& group, [[maybe_unused]] index_t block,
                       [[maybe_unused]] index_t first, [[maybe_unused]] index_t last) noexcept {
    [[maybe_unused]] std::size_t side_index = 0;
    [[maybe_unused]] index_t column = sizes_.width;
    [[maybe_unused]] const index_t end = std::min(last * shape::keys, memory_.positions.size() - block);
    parts::each(plan_.values(), [&](const auto& term) {
      if constexpr (class_values<std::remove_cvref_t<decltype(term)>, T>) {
        const std::size_t n = side_index++;
        if (entry_.value_spans()[n].count > 0) {
          for (index_t r = 0; r < group.count; ++r) {
            T* const mass = memory_.out + (group.chunk_row + r) * sizes_.out_width + column;
            add_by_offset(memory_.positions, entry_.value_spans()[n], group.position[r], block,
                          memory_.weights + r * sizes_.weight_stride, first * shape::keys, end, mass);
          }
        } else {
          each_weight(group, block, first, last, [&](index_t r, key_index j, T weight, std::span<T> row) {
            term.accumulate(entry_.batch(), group.head[r], group.query[r], j, weight, row);
          });
        }
        column += round_up(sizes_.value_entries[n], shape::lanes);
      } else {
        each_weight(group, block, first, last, [&](index_t r, key_index j, T weight, std::span<T> row) {
          term.accumulate(entry_.batch(), group.head[r], group.query[r], j, weight, row);
        });
      }
    });
  }
  /// A value that is not finite counts where its key is seen, and nowhere else.
  void add_broken(const row_group<T>& group, index_t block, index_t begin, index_t end) noexcept {
    for (index_t n = begin; n < end; ++n) {
      if (!entry_.broken(block + n)) continue;
      const key_index j{entry_.stretch().begin + block + n};
      const auto value = entry_.value_row(j);
      for (index_t r = 0; r < group.count; ++r) {
        const query_index i = group.query[r];
        if (!plan_.visible(entry_.batch(), i, j)) continue;
        if constexpr (parts::pair_biases > 0) {
          if (plan_.bias(entry_.batch(), group.head[r], i, j) < std::numeric_limits<T>::lowest()) continue;
        }
        T* const row = memory_.out + (group.chunk_row + r) * sizes_.out_width;
        const T weight = memory_.weights[r * sizes_.weight_stride + n];
        for (std::size_t d = 0; d < value.size(); ++d) {
          const T number = static_cast<T>(value[d]);
          if (number - number != T{0}) row[d] += weight * number;
        }
      }
    }
  }

  /// Asks for the memory that finish will write to: it comes while the last block is worked on.
  void expect(const row_group<T>& group) const noexcept {
    for (index_t r = 0; r < group.count; ++r) {
      simd::prefetch_row_to_write(
          out_.output.row(entry_.batch().value(), group.head[r].value(), group.query[r].value()));
    }
  }
  /// Writes the rows of a group, whose keys have all been seen.
  void finish(const row_group<T>& group) noexcept {
    [[maybe_unused]] std::size_t side_index = 0;
    [[maybe_unused]] index_t column = sizes_.width;
    [[maybe_unused]] T* const of_group = memory_.out + group.chunk_row * sizes_.out_width;
    parts::each(plan_.values(), [&](const auto& term) {
      if constexpr (class_values<std::remove_cvref_t<decltype(term)>, T>) {
        const std::size_t n = side_index++;
        if (entry_.value_spans()[n].count > 0) {
          value_tiles<value_start::zero>(value_job<T>{.weights = of_group + column,
                                                      .weight_stride = sizes_.out_width,
                                                      .weight_step = 1,
                                                      .values = memory_.value_rows[n],
                                                      .value_stride = sizes_.width,
                                                      .keys = entry_.value_spans()[n].count,
                                                      .width = sizes_.width,
                                                      .out = of_group,
                                                      .out_stride = sizes_.out_width,
                                                      .ahead = nullptr},
                                         group.count);
        }
        column += round_up(sizes_.value_entries[n], shape::lanes);
      }
    });
    for (index_t r = 0; r < group.count; ++r) write(group.head[r], group.query[r].value(), group.chunk_row + r);
  }

 private:
  /// Stored values that all columns read while they are in the first-level cache.
  static constexpr index_t keys_at_once = 16;

  template <class V>
  [[nodiscard]] value_job<T, V> job(const row_group<T>& group, const V* values, index_t stride, index_t begin,
                                    index_t end) const noexcept {
    return {.weights = memory_.weights + begin,
            .weight_stride = sizes_.weight_stride,
            .weight_step = 1,
            .values = values,
            .value_stride = stride,
            .keys = end - begin,
            .width = sizes_.width,
            .out = memory_.out + group.chunk_row * sizes_.out_width,
            .out_stride = sizes_.out_width,
            .ahead = nullptr};
  }

  template <class Visit>
  void each_weight(const row_group<T>& group, index_t block, index_t first, index_t last, const Visit& visit) noexcept {
    const index_t end = std::min(last * shape::keys, memory_.positions.size() - block);
    for (index_t r = 0; r < group.count; ++r) {
      T* const row = memory_.out + (group.chunk_row + r) * sizes_.out_width;
      for (index_t n = first * shape::keys; n < end; ++n) {
        const T weight = memory_.weights[r * sizes_.weight_stride + n];
        if (weight == T{0}) continue;
        visit(r, key_index{entry_.stretch().begin + block + n}, weight,
              std::span<T>(row, static_cast<std::size_t>(sizes_.value_dim)));
      }
    }
  }
  void write(head_index h, index_t i, index_t row) noexcept {
    T* const numbers = memory_.out + row * sizes_.out_width;
    const bool started = memory_.started[row] != 0;
    const std::optional<T> sink = plan_.sink(h);
    double log_sum_exp = -std::numeric_limits<double>::infinity();
    T share = T{0};
    if (started) {
      const auto sum = static_cast<double>(simd::sum(simd::load(memory_.sums + row * shape::lanes)));
      share = sum == 0.0 ? T{0} : static_cast<T>(1.0 / sum);
      if (sink || out_.log_sum_exp) {
        log_sum_exp = (std::log2(sum) - static_cast<double>(memory_.shift[row])) / log2_e<double>;
      }
    }
    if (sink) {
      const auto logit = static_cast<double>(*sink);
      const double higher = std::max(log_sum_exp, logit);
      const double both = higher + std::log(std::exp(log_sum_exp - higher) + std::exp(logit - higher));
      share *= static_cast<T>(std::exp(log_sum_exp - both));
      log_sum_exp = both;
    }
    narrow_row(numbers, share, out_.output.row(entry_.batch().value(), h.value(), i));
    if (out_.log_sum_exp) {
      out_.log_sum_exp->row(entry_.batch().value(), h.value())[static_cast<std::size_t>(i)] =
          static_cast<T>(log_sum_exp);
    }
  }

  const Plan& plan_;
  const fused_sizes<Plan>& sizes_;
  const fused_entry<Plan, E>& entry_;
  const fused_memory<Plan>& memory_;
  const attention_output<T, O>& out_;
};

}  // namespace kernel
}  // namespace POSGEO_SIMD_ISA
}  // namespace posgeo
