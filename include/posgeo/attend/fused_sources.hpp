// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/attend/fused_entry.hpp>
#include <posgeo/attend/line_sums.hpp>

namespace posgeo {
inline namespace POSGEO_SIMD_ISA {
namespace kernel {

/// Everything of a plan that adds to the scores of a tile: the lines of biases by offset and by key, class products of
/// either side, and terms that know only pairs.
template <class Plan, class E>
class fused_sources {
 public:
  using T = typename Plan::scalar;
  using parts = detail::plan_parts<Plan>;
  using shape = tile_shape<T>;
  static constexpr index_t rows = shape::rows;

  fused_sources(const Plan& plan, const fused_sizes<Plan>& sizes, const fused_entry<Plan, E>& entry)
      : plan_(plan), sizes_(sizes), entry_(entry), memory_(entry.memory()) {}

  /// The block of keys that tiles are counted in, and whether biases are kept apart from the content.
  void begin(index_t block, bool apart) noexcept {
    block_ = block;
    apart_ = apart;
  }
  [[nodiscard]] index_t block() const noexcept { return block_; }

  /// Where the first key of a tile stands, if positions are straight.
  [[nodiscard]] index_t first_position(index_t tile) const noexcept {
    return memory_.positions.first() + block_ + tile * shape::keys;
  }
  [[nodiscard]] const T* query_line(std::size_t n, const row_group<T>& group, index_t r) const noexcept {
    const index_t row = sizes_.line_rows[n] == rows ? r : group.chunk_row + r;
    return memory_.lines[n] + row * line_memory<T>(sizes_.query_entries[n]);
  }

  /// The biases that a row reads of keys other than [CLS].
  [[nodiscard]] const T* bias_line(const row_group<T>& group, index_t r) const noexcept {
    bias_case which = bias_case::plain;
    if constexpr (parts::cls_biases) {
      if (const auto cls = entry_.cls(); cls && cls->value() == group.position[r]) which = bias_case::cls_query;
    }
    return entry_.biases(group.slot[r], which);
  }

  /// Everything that positions add to the scores of a tile, for each row; biases and content apart where a cap comes
  /// between them.
  void sum_tile(const row_group<T>& group, index_t tile) noexcept {
    const bool squares = write_key_squares(group, tile);
    for (index_t r = 0; r < group.count; ++r) {
      tile_sum<T> content;
      tile_sum<T> bias;
      const index_t at = r * sizes_.weight_stride + tile * shape::keys;
      // In one order, however the key side's products come, or rows alone would have other bits than in a group.
      if (squares) content.add(memory_.content_line + at);
      add_key_sides(group, r, tile, squares ? 1 : 0, content);
      add_offset_biases(group, r, tile, bias);
      if constexpr (parts::key_biases > 0) bias.add(entry_.key_line(group.slot[r]) + block_ + tile * shape::keys);
      add_query_sides(group, r, tile, content);
      add_pairs(group, r, tile, content, bias);
      if (apart_) {
        bias.store(memory_.bias_line + at);
      } else {
        content.add(bias);
        if constexpr (parts::pair_biases > 0) content.bound();
      }
      content.store(memory_.content_line + at);
    }
  }

  /// What positions add to the score of one pair, whose key row is given.
  [[nodiscard]] T of_pair([[maybe_unused]] const row_group<T>& group, [[maybe_unused]] index_t r,
                          [[maybe_unused]] index_t key, [[maybe_unused]] const T* key_row) const noexcept {
    T sum{0};
    const key_index j{entry_.stretch().begin + key};
    [[maybe_unused]] const relative_offset offset{plan_.call().at(entry_.batch(), j).value() - group.position[r]};
    parts::each(plan_.biases(),
                [&](const auto& term) { sum += entry_.base2(term(entry_.batch(), group.head[r], group.query[r], j)); });
    [[maybe_unused]] std::size_t side_index = 0;
    parts::each(plan_.contents(), [&](const auto& term) {
      using Term = std::remove_cvref_t<decltype(term)>;
      if constexpr (query_sided<Term, T>) {
        const T* const row = memory_.class_queries[side_index++] + (group.chunk_row + r) * sizes_.dim;
        if (const auto side = term.query_side()) sum += class_product(*side, group.head[r], side->of(offset), row);
      }
      if constexpr (key_sided<Term, T>) {
        if (const auto side = term.key_side()) {
          T* const shifted = memory_.class_keys[0];
          std::copy_n(key_row, sizes_.dim, shifted);
          side->shift(group.head[r], {shifted, static_cast<std::size_t>(sizes_.dim)});
          sum += class_product(*side, group.head[r], side->of(offset), shifted) * entry_.scale();
        }
      }
    });
    return sum;
  }

  /// The numbers of a line by offset for the keys of a tile.
  void add_line(const T* line, const line_span& span, index_t query, index_t tile, tile_sum<T>& sum) const noexcept {
    const index_t of_stretch = block_ / shape::keys + tile;
    if (const auto first = memory_.positions.line_of_tile(of_stretch)) {
      sum.add(line + entry_of<T>(saturating_subtract(*first, query), span));
    } else {
      sum.add_gathered(
          line, span.count, saturating_subtract(saturating_subtract(memory_.positions.first(), query), span.low),
          memory_.positions.relative() + of_stretch * shape::keys, memory_.positions.bounds_of_tile(of_stretch));
    }
  }

 private:
  /// Adds number(k, key, offset) for each key of a tile, one by one.
  template <class Number>
  void add_each(index_t query, index_t tile, tile_sum<T>& sum, const Number& number) const noexcept {
    T numbers[shape::keys] = {};
    const index_t begin = block_ + tile * shape::keys;
    const index_t end = std::min(begin + shape::keys, memory_.positions.size());
    for (index_t n = begin; n < end; ++n) {
      const key_index j{entry_.stretch().begin + n};
      numbers[n - begin] =
          number(j, relative_offset{saturating_subtract(plan_.call().at(entry_.batch(), j).value(), query)});
    }
    sum.add(numbers);
  }

  void add_offset_biases([[maybe_unused]] const row_group<T>& group, [[maybe_unused]] index_t r,
                         [[maybe_unused]] index_t tile, [[maybe_unused]] tile_sum<T>& bias) const noexcept {
    if constexpr (parts::offset_biases > 0) {
      const index_t query = group.position[r];
      const line_span& span = entry_.bias_span();
      if (span.count > 0) {
        if (!parts::cls_biases) return add_line(bias_line(group, r), span, query, tile, bias);
        tile_sum<T> of_line;
        add_line(bias_line(group, r), span, query, tile, of_line);
        return add_beside_cls(group, r, tile, of_line, bias);
      }
      add_each(query, tile, bias, [&](key_index j, relative_offset) {
        T sum{0};
        parts::each(plan_.biases(), [&](const auto& term) {
          using Term = std::remove_cvref_t<decltype(term)>;
          if constexpr (parts::template by_offset<Term>) sum += term(entry_.batch(), group.head[r], group.query[r], j);
        });
        return entry_.base2(sum);
      });
    }
  }
  /// Biases of a row, of which keys that stand at [CLS] have another unless the query does.
  void add_beside_cls(const row_group<T>& group, index_t r, index_t tile, const tile_sum<T>& of_line,
                      tile_sum<T>& bias) const noexcept {
    T numbers[shape::keys];
    of_line.store(numbers);
    const auto cls = entry_.cls();
    if (cls && cls->value() != group.position[r]) {
      const T* const line = entry_.biases(group.slot[r], bias_case::cls_key);
      const line_span& span = entry_.bias_span();
      const index_t entry = saturating_subtract(saturating_subtract(cls->value(), group.position[r]), span.low);
      const T number = line[std::clamp<index_t>(entry, 0, span.count - 1)];
      const index_t begin = block_ + tile * shape::keys;
      for (index_t n = begin; n < std::min(begin + shape::keys, memory_.positions.size()); ++n) {
        if (plan_.call().at(entry_.batch(), key_index{entry_.stretch().begin + n}) == *cls) numbers[n - begin] = number;
      }
    }
    bias.add(numbers);
  }

  void add_query_sides(const row_group<T>& group, index_t r, index_t tile, tile_sum<T>& content) const noexcept {
    [[maybe_unused]] std::size_t side_index = 0;
    parts::each(plan_.contents(), [&](const auto& term) {
      if constexpr (query_sided<std::remove_cvref_t<decltype(term)>, T>) {
        const std::size_t n = side_index++;
        const auto side = term.query_side();
        if (!side) return;
        const index_t query = group.position[r];
        const line_span& span = memory_.query_classes[n].span();
        if (span.count > 0) return add_line(query_line(n, group, r), span, query, tile, content);
        const T* const row = memory_.class_queries[n] + (group.chunk_row + r) * sizes_.dim;
        add_each(query, tile, content, [&](key_index, relative_offset offset) {
          return class_product(*side, group.head[r], side->of(offset), row);
        });
      }
    });
  }

  /// Writes the products of the first key side into the content line of a group whose rows and keys stand in order;
  /// gives whether they could be.
  [[nodiscard]] bool write_key_squares([[maybe_unused]] const row_group<T>& group,
                                       [[maybe_unused]] index_t tile) noexcept {
    if constexpr (parts::key_sides > 0) {
      const line_span& span = memory_.key_classes[0].span();
      bool in_order = memory_.positions.straight() && span.count > 0;
      for (index_t r = 1; r < group.count && in_order; ++r) in_order = group.position[r] == group.position[0] + r;
      const index_t stride = line_memory<T>(sizes_.key_entries[0]);
      return in_order && write_squares<T>(memory_.content_line + tile * shape::keys, sizes_.weight_stride, group.count,
                                          memory_.key_lines[0] + tile * shape::keys * stride, stride,
                                          saturating_subtract(first_position(tile) - group.position[0], span.low),
                                          span.count, memory_.key_ends[0] + tile * shape::keys, sizes_.block_keys);
    }
    return false;
  }
  /// Adds the products of key sides from `first` on.
  void add_key_sides(const row_group<T>& group, index_t r, index_t tile, std::size_t first,
                     tile_sum<T>& content) const noexcept {
    [[maybe_unused]] std::size_t side_index = 0;
    parts::each(plan_.contents(), [&](const auto& term) {
      if constexpr (key_sided<std::remove_cvref_t<decltype(term)>, T>) {
        const std::size_t n = side_index++;
        const auto side = term.key_side();
        if (!side || n < first) return;
        const index_t query = group.position[r];
        const line_span& span = memory_.key_classes[n].span();
        if (span.count == 0) {
          add_each(query, tile, content, [&](key_index j, relative_offset offset) {
            T* const row = memory_.class_keys[n];
            std::copy_n(entry_.key_row(j.value() - entry_.stretch().begin), sizes_.dim, row);
            side->shift(group.head[r], {row, static_cast<std::size_t>(sizes_.dim)});
            return class_product(*side, group.head[r], side->of(offset), row) * entry_.scale();
          });
          return;
        }
        const index_t stride = line_memory<T>(sizes_.key_entries[n]);
        std::int32_t entry[shape::keys];
        if (memory_.positions.straight()) {
          const index_t at = entry_of<T>(first_position(tile) - query, span);
          for (index_t k = 0; k < shape::keys; ++k) entry[k] = static_cast<std::int32_t>(at + k * (stride + 1));
        } else {
          const std::int32_t* const relative = memory_.positions.relative() + block_ + tile * shape::keys;
          const index_t origin = saturating_subtract(saturating_subtract(memory_.positions.first(), query), span.low);
          for (index_t k = 0; k < shape::keys; ++k) {
            entry[k] = static_cast<std::int32_t>(
                std::clamp<index_t>(saturating_add(origin, relative[k]), 0, span.count - 1) + k * stride);
          }
        }
        content.add_gathered(memory_.key_lines[n] + tile * shape::keys * stride, entry);
      }
    });
  }

  /// row . class row, without a table.
  template <class Side>
  [[nodiscard]] T class_product(const Side& side, head_index h, index_t c, const T* row) const noexcept {
    const std::span<T> of_class(memory_.class_row, static_cast<std::size_t>(sizes_.dim));
    side.row(h, c, of_class);
    return dot(row, memory_.class_row, sizes_.dim);
  }

  /// Terms that know only pairs; a bias of -infinity removes its key.
  void add_pairs([[maybe_unused]] const row_group<T>& group, [[maybe_unused]] index_t r, [[maybe_unused]] index_t tile,
                 [[maybe_unused]] tile_sum<T>& content, [[maybe_unused]] tile_sum<T>& bias) const noexcept {
    if constexpr (parts::pair_biases > 0 || parts::pair_contents > 0) {
      const query_index i = group.query[r];
      const index_t begin = block_ + tile * shape::keys;
      const index_t end = std::min(begin + shape::keys, memory_.positions.size());
      seen_bits removed = 0;
      parts::each(plan_.biases(), [&](const auto& term) {
        if constexpr (parts::template by_line<std::remove_cvref_t<decltype(term)>>) {
          const auto line = term.line(entry_.batch(), group.head[r], i);
          removed |=
              bias.add_caller_line(line.first + (entry_.stretch().begin + begin) * line.step, line.step, end - begin);
        }
      });
      if constexpr (parts::slow_pairs > 0) {
        T of_bias[shape::keys] = {};
        T of_content[shape::keys] = {};
        for (index_t n = begin; n < end; ++n) {
          const key_index j{entry_.stretch().begin + n};
          if (!plan_.visible(entry_.batch(), i, j)) continue;
          const T number = bias_of_pair(group.head[r], i, j);
          if (number < std::numeric_limits<T>::lowest()) removed |= seen_bits{1} << (n - begin);
          of_bias[n - begin] = entry_.base2(number);
          of_content[n - begin] = content_of_pair(group, r, n, j);
        }
        bias.add(of_bias);
        content.add(of_content);
        bias.bound();
      }
      memory_.removed[r * (sizes_.block_keys / shape::keys) + tile] = removed;
    }
  }
  /// The biases that know only pairs; -infinity exactly if one of them is.
  [[nodiscard]] T bias_of_pair([[maybe_unused]] head_index h, [[maybe_unused]] query_index i,
                               [[maybe_unused]] key_index j) const noexcept {
    constexpr T lowest = std::numeric_limits<T>::lowest();
    T sum{0};
    bool removed = false;
    parts::each(plan_.biases(), [&](const auto& term) {
      using Term = std::remove_cvref_t<decltype(term)>;
      if constexpr (!parts::template by_offset<Term> && !parts::template by_key<Term> &&
                    !parts::template by_line<Term>) {
        const T number = term(entry_.batch(), h, i, j);
        removed = removed || number < lowest;
        sum = std::max(sum + number, lowest);
      }
    });
    return removed ? -std::numeric_limits<T>::infinity() : sum;
  }
  [[nodiscard]] T content_of_pair([[maybe_unused]] const row_group<T>& group, [[maybe_unused]] index_t r,
                                  [[maybe_unused]] index_t n, [[maybe_unused]] key_index j) const noexcept {
    T sum{0};
    if constexpr (parts::pair_contents > 0) {
      const auto width = static_cast<std::size_t>(sizes_.dim);
      const std::span<const T> query(memory_.query_rows + (group.chunk_row + r) * sizes_.dim, width);
      const std::span<const T> key(entry_.key_row(n), width);
      parts::each(plan_.contents(), [&](const auto& term) {
        if constexpr (!parts::template blocked_content<std::remove_cvref_t<decltype(term)>>) {
          sum += term(entry_.batch(), group.head[r], group.query[r], j, query, key) * entry_.scale();
        }
      });
    }
    return sum;
  }

  const Plan& plan_;
  const fused_sizes<Plan>& sizes_;
  const fused_entry<Plan, E>& entry_;
  const fused_memory<Plan>& memory_;
  index_t block_ = 0;
  bool apart_ = false;
};

}  // namespace kernel
}  // namespace POSGEO_SIMD_ISA
}  // namespace posgeo
