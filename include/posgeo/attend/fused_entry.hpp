// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/attend/attend.hpp>
#include <posgeo/attend/fused_memory.hpp>

#include <algorithm>
#include <limits>
#include <optional>

namespace posgeo {
inline namespace POSGEO_SIMD_ISA {
namespace kernel {

/// What one worker has packed: the keys and values of one key head of one sequence, and the positional lines of one
/// query head. Binding what is bound already costs nothing.
template <class Plan, class E>
class fused_entry {
 public:
  using T = typename Plan::scalar;
  using parts = detail::plan_parts<Plan>;
  using shape = tile_shape<T>;
  /// Whether keys are packed as they are stored: nothing turns or extends them, and nobody reads them as rows.
  static constexpr bool keys_as_stored =
      (std::is_same_v<E, T> || std::is_same_v<E, Eigen::bfloat16>)&&!Plan::has_transforms && parts::appended == 0 &&
      parts::key_sides == 0 && parts::pair_contents == 0;
  /// Whether keys that only one group reads can be packed tile by tile on their way: nobody else reads their rows.
  static constexpr bool keys_pass = parts::key_sides == 0 && parts::pair_contents == 0;

  fused_entry(const Plan& plan, const qkv<E>& in, const fused_sizes<Plan>& sizes, const fused_memory<Plan>& memory)
      : plan_(plan), in_(in), sizes_(sizes), memory_(memory), rule_(rule_of(plan)) {}

  /// The first query row after i, at most `end`, whose keys lie in other rows than those of i.
  [[nodiscard]] index_t rows_alike(batch_index b, index_t i, index_t end) const noexcept {
    if (!includes(rule_.rows, hides::other_segments)) return end;
    const row_space& queries = plan_.call().query_space();
    if (queries.affine()) return end;
    const index_t sequence = queries.sequence(b.value(), i);
    while (i < end && queries.sequence(b.value(), i) == sequence) ++i;
    return i;
  }

  /// Makes the sequence's keys, as query head h reads them, and the lines of heads [h, h + heads) ready. Keys and
  /// values themselves are packed by pack_all or pack_tiles.
  void bind(batch_index b, head_index h, index_t heads, index_t sequence) noexcept {
    const index_t shared = key_head(plan_.layout(), h);
    const row_stretch stretch = stretch_of(plan_.call(), rule_, b, sequence);
    const bool other_rows = !bound_ || b != b_ || stretch != stretch_ || sequence != sequence_;
    if (!bound_ || b != b_) bind_turns(b, plan_.call().query_space(), memory_.query_turns);
    if (other_rows) {
      b_ = b;
      stretch_ = stretch;
      sequence_ = sequence;
      memory_.positions.bind(plan_.call(), rule_, b, sequence, stretch);
      bind_queries();
      bind_turns(b, plan_.call().key_space(), memory_.key_turns);
    }
    if (other_rows || shared != shared_ || (head_ != h && keys_by_head())) packed_all_ = false;
    if (other_rows || head_ != h || heads_ != heads) {
      for (index_t slot = 0; slot < heads; ++slot) bind_head(head_index{h.value() + slot}, slot);
    }
    head_ = h;
    heads_ = heads;
    shared_ = shared;
    bound_ = true;
  }

  /// Packs every key and value, once.
  void pack_all() noexcept {
    if (packed_all_) return;
    pack_tiles({0, memory_.positions.size()});
    packed_all_ = true;
  }
  /// Packs the keys and values of a stretch of tiles where those before it were.
  void pack_tiles(row_stretch block) noexcept {
    packed_all_ = false;
    keys_from_ = block.begin;
    for (index_t n = block.begin; n < block.end; n += shape::keys) pack_keys(n, nullptr);
    pack_values(block);
  }
  /// Packs the values of a stretch of tiles alone.
  void pack_values(row_stretch block) noexcept {
    packed_all_ = false;
    values_from_ = block.begin;
    any_broken_ = false;
    for (index_t n = block.begin; n < block.end; ++n) {
      pack_value(n - block.begin, key_index{stretch_.begin + n}, memory_.values + (n - block.begin) * sizes_.width);
    }
    std::fill(memory_.values + block.size() * sizes_.width,
              memory_.values + round_up(block.size(), shape::keys) * sizes_.width, T{0});
  }
  /// Packs the tile that starts at a key in the place of the one before, while its stored rows are on their way.
  void pack_passing(index_t n) noexcept {
    packed_all_ = false;
    keys_from_ = n;
    const auto row = in_.key.row(b_.value(), shared_, stretch_.begin + n);
    ahead_ = read_ahead(row.data(), sizes_.dim, in_.key.strides()[2]);
    pack_keys(n, &ahead_);
  }
  /// The lines that the loop over a passing tile asks for.
  [[nodiscard]] const read_ahead* ahead() const noexcept { return &ahead_; }
  /// Packed keys from the first of a tile on, and packed values from a key on.
  [[nodiscard]] const T* keys_from(index_t n) const noexcept { return memory_.keys + (n - keys_from_) * sizes_.dims; }
  [[nodiscard]] const T* values_from(index_t n) const noexcept {
    return memory_.values + (n - values_from_) * sizes_.width;
  }
  [[nodiscard]] bool broken(index_t n) const noexcept { return memory_.broken[n - values_from_] != 0; }
  [[nodiscard]] const T* key_row(index_t n) const noexcept { return memory_.key_rows + (n - keys_from_) * sizes_.dim; }
  /// Stored values from a key on; whole packs of them are read only if a value is a whole number of packs.
  [[nodiscard]] const E* stored_values_from(index_t n) const noexcept {
    return value_row(key_index{stretch_.begin + n}).data();
  }
  [[nodiscard]] index_t stored_value_stride() const noexcept { return in_.value.strides()[2]; }
  [[nodiscard]] T* biases(index_t slot, bias_case which) const noexcept {
    return memory_.biases +
           (slot * sizes_.bias_lines + static_cast<index_t>(which)) * line_memory<T>(sizes_.bias_entries);
  }
  [[nodiscard]] T* key_line(index_t slot) const noexcept {
    return memory_.key_line + slot * round_up(sizes_.keys, shape::keys);
  }
  [[nodiscard]] head_index head() const noexcept { return head_; }

  /// Ask for a stored row before it is needed.
  void expect_query(head_index h, query_index i) const noexcept {
    simd::prefetch_row(in_.query.row(b_.value(), h.value(), i.value()));
  }
  void expect_key(index_t n) const noexcept {
    simd::prefetch_row(in_.key.row(b_.value(), shared_, stretch_.begin + n));
  }
  /// A transformed query row, in the natural scale.
  void load_query(head_index h, index_t i, T* row) const noexcept {
    widen_row<T, E>(in_.query.row(b_.value(), h.value(), i), row);
    const std::span<T> whole(row, static_cast<std::size_t>(sizes_.dim));
    if constexpr (parts::turns > 0) {
      turn(memory_.query_turns + i * sizes_.turning_dim, whole);
    } else {
      plan_.transform_query(b_, h, query_index{i}, whole);
    }
  }

  /// A transformed key row with what is appended for head h.
  void load_key(head_index h, key_index j, T* row) const noexcept {
    const head_index first_of_group{shared_ * (plan_.layout().query / plan_.layout().key_value)};
    widen_row<T, E>(in_.key.row(b_.value(), shared_, j.value()), row);
    const std::span<T> whole(row, static_cast<std::size_t>(sizes_.dim));
    if constexpr (parts::turns > 0) {
      turn(memory_.key_turns + j.value() * sizes_.turning_dim, whole);
    } else {
      plan_.transform_key(b_, first_of_group, j, whole);
    }
    [[maybe_unused]] index_t at = sizes_.dim;
    parts::each(plan_.contents(), [&](const auto& term) {
      if constexpr (appended_product<std::remove_cvref_t<decltype(term)>, T>) {
        term.append_key(b_, h, j, {row + at, static_cast<std::size_t>(term.appended_dim())});
        at += term.appended_dim();
      }
    });
  }
  /// The same where it is stored, if it is stored so, else in `row`.
  [[nodiscard]] const T* key_as_packed(head_index h, key_index j, T* row) const noexcept {
    if constexpr (keys_as_stored && std::is_same_v<E, T>) {
      return in_.key.row(b_.value(), shared_, j.value()).data();
    } else {
      load_key(h, j, row);
      return row;
    }
  }
  [[nodiscard]] std::span<const E> value_row(key_index j) const noexcept {
    return in_.value.row(b_.value(), shared_, j.value());
  }

  [[nodiscard]] const visibility_rule& rule() const noexcept { return rule_; }
  [[nodiscard]] row_stretch stretch() const noexcept { return stretch_; }
  [[nodiscard]] const fused_memory<Plan>& memory() const noexcept { return memory_; }
  [[nodiscard]] batch_index batch() const noexcept { return b_; }
  /// Whether a value row has a number that is not finite.
  [[nodiscard]] bool any_broken() const noexcept { return any_broken_; }
  [[nodiscard]] const line_span& bias_span() const noexcept { return bias_span_; }
  [[nodiscard]] const std::array<line_span, parts::class_values_terms>& value_spans() const noexcept {
    return value_spans_;
  }
  /// scale * log2 e.
  [[nodiscard]] T scale() const noexcept { return static_cast<T>(static_cast<double>(plan_.scale()) * log2_e<double>); }
  /// Where [CLS] stands, if a bias by offset has other numbers for it.
  [[nodiscard]] std::optional<position> cls() const noexcept {
    std::optional<position> cls;
    parts::each(plan_.biases(), [&](const auto& term) {
      if constexpr (cls_offset_bias<std::remove_cvref_t<decltype(term)>, T>) cls = term.cls();
    });
    return cls;
  }
  /// A natural score in base 2; a finite one stays finite.
  [[nodiscard]] static T base2(T score) noexcept {
    return std::clamp(score * log2_e<T>, std::numeric_limits<T>::lowest(), std::numeric_limits<T>::max());
  }

 private:
  [[nodiscard]] bool keys_by_head() const noexcept {
    bool by_head = false;
    parts::each(plan_.contents(), [&](const auto& term) {
      if constexpr (appended_product<std::remove_cvref_t<decltype(term)>, T>) by_head |= term.append_tables() != 1;
    });
    return by_head;
  }

  void bind_turns([[maybe_unused]] batch_index b, [[maybe_unused]] const row_space& space,
                  [[maybe_unused]] T* turns) const noexcept {
    parts::each(plan_.transforms(), [&](const auto& term) {
      if constexpr (turning_transform<std::remove_cvref_t<decltype(term)>, T>) {
        const index_t width = sizes_.turning_dim;
        for (index_t row = 0; row < space.rows();) {
          const position first = space.at(b.value(), row);
          index_t count = 1;
          while (row + count < space.rows() && space.at(b.value(), row + count).value() == first.value() + count) {
            ++count;
          }
          term.turns(first, count, {turns + row * width, static_cast<std::size_t>(count * width)});
          row += count;
        }
      }
    });
  }
  void turn([[maybe_unused]] const T* turns, [[maybe_unused]] std::span<T> row) const noexcept {
    parts::each(plan_.transforms(), [&](const auto& term) {
      if constexpr (turning_transform<std::remove_cvref_t<decltype(term)>, T>) {
        term.turn({turns, static_cast<std::size_t>(sizes_.turning_dim)}, row);
      }
    });
  }

  /// Packs the tile that starts at key n.
  void pack_keys(index_t n, read_ahead* ahead) noexcept {
    [[maybe_unused]] const index_t dim = sizes_.dim;
    const index_t end = std::min(n + shape::keys, stretch_.size());
    const index_t lines = ahead == nullptr ? 0 : lines_by_packing;
    T* const packed = memory_.keys + (n - keys_from_) * sizes_.dims;
    if constexpr (keys_as_stored) {
      if (end == n + shape::keys) {
        const auto first = in_.key.row(b_.value(), shared_, stretch_.begin + n);
        pack_tile(first.data(), in_.key.strides()[2], dim, packed, ahead, lines);
        return;
      }
    }
    for (index_t k = n; k < end; ++k) {
      T* const row = memory_.stage + (k - n) * sizes_.dims;
      load_key(head_, key_index{stretch_.begin + k}, row);
      if constexpr (!keys_pass) std::copy_n(row, dim, memory_.key_rows + (k - keys_from_) * dim);
    }
    std::fill(memory_.stage + (end - n) * sizes_.dims, memory_.stage + shape::keys * sizes_.dims, T{0});
    pack_tile(memory_.stage, sizes_.dims, sizes_.dims, packed, ahead, lines);
  }
  void pack_value(index_t n, key_index j, T* value) noexcept {
    const bool finite = copy_finite_row<T, E>(in_.value.row(b_.value(), shared_, j.value()), value, sizes_.width);
    memory_.broken[n] = finite ? 0 : 1;
    if (memory_.broken[n] == 0) return;
    any_broken_ = true;
    for (index_t d = 0; d < sizes_.width; ++d) value[d] = value[d] - value[d] == T{0} ? value[d] : T{0};
  }

  /// Where the active queries of the sequence stand, and how many they are.
  void bind_queries() noexcept {
    const row_space& queries = plan_.call().query_space();
    query_count_ = 0;
    query_bounds_ = {0, 0};
    for (index_t i = 0; i < queries.rows(); ++i) {
      if (!queries.active(b_.value(), i)) continue;
      if (includes(rule_.rows, hides::other_segments) && queries.sequence(b_.value(), i) != sequence_) continue;
      const index_t p = queries.at(b_.value(), i).value();
      if (query_count_++ == 0) query_bounds_ = {p, p};
      query_bounds_ = {std::min(query_bounds_.first, p), std::max(query_bounds_.second, p)};
    }
  }
  /// The entries of a line for this sequence; none where positions lie too far apart.
  [[nodiscard]] line_span span(const std::optional<coordinate::offset_bounds>& level) const noexcept {
    line_span span = span_of(query_bounds_, {memory_.positions.first(), memory_.positions.last()}, rule_, level);
    if (!memory_.positions.known() || span.count > most_entries(query_count_, stretch_.size())) span.count = 0;
    return span;
  }

  void bind_biases(head_index h, bias_case which, T* line) const noexcept {
    for (index_t n = 0; n < bias_span_.count; ++n) {
      const relative_offset offset{bias_span_.low + n};
      T sum{0};
      parts::each(plan_.biases(), [&](const auto& term) {
        using Term = std::remove_cvref_t<decltype(term)>;
        if constexpr (cls_offset_bias<Term, T>) {
          if (which == bias_case::cls_query) sum += term.at_cls_query(h);
          if (which == bias_case::cls_key) sum += term.at_cls_key(h);
          if (which != bias_case::plain) return;
        }
        if constexpr (parts::template by_offset<Term>) sum += term.at_offset(h, offset);
      });
      line[n] = base2(sum);
    }
    level_low(line);
    level_high(line, bias_span_.count);
  }

  void bind_head([[maybe_unused]] head_index h, [[maybe_unused]] index_t slot) noexcept {
    const position_call& call = plan_.call();
    if constexpr (parts::offset_biases > 0) {
      bias_span_ = span(fused_sizes<Plan>::bias_level(plan_));
      if (bias_span_.count > 0) {
        for (const bias_case which : {bias_case::plain, bias_case::cls_query, bias_case::cls_key}) {
          if (static_cast<index_t>(which) < sizes_.bias_lines) bind_biases(h, which, biases(slot, which));
        }
      }
    }
    if constexpr (parts::key_biases > 0) {
      T* const line = key_line(slot);
      for (index_t n = 0; n < stretch_.size(); ++n) {
        T sum{0};
        parts::each(plan_.biases(), [&](const auto& term) {
          using Term = std::remove_cvref_t<decltype(term)>;
          if constexpr (parts::template by_key<Term>) sum += term.at_key(h, call.at(b_, key_index{stretch_.begin + n}));
        });
        line[n] = base2(sum);
      }
      std::fill(line + stretch_.size(), line + round_up(stretch_.size(), shape::keys), T{0});
    }
    [[maybe_unused]] std::size_t query_side = 0;
    [[maybe_unused]] std::size_t key_side = 0;
    parts::each(plan_.contents(), [&](const auto& term) {
      using Term = std::remove_cvref_t<decltype(term)>;
      if constexpr (query_sided<Term, T>) {
        const std::size_t n = query_side++;
        if (const auto side = term.query_side()) {
          memory_.query_classes[n].bind(*side, h, span(side->constant_beyond()), T{1});
        }
      }
      if constexpr (key_sided<Term, T>) {
        const std::size_t n = key_side++;
        if (const auto side = term.key_side()) {
          memory_.key_classes[n].bind(*side, h, span(side->constant_beyond()), scale());
        }
      }
    });
    [[maybe_unused]] std::size_t value_side = 0;
    parts::each(plan_.values(), [&](const auto& term) {
      if constexpr (class_values<std::remove_cvref_t<decltype(term)>, T>) {
        const std::size_t n = value_side++;
        if (const auto side = term.classes_of_value()) {
          value_spans_[n] = span(side->constant_beyond());
          for (index_t entry = 0; entry < value_spans_[n].count; ++entry) {
            T* const row = memory_.value_rows[n] + entry * sizes_.width;
            std::fill_n(row, sizes_.width, T{0});
            side->row(h, side->of(relative_offset{value_spans_[n].low + entry}),
                      {row, static_cast<std::size_t>(sizes_.value_dim)});
          }
        }
      }
    });
  }

  /// A tile has keys * dim * bytes / 64 lines. The loop over it asks for dim of them, packing for the rest: so many
  /// with each square.
  static constexpr index_t lines_by_packing =
      shape::lanes * shape::lanes *
      std::max<index_t>(shape::keys * static_cast<index_t>(sizeof(E)) / read_ahead::line - 1, 0) / shape::keys;

  const Plan& plan_;
  const qkv<E>& in_;
  const fused_sizes<Plan>& sizes_;
  fused_memory<Plan> memory_;
  visibility_rule rule_;
  bool bound_ = false;
  bool any_broken_ = false;
  batch_index b_;
  head_index head_;
  index_t heads_ = 0;
  index_t keys_from_ = 0;
  index_t values_from_ = 0;
  read_ahead ahead_;
  bool packed_all_ = false;
  index_t shared_ = 0;
  index_t sequence_ = 0;
  row_stretch stretch_{0, 0};
  index_t query_count_ = 0;
  position_bounds query_bounds_{0, 0};
  line_span bias_span_;
  std::array<line_span, parts::class_values_terms> value_spans_{};
};

}  // namespace kernel
}  // namespace POSGEO_SIMD_ISA
}  // namespace posgeo
