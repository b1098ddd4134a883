// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/attend/fused_sources.hpp>

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
      : plan_(plan), sizes_(sizes), entry_(entry), memory_(entry.memory()), sources_(plan, sizes, entry) {}

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
          T* const lines = memory_.key_lines[n] + (at - block.begin) * stride;
          classes.products(memory_.class_keys[n], sizes_.dim, rows, 0, classes.tiles(), lines, stride);
          for (index_t r = 0; r < std::min(rows, block.end - at); ++r) {
            T* const ends = memory_.key_ends[n] + (at - block.begin) + r;
            ends[0] = lines[r * stride];
            ends[sizes_.block_keys] = lines[r * stride + classes.span().count - 1];
          }
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
    sources_.begin(block, apart);
    for (std::size_t n = 0; n < parts::query_sides; ++n) {
      if (memory_.query_classes[n].span().count > 0 && sizes_.line_rows[n] == rows)
        local_products(n, group, first, last);
    }
    if constexpr (sources > 0) {
      if (!direct() || apart) {
        for (index_t tile = first; tile < last; ++tile) sources_.sum_tile(group, tile);
      } else if (const index_t tile = tile_of_cls(); tile >= first && tile < last) {
        sources_.sum_tile(group, tile);
      }
    }
  }

  /// The run that starts at a tile of the prepared block.
  [[nodiscard]] line_run<T> lines(const row_group<T>& group, index_t tile, index_t last) const noexcept {
    if constexpr (sources == 1 && parts::offset_biases > 0) {
      const index_t other = tile_of_cls();
      if (direct() && tile == other) return summed(group, memory_.content_line, tile, tile + 1);
      if (direct()) {
        const T* line[rows];
        for (index_t r = 0; r < rows; ++r) line[r] = sources_.bias_line(group, r);
        return along(group, tile, tile < other ? std::min(last, other) : last, entry_.bias_span(), line);
      }
    } else if constexpr (sources == 1 && parts::query_sides == 1) {
      if (direct()) {
        const T* line[rows];
        for (index_t r = 0; r < rows; ++r) line[r] = sources_.query_line(0, group, r);
        return along(group, tile, last, memory_.query_classes[0].span(), line);
      }
    } else if constexpr (sources == 1 && parts::key_biases > 0) {
      line_run<T> level{};
      for (index_t r = 0; r < rows; ++r)
        level.line[r] = entry_.key_line(group.slot[r]) + sources_.block() + tile * shape::keys;
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

  [[nodiscard]] const fused_sources<Plan, E>& each_source() const noexcept { return sources_; }

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

  /// The tile, counted from the block, that has the key that stands at [CLS], where positions are straight; else none,
  /// -1.
  [[nodiscard]] index_t tile_of_cls() const noexcept {
    if constexpr (!parts::cls_biases) return -1;
    const auto cls = entry_.cls();
    if (!cls) return -1;
    const index_t key = saturating_subtract(cls->value(), memory_.positions.first());
    const index_t from_block = saturating_subtract(key, sources_.block());
    return from_block >= 0 && key < memory_.positions.size() ? from_block / shape::keys : -1;
  }

  /// The run of tiles that read a line for each row.
  [[nodiscard]] line_run<T> along(const row_group<T>& group, index_t tile, index_t last, const line_span& span,
                                  const T* const* line) const noexcept {
    line_run<T> out{};
    index_t entry[rows];
    for (index_t r = 0; r < rows; ++r) {
      entry[r] = saturating_subtract(sources_.first_position(tile) - group.position[r], span.low);
      out.line[r] = line[r] + std::clamp(entry[r], -line_margin<T>, span.count);
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
      lowest = std::clamp<index_t>(
          saturating_subtract(saturating_subtract(sources_.first_position(first), *high), span.low), 0, span.count - 1);
      highest = std::clamp<index_t>(
          saturating_subtract(saturating_subtract(sources_.first_position(last) - 1, *low), span.low), 0,
          span.count - 1);
    }
    query_products(n, group, lowest / shape::keys, highest / shape::keys + 1);
  }

  const Plan& plan_;
  const fused_sizes<Plan>& sizes_;
  const fused_entry<Plan, E>& entry_;
  const fused_memory<Plan>& memory_;
  fused_sources<Plan, E> sources_;
};

}  // namespace kernel
}  // namespace POSGEO_SIMD_ISA
}  // namespace posgeo
