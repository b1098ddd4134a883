// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/attend/backward_memory.hpp>
#include <posgeo/attend/fused_sources.hpp>
#include <posgeo/attend/offset_mass.hpp>
#include <posgeo/attend/value_tiles.hpp>

#include <algorithm>

namespace posgeo {
inline namespace POSGEO_SIMD_ISA {
namespace kernel {

template <std::size_t N>
using term_number = std::integral_constant<std::size_t, N>;

/// What a backward pass sums by offset and class before a policy is given it: score gradients of biases by offset and
/// of terms query . row[class], weights of class values.
template <class Plan, class E, class O>
class backward_sums {
 public:
  using T = typename Plan::scalar;
  using parts = detail::plan_parts<Plan>;
  using learned = backward_parts<Plan>;
  using shape = tile_shape<T>;
  static constexpr index_t rows = shape::rows;

  backward_sums(const Plan& plan, const heads_view<const O>& d_output, const backward_sizes<Plan>& sizes,
                const fused_entry<Plan, E>& entry, backward_memory<Plan>& memory, plan_gradients_of<Plan>& gradients)
      : plan_(plan),
        d_output_(d_output),
        sizes_(sizes),
        entry_(entry),
        of_scores_(entry.memory()),
        memory_(memory),
        gradients_(gradients) {}

  /// Makes the class rows of the query head that is bound ready.
  void begin_head() noexcept {
    const head_index h = entry_.head();
    if constexpr (parts::offset_biases > 0) {
      std::fill_n(memory_.bias_mass - line_margin<T>, line_memory<T>(sizes_.bias_entries), T{0});
    }
    each_query_side([&](const auto& side, std::size_t n) {
      const line_span& span = of_scores_.query_classes[n].span();
      for (index_t entry = 0; entry < span.count; ++entry) {
        T* const row = memory_.query_rows_of_class[n] + entry * sizes_.key_width;
        std::fill_n(row, sizes_.key_width, T{0});
        side.row(h, side.of(relative_offset{span.low + entry}), {row, static_cast<std::size_t>(sizes_.dim)});
      }
      std::fill_n(memory_.d_query_classes[n], (span.count + rows) * sizes_.key_width, T{0});
    });
    each_value_side([&](const auto& side, std::size_t n) {
      memory_.value_classes[n].bind(side, h, entry_.value_spans()[n], T{1});
      std::fill_n(memory_.d_value_classes[n], (entry_.value_spans()[n].count + rows) * sizes_.width, T{0});
    });
  }

  /// Class products that hold for all blocks of a group, and sums that start from nothing.
  void begin_group([[maybe_unused]] const row_group<T>& group) noexcept {
    each_query_side([&](const auto&, std::size_t n) {
      const index_t stride = stride_of_query_mass(n);
      std::fill_n(memory_.query_mass[n] + group.chunk_row * stride, rows * stride, T{0});
    });
    each_value_side([&](const auto&, std::size_t n) {
      const index_t stride = stride_of_value_mass(n);
      std::fill_n(memory_.value_mass[n] + group.chunk_row * stride, rows * stride, T{0});
      const index_t line_stride = line_memory<T>(sizes_.value_entries[n]);
      const class_rows<T>& classes = memory_.value_classes[n];
      classes.products(memory_.d_outputs + group.chunk_row * sizes_.width, sizes_.width, group.count, 0,
                       classes.tiles(), memory_.value_lines[n] + group.chunk_row * line_stride, line_stride);
    });
  }

  /// Whether a term with query side n, or class values n, is given sums by class, not pairs.
  template <class Term>
  [[nodiscard]] bool by_class(const Term& term, std::size_t n) const noexcept {
    return learned::template class_content<Term> && term.query_side() && of_scores_.query_classes[n].span().count > 0;
  }
  template <class Term>
  [[nodiscard]] bool values_by_class(const Term& term, std::size_t n) const noexcept {
    return learned::template class_value<Term> && term.classes_of_value() && entry_.value_spans()[n].count > 0;
  }

  /// Adds dO . class row of the keys of a tile.
  void add_value_lines(const fused_sources<Plan, E>& sources, const row_group<T>& group, index_t r, index_t tile,
                       tile_sum<T>& sum) const noexcept {
    each_value_side([&](const auto&, std::size_t n) {
      const index_t stride = line_memory<T>(sizes_.value_entries[n]);
      sources.add_line(memory_.value_lines[n] + (group.chunk_row + r) * stride, entry_.value_spans()[n],
                       group.position[r], tile, sum);
    });
  }
  /// The weights of keys [begin, end) of a block.
  void add_weights(const row_group<T>& group, index_t block, index_t begin, index_t end,
                   const T* weights) const noexcept {
    each_value_side([&](const auto&, std::size_t n) {
      add_rows(group, entry_.value_spans()[n], block, begin, end, weights, memory_.value_mass[n],
               stride_of_value_mass(n));
    });
  }
  /// Gradients of scores with their biases.
  void add_to_biases([[maybe_unused]] const row_group<T>& group, [[maybe_unused]] index_t block,
                     [[maybe_unused]] index_t begin, [[maybe_unused]] index_t end,
                     [[maybe_unused]] const T* d_scores) const noexcept {
    if constexpr (learned::offset_biases > 0) {
      if (entry_.bias_span().count == 0) return;
      add_group_by_offset(of_scores_.positions, entry_.bias_span(), group, block, d_scores, sizes_.weight_stride, begin,
                          end, memory_.bias_mass);
    }
  }
  /// Gradients of scaled scores.
  void add_to_contents(const row_group<T>& group, index_t block, index_t begin, index_t end,
                       const T* d_scores) const noexcept {
    each_query_side([&](const auto&, std::size_t n) {
      add_rows(group, of_scores_.query_classes[n].span(), block, begin, end, d_scores, memory_.query_mass[n],
               stride_of_query_mass(n));
    });
  }

  /// What the chunk's rows and the class rows give one another.
  void end_chunk(index_t groups, index_t count) noexcept {
    each_query_side([&](const auto&, std::size_t n) {
      const index_t entries = of_scores_.query_classes[n].span().count;
      const index_t stride = stride_of_query_mass(n);
      for (index_t g = 0; g < groups; ++g) {
        const row_group<T>& group = of_scores_.groups[g];
        value_tiles<value_start::zero>(value_job<T>{.weights = memory_.query_mass[n] + group.chunk_row * stride,
                                                    .weight_stride = stride,
                                                    .weight_step = 1,
                                                    .values = memory_.query_rows_of_class[n],
                                                    .value_stride = sizes_.key_width,
                                                    .keys = entries,
                                                    .width = sizes_.key_width,
                                                    .out = memory_.d_queries + group.chunk_row * sizes_.key_width,
                                                    .out_stride = sizes_.key_width,
                                                    .ahead = nullptr},
                                       group.count);
      }
      for (index_t entry = 0; entry < entries; entry += rows) {
        add_along_rows(memory_.query_mass[n] + entry, stride, memory_.query_rows, sizes_.key_width, 0, count,
                       memory_.d_query_classes[n] + entry * sizes_.key_width, std::min(rows, entries - entry));
      }
    });
    each_value_side([&](const auto&, std::size_t n) {
      const index_t entries = entry_.value_spans()[n].count;
      const index_t stride = stride_of_value_mass(n);
      for (index_t entry = 0; entry < entries; entry += rows) {
        add_along_rows(memory_.value_mass[n] + entry, stride, memory_.d_outputs, sizes_.width, 0, count,
                       memory_.d_value_classes[n] + entry * sizes_.width, std::min(rows, entries - entry));
      }
      for (index_t r = 0; r < count; ++r) {
        if (memory_.broken[r] == 0) continue;
        for (index_t entry = 0; entry < entries; ++entry) {
          add_broken(r, memory_.value_mass[n][r * stride + entry], memory_.d_value_classes[n] + entry * sizes_.width);
        }
      }
    });
  }

  /// Hands over what was summed by offset and class for the query head that is bound.
  void finish_head() noexcept {
    const head_index h = entry_.head();
    each<parts::offset_biases>(plan_.biases(), [&]<std::size_t N>(const auto& term, term_number<N>) {
      if constexpr (offset_bias_gradient<std::remove_cvref_t<decltype(term)>, T>) {
        for (index_t entry = 0; entry < entry_.bias_span().count; ++entry) {
          const T sum = memory_.bias_mass[entry];
          if (sum == T{0}) continue;
          term.add_gradient_at(h, relative_offset{entry_.bias_span().low + entry}, sum, gradients_.template bias<N>());
        }
      }
    });
    each_query_side([&]<std::size_t N>(const auto& side, std::size_t n, const auto& term, term_number<N>) {
      const line_span& span = of_scores_.query_classes[n].span();
      for (index_t entry = 0; entry < span.count; ++entry) {
        T* const row = memory_.d_query_classes[n] + entry * sizes_.key_width;
        if (level(row, sizes_.key_width)) continue;
        scale_row(row, sizes_.key_width, plan_.scale());
        term.add_class_gradient(h, side.of(relative_offset{span.low + entry}),
                                {row, static_cast<std::size_t>(sizes_.dim)}, gradients_.template content<N>());
      }
    });
    each_value_side([&]<std::size_t N>(const auto& side, std::size_t n, const auto& term, term_number<N>) {
      const line_span& span = entry_.value_spans()[n];
      for (index_t entry = 0; entry < span.count; ++entry) {
        const T* const row = memory_.d_value_classes[n] + entry * sizes_.width;
        if (level(row, sizes_.width)) continue;
        term.add_class_gradient(h, side.of(relative_offset{span.low + entry}),
                                {row, static_cast<std::size_t>(sizes_.value_dim)}, gradients_.template value<N>());
      }
    });
  }
  /// A row of the gradient of the output, as it is stored.
  [[nodiscard]] std::span<const T> raw_d_output(head_index h, query_index i) noexcept {
    const auto from = d_output_.row(entry_.batch().value(), h.value(), i.value());
    widen_row<T, O>(from, memory_.row);
    return {memory_.row, from.size()};
  }

  /// What was left out of a row of the output's gradient counts where a weight meets it.
  void add_broken(index_t r, T weight, T* d_row) noexcept {
    if (weight == T{0}) return;
    const row_group<T>& group = of_scores_.groups[r / rows];
    const auto raw = raw_d_output(group.head[r % rows], group.query[r % rows]);
    for (std::size_t d = 0; d < raw.size(); ++d) {
      if (raw[d] - raw[d] != T{0}) d_row[d] += weight * raw[d];
    }
  }

 private:
  /// Calls visit(term, number) for each term of a tuple.
  template <index_t Any, class Terms, class Visit>
  static void each(const Terms& terms, const Visit& visit) noexcept {
    if constexpr (Any > 0) detail::each_term(terms, visit);
  }
  template <class Visit, class Side, class Term, std::size_t N>
  static void call(const Visit& visit, const Side& side, std::size_t n, const Term& term,
                   term_number<N> number) noexcept {
    if constexpr (std::invocable<const Visit&, const Side&, std::size_t, const Term&, term_number<N>>) {
      visit(side, n, term, number);
    } else {
      visit(side, n);
    }
  }
  /// Calls visit(side, number of the side, term, number of the term) for the content terms that get sums by class.
  template <class Visit>
  void each_query_side(const Visit& visit) const noexcept {
    [[maybe_unused]] std::size_t side_index = 0;
    each<parts::query_sides>(plan_.contents(), [&]<std::size_t N>(const auto& term, term_number<N> number) {
      using Term = std::remove_cvref_t<decltype(term)>;
      if constexpr (query_sided<Term, T>) {
        const std::size_t n = side_index++;
        if constexpr (learned::template class_content<Term>) {
          if (by_class(term, n)) call(visit, *term.query_side(), n, term, number);
        }
      }
    });
  }
  template <class Visit>
  void each_value_side(const Visit& visit) const noexcept {
    [[maybe_unused]] std::size_t side_index = 0;
    each<parts::class_values_terms>(plan_.values(), [&]<std::size_t N>(const auto& term, term_number<N> number) {
      using Term = std::remove_cvref_t<decltype(term)>;
      if constexpr (class_values<Term, T>) {
        const std::size_t n = side_index++;
        if constexpr (learned::template class_value<Term>) {
          if (values_by_class(term, n)) call(visit, *term.classes_of_value(), n, term, number);
        }
      }
    });
  }
  [[nodiscard]] index_t stride_of_query_mass(std::size_t n) const noexcept {
    return round_up(sizes_.query_entries[n], shape::lanes);
  }
  [[nodiscard]] index_t stride_of_value_mass(std::size_t n) const noexcept {
    return round_up(sizes_.value_entries[n], shape::lanes);
  }

  [[nodiscard]] static bool level(const T* row, index_t count) noexcept {
    return std::all_of(row, row + count, [](T x) { return x == T{0}; });
  }
  void add_rows(const row_group<T>& group, const line_span& span, index_t block, index_t begin, index_t end,
                const T* numbers, T* sums, index_t stride) const noexcept {
    for (index_t r = 0; r < group.count; ++r) {
      add_by_offset(of_scores_.positions, span, group.position[r], block, numbers + r * sizes_.weight_stride, begin,
                    end, sums + (group.chunk_row + r) * stride);
    }
  }

  const Plan& plan_;
  const heads_view<const O>& d_output_;
  const backward_sizes<Plan>& sizes_;
  const fused_entry<Plan, E>& entry_;
  const fused_memory<Plan>& of_scores_;
  backward_memory<Plan>& memory_;
  plan_gradients_of<Plan>& gradients_;
};

}  // namespace kernel
}  // namespace POSGEO_SIMD_ISA
}  // namespace posgeo
