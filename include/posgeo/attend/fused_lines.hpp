// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/attend/fused_entry.hpp>
#include <posgeo/attend/line_sums.hpp>

namespace posgeo {
inline namespace POSGEO_SIMD_ISA {
namespace kernel {

/// The numbers that positions add to the scores of a group: read where they lie if one line has them all, else summed
/// for one block of keys.
template <class Plan, class E>
class fused_lines {
 public:
  using T = typename Plan::scalar;
  using parts = detail::plan_parts<Plan>;
  using shape = tile_shape<T>;
  static constexpr index_t rows = shape::rows;
  static constexpr index_t sources = (parts::offset_biases > 0 ? 1 : 0) + (parts::key_biases > 0 ? 1 : 0) +
                                     (parts::pair_biases > 0 ? 1 : 0) + parts::query_sides + parts::key_sides +
                                     (parts::pair_contents > 0 ? 1 : 0);
  static constexpr index_t content_sources = parts::query_sides + parts::key_sides + (parts::pair_contents > 0 ? 1 : 0);

  fused_lines(const Plan& plan, const fused_sizes<Plan>& sizes, const fused_entry<Plan, E>& entry)
      : plan_(plan), sizes_(sizes), entry_(entry), memory_(entry.memory()) {}

  /// Class products that hold for all blocks of a group.
  void begin_group([[maybe_unused]] const row_group<T>& group) noexcept {
    for (std::size_t n = 0; n < parts::query_sides; ++n) {
      if (memory_.query_classes[n].span().count == 0 || sizes_.line_rows[n] == rows) continue;
      query_products(n, group, 0, memory_.query_classes[n].tiles());
    }
  }

  /// Class products of keys [begin, end) for all groups of a chunk.
  void begin_block([[maybe_unused]] row_stretch block) noexcept {
    [[maybe_unused]] std::size_t side_index = 0;
    parts::each(plan_.contents(), [&](const auto& term) {
      if constexpr (key_sided<std::remove_cvref_t<decltype(term)>, T>) {
        const std::size_t n = side_index++;
        if (memory_.key_classes[n].span().count == 0) return;
        const auto side = term.key_side();
        const index_t stride = line_memory<T>(sizes_.key_entries[n]);
        const class_rows<T>& classes = memory_.key_classes[n];
        for (index_t at = block.begin; at < block.end; at += rows) {
          for (index_t r = 0; r < rows; ++r) {
            T* const row = memory_.class_keys[n] + r * sizes_.dim;
            std::copy_n(entry_.key_row(std::min(at + r, block.end - 1)), sizes_.dim, row);
            side->shift(entry_.head(), {row, static_cast<std::size_t>(sizes_.dim)});
          }
          classes.products(memory_.class_keys[n], sizes_.dim, rows, 0, classes.tiles(),
                           memory_.key_lines[n] + (at - block.begin) * stride, stride);
        }
      }
    });
  }

  /// Whether one line has all numbers, so that nothing needs to be summed.
  [[nodiscard]] bool direct() const noexcept {
    if constexpr (sources == 1 && parts::offset_biases > 0) {
      return memory_.positions.straight() && entry_.bias_span().count > 0;
    } else if constexpr (sources == 1 && parts::query_sides == 1) {
      return memory_.positions.straight() && memory_.query_classes[0].span().count > 0;
    } else {
      return sources == 1 && parts::key_biases > 0;
    }
  }

  /// Makes what the group needs of a block that starts at key `block`; its tiles [first, last) count from there.
  void prepare(const row_group<T>& group, index_t block, index_t first, index_t last, bool apart) noexcept {
    block_ = block;
    for (std::size_t n = 0; n < parts::query_sides; ++n) {
      if (memory_.query_classes[n].span().count > 0 && sizes_.line_rows[n] == rows)
        local_products(n, group, first, last);
    }
    if (sources == 0 || (direct() && !apart)) return;
    T* const content = memory_.content_line;
    T* const bias = apart ? memory_.bias_line : content;
    for (index_t r = 0; r < group.count; ++r) {
      std::fill(content + r * sizes_.weight_stride + first * shape::keys,
                content + r * sizes_.weight_stride + last * shape::keys, T{0});
      if (apart) {
        std::fill(bias + r * sizes_.weight_stride + first * shape::keys,
                  bias + r * sizes_.weight_stride + last * shape::keys, T{0});
      }
    }
    bool in_order = memory_.positions.straight();
    for (index_t r = 1; r < group.count; ++r) in_order = in_order && group.position[r] == group.position[0] + r;
    for (index_t tile = first; tile < last; ++tile) {
      for (index_t r = 0; r < group.count; ++r) {
        const index_t at = r * sizes_.weight_stride + tile * shape::keys;
        add_offset_biases(group, r, tile, bias + at);
        add_key_biases(group, r, tile, bias + at);
        add_query_sides(group, r, tile, content + at);
      }
      std::uint32_t done = 0;
      for (std::size_t n = 0; n < parts::key_sides; ++n) {
        const line_span& span = memory_.key_classes[n].span();
        const index_t stride = line_memory<T>(sizes_.key_entries[n]);
        const index_t entry = saturating_subtract(first_position(tile) - group.position[0], span.low);
        if (in_order && span.count > 0 &&
            add_squares<T>(content + tile * shape::keys, sizes_.weight_stride, group.count,
                           memory_.key_lines[n] + tile * shape::keys * stride, stride, entry, span.count)) {
          done |= std::uint32_t{1} << n;
        }
      }
      for (index_t r = 0; r < group.count; ++r) {
        const index_t at = r * sizes_.weight_stride + tile * shape::keys;
        add_key_sides(group, r, tile, done, content + at);
        add_pairs(group, r, tile, content + at, bias + at);
      }
    }
  }

  /// The run that starts at a tile of the prepared block.
  [[nodiscard]] line_run<T> lines(const row_group<T>& group, index_t tile, index_t last) const noexcept {
    if constexpr (sources == 1 && parts::offset_biases > 0) {
      if (direct())
        return along(group, tile, last, entry_.bias_span(), memory_.biases, line_memory<T>(sizes_.bias_entries),
                     group.slot);
    } else if constexpr (sources == 1 && parts::query_sides == 1) {
      if (direct()) {
        return along(group, tile, last, memory_.query_classes[0].span(), query_line(0, group, 0),
                     line_memory<T>(sizes_.query_entries[0]), nullptr);
      }
    } else if constexpr (sources == 1 && parts::key_biases > 0) {
      line_run<T> level{};
      for (index_t r = 0; r < rows; ++r) level.line[r] = entry_.key_line(group.slot[r]) + block_ + tile * shape::keys;
      level.step = shape::keys;
      level.end = last;
      return level;
    }
    return summed(group, memory_.content_line, tile, last);
  }
  /// The biases of a tile, apart from the content.
  [[nodiscard]] std::array<const T*, rows> bias_lines(index_t tile) const noexcept {
    std::array<const T*, rows> lines{};
    for (index_t r = 0; r < rows; ++r) {
      lines[static_cast<std::size_t>(r)] = memory_.bias_line + r * sizes_.weight_stride + tile * shape::keys;
    }
    return lines;
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

 private:
  [[nodiscard]] line_run<T> summed(const row_group<T>& group, const T* from, index_t tile,
                                   index_t last) const noexcept {
    line_run<T> all{};
    for (index_t r = 0; r < rows; ++r) {
      all.line[r] = from + std::min(r, group.count - 1) * sizes_.weight_stride + tile * shape::keys;
    }
    all.step = shape::keys;
    all.end = last;
    return all;
  }

  [[nodiscard]] index_t first_position(index_t tile) const noexcept {
    return memory_.positions.first() + block_ + tile * shape::keys;
  }
  [[nodiscard]] const T* query_line(std::size_t n, const row_group<T>& group, index_t r) const noexcept {
    const index_t row = sizes_.line_rows[n] == rows ? r : group.chunk_row + r;
    return memory_.lines[n] + row * line_memory<T>(sizes_.query_entries[n]);
  }

  /// The run of tiles that read a line for each row: those numbered by `which`, or the rows' own.
  [[nodiscard]] line_run<T> along(const row_group<T>& group, index_t tile, index_t last, const line_span& span,
                                  const T* line, index_t stride, const index_t* which) const noexcept {
    line_run<T> out{};
    index_t entry[rows];
    for (index_t r = 0; r < rows; ++r) {
      entry[r] = saturating_subtract(first_position(tile) - group.position[r], span.low);
      const index_t number = which == nullptr ? r : which[r];
      out.line[r] = line + number * stride + std::clamp(entry[r], -line_margin<T>, span.count);
    }
    const auto [lowest, highest] = std::minmax_element(entry, entry + rows);
    out.set_end(*lowest, *highest, span.count, tile, last);
    return out;
  }

  void query_products(std::size_t n, const row_group<T>& group, index_t first, index_t last) noexcept {
    const index_t row = sizes_.line_rows[n] == rows ? 0 : group.chunk_row;
    const index_t stride = line_memory<T>(sizes_.query_entries[n]);
    memory_.query_classes[n].products(memory_.class_queries[n] + group.chunk_row * sizes_.dim, sizes_.dim, group.count,
                                      first, last, memory_.lines[n] + row * stride + first * shape::keys, stride);
  }
  /// Only the entries that these tiles can read; all of them where positions are not straight.
  void local_products(std::size_t n, const row_group<T>& group, index_t first, index_t last) noexcept {
    const class_rows<T>& classes = memory_.query_classes[n];
    const line_span& span = classes.span();
    index_t lowest = 0;
    index_t highest = span.count - 1;
    if (memory_.positions.straight()) {
      const auto [low, high] = std::minmax_element(group.position, group.position + rows);
      lowest = std::clamp<index_t>(saturating_subtract(saturating_subtract(first_position(first), *high), span.low), 0,
                                   span.count - 1);
      highest = std::clamp<index_t>(saturating_subtract(saturating_subtract(first_position(last) - 1, *low), span.low),
                                    0, span.count - 1);
    }
    query_products(n, group, lowest / shape::keys, highest / shape::keys + 1);
  }

  /// line[offset of each key], for positions that are spelled out.
  void add_gathered(T* to, const T* line, const line_span& span, index_t query, index_t tile) const noexcept {
    const index_t from_stretch = block_ / shape::keys + tile;
    gather_line(
        to, line, span.count, saturating_subtract(saturating_subtract(memory_.positions.first(), query), span.low),
        memory_.positions.relative() + from_stretch * shape::keys, memory_.positions.bounds_of_tile(from_stretch));
  }
  /// Adds number(offset) for each key of a tile, one by one.
  template <class Number>
  void add_each(T* to, index_t query, index_t tile, const Number& number) const noexcept {
    const index_t begin = block_ + tile * shape::keys;
    const index_t end = std::min(begin + shape::keys, memory_.positions.size());
    for (index_t n = begin; n < end; ++n) {
      const key_index j{entry_.stretch().begin + n};
      to[n - begin] +=
          number(j, relative_offset{saturating_subtract(plan_.call().at(entry_.batch(), j).value(), query)});
    }
  }

  void add_offset_biases(const row_group<T>& group, index_t r, index_t tile, T* to) const noexcept {
    if constexpr (parts::offset_biases > 0) {
      const index_t query = group.position[r];
      const line_span& span = entry_.bias_span();
      if (span.count == 0) {
        add_each(to, query, tile, [&](key_index, relative_offset offset) {
          T sum{0};
          parts::each(plan_.biases(), [&](const auto& term) {
            using Term = std::remove_cvref_t<decltype(term)>;
            if constexpr (parts::template by_offset<Term>) sum += term.at_offset(group.head[r], offset);
          });
          return entry_.base2(sum);
        });
      } else if (memory_.positions.straight()) {
        add_tile(to, entry_.biases(group.slot[r]) + entry_of<T>(first_position(tile) - query, span));
      } else {
        add_gathered(to, entry_.biases(group.slot[r]), span, query, tile);
      }
    }
  }
  void add_key_biases([[maybe_unused]] const row_group<T>& group, [[maybe_unused]] index_t r,
                      [[maybe_unused]] index_t tile, [[maybe_unused]] T* to) const noexcept {
    if constexpr (parts::key_biases > 0) add_tile(to, entry_.key_line(group.slot[r]) + block_ + tile * shape::keys);
  }

  void add_query_sides(const row_group<T>& group, index_t r, index_t tile, T* to) const noexcept {
    [[maybe_unused]] std::size_t side_index = 0;
    parts::each(plan_.contents(), [&](const auto& term) {
      if constexpr (query_sided<std::remove_cvref_t<decltype(term)>, T>) {
        const std::size_t n = side_index++;
        const auto side = term.query_side();
        if (!side) return;
        const index_t query = group.position[r];
        const line_span& span = memory_.query_classes[n].span();
        if (span.count == 0) {
          const T* const row = memory_.class_queries[n] + (group.chunk_row + r) * sizes_.dim;
          add_each(to, query, tile, [&](key_index, relative_offset offset) {
            return class_product(*side, group.head[r], side->of(offset), row);
          });
        } else if (memory_.positions.straight()) {
          add_tile(to, query_line(n, group, r) + entry_of<T>(first_position(tile) - query, span));
        } else {
          add_gathered(to, query_line(n, group, r), span, query, tile);
        }
      }
    });
  }

  void add_key_sides(const row_group<T>& group, index_t r, index_t tile, std::uint32_t done, T* to) const noexcept {
    [[maybe_unused]] std::size_t side_index = 0;
    parts::each(plan_.contents(), [&](const auto& term) {
      if constexpr (key_sided<std::remove_cvref_t<decltype(term)>, T>) {
        const std::size_t n = side_index++;
        const auto side = term.key_side();
        if (!side || (done >> n & 1U) != 0) return;
        const index_t query = group.position[r];
        const line_span& span = memory_.key_classes[n].span();
        const index_t stride = line_memory<T>(sizes_.key_entries[n]);
        const T* const of_tile = memory_.key_lines[n] + tile * shape::keys * stride;
        if (span.count == 0) {
          add_each(to, query, tile, [&](key_index j, relative_offset offset) {
            const index_t key = j.value() - entry_.stretch().begin;
            std::copy_n(entry_.key_row(key), sizes_.dim, memory_.class_keys[n]);
            side->shift(group.head[r], {memory_.class_keys[n], static_cast<std::size_t>(sizes_.dim)});
            return class_product(*side, group.head[r], side->of(offset), memory_.class_keys[n]) * entry_.scale();
          });
          return;
        }
        std::int32_t entry[shape::keys];
        if (memory_.positions.straight()) {
          const index_t first = entry_of<T>(first_position(tile) - query, span);
          for (index_t k = 0; k < shape::keys; ++k) entry[k] = static_cast<std::int32_t>(first + k * (stride + 1));
        } else {
          const std::int32_t* const relative = memory_.positions.relative() + block_ + tile * shape::keys;
          const index_t origin = saturating_subtract(saturating_subtract(memory_.positions.first(), query), span.low);
          for (index_t k = 0; k < shape::keys; ++k) {
            entry[k] = static_cast<std::int32_t>(
                std::clamp<index_t>(saturating_add(origin, relative[k]), 0, span.count - 1) + k * stride);
          }
        }
        for (index_t k = 0; k < shape::keys; k += shape::lanes) {
          simd::store(to + k, simd::load(to + k) + simd::gather(of_tile, entry + k));
        }
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
                 [[maybe_unused]] T* content, [[maybe_unused]] T* bias) const noexcept {
    if constexpr (parts::pair_biases > 0 || parts::pair_contents > 0) {
      const query_index i = group.query[r];
      const index_t begin = block_ + tile * shape::keys;
      const index_t end = std::min(begin + shape::keys, memory_.positions.size());
      seen_bits removed = 0;
      parts::each(plan_.biases(), [&](const auto& term) {
        using Term = std::remove_cvref_t<decltype(term)>;
        if constexpr (parts::template by_line<Term>) {
          const auto line = term.line(entry_.batch(), group.head[r], i);
          removed |=
              add_caller_line(bias, line.first + (entry_.stretch().begin + begin) * line.step, line.step, end - begin);
        }
      });
      for (index_t n = begin; parts::slow_pairs > 0 && n < end; ++n) {
        const key_index j{entry_.stretch().begin + n};
        if (!plan_.visible(entry_.batch(), i, j)) continue;
        const index_t k = n - begin;
        parts::each(plan_.biases(), [&](const auto& term) {
          using Term = std::remove_cvref_t<decltype(term)>;
          if constexpr (!parts::template by_offset<Term> && !parts::template by_key<Term> &&
                        !parts::template by_line<Term>) {
            const T number = term(entry_.batch(), group.head[r], i, j);
            if (number < std::numeric_limits<T>::lowest()) {
              removed |= seen_bits{1} << k;
            } else {
              bias[k] = std::max(bias[k] + entry_.base2(number), std::numeric_limits<T>::lowest());
            }
          }
        });
        if constexpr (parts::pair_contents > 0) {
          const auto width = static_cast<std::size_t>(sizes_.dim);
          const std::span<const T> query(memory_.query_rows + (group.chunk_row + r) * sizes_.dim, width);
          const std::span<const T> key(entry_.key_row(n), width);
          parts::each(plan_.contents(), [&](const auto& term) {
            using Term = std::remove_cvref_t<decltype(term)>;
            if constexpr (!parts::template blocked_content<Term>) {
              content[k] += term(entry_.batch(), group.head[r], i, j, query, key) * entry_.scale();
            }
          });
        }
      }
      memory_.removed[r * (sizes_.block_keys / shape::keys) + tile] = removed;
    }
  }

  const Plan& plan_;
  const fused_sizes<Plan>& sizes_;
  const fused_entry<Plan, E>& entry_;
  const fused_memory<Plan>& memory_;
  index_t block_ = 0;
};

}  // namespace kernel
}  // namespace POSGEO_SIMD_ISA
}  // namespace posgeo
