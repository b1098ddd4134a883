// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/content/content_term.hpp>
#include <posgeo/content/distance_rows.hpp>
#include <posgeo/content/projected_sinusoids.hpp>
#include <posgeo/coordinate/offset_bounds.hpp>
#include <posgeo/core/description.hpp>
#include <posgeo/core/head_parts.hpp>
#include <posgeo/core/positional_range.hpp>
#include <posgeo/core/reads.hpp>
#include <posgeo/core/row_product.hpp>
#include <posgeo/core/table_gradient.hpp>

#include <algorithm>
#include <optional>
#include <utility>

namespace posgeo::content {

/// Transformer-XL's two global biases; neither stands in for the other.
/// Shapes: each [query heads, head_dim].
template <class Element>
struct global_biases {
  table<Element> content;   ///< u, which meets the key (r_w_bias in the release)
  table<Element> position;  ///< v, which meets the distance (r_r_bias)
};

/// The gradients of u, v and what makes the rows; those of the rows first of each distance, where the rows are made of
/// something else.
template <class T>
struct transformer_xl_gradient : table_gradients<T, 3> {
  using table_gradients<T, 3>::table_gradients;
  std::optional<table_gradient<T>> of_distances{};
};

/// Adds u . k_j + (q_i + v) . r[i - j] to the raw score q_i . k_j, and shares its scale.
/// Shapes: u and v [query heads, head_dim]; one score for each (batch, head, query, key).
/// Units:  distances are query minus key, in tokens, over memory and segment alike.
/// Throws: errc::head_count and errc::shape_mismatch for biases of other heads, errc::frame_mismatch across frames, and
///         what the rows throw, when compiled.
/// Source: Dai et al. 2019, section 3.3.
template <class Element, class Rows = projected_sinusoids<Element>>
class transformer_xl {
 public:
  using family = posgeo::family::content_term;

  transformer_xl(global_biases<Element> biases, Rows rows) : biases_(std::move(biases)), rows_(std::move(rows)) {}

  [[nodiscard]] const Rows& rows() const noexcept { return rows_; }
  [[nodiscard]] bool looks_back_only() const noexcept { return rows_.looks_back_only(); }

  [[nodiscard]] static constexpr reads positional_reads() noexcept { return reads::offset; }
  [[nodiscard]] positional_range range() const noexcept { return range_of(rows_); }

  [[nodiscard]] description describe() const requires described_policy<Rows> {
    return description("transformer_xl")
        .with("content_bias_table", described_table(biases_.content))
        .with("position_bias_table", described_table(biases_.position))
        .with("rows", rows_.describe());
  }

  [[nodiscard]] transformer_xl part(const head_slice& slice) const {
    return {{.content = rows_of(biases_.content, 1, slice, "content bias u"),
             .position = rows_of(biases_.position, 1, slice, "position bias v")},
            rows_.part(slice)};
  }

  void check(const position_call& call, const heads& layout, violations& found) const {
    check_bias(biases_.content, "content bias u", layout, found);
    check_bias(biases_.position, "position bias v", layout, found);
    rows_.check(layout, found);
    expect_same_frame(call, "transformer-xl", found);
    if (!call.same_frame()) return;
    if (const auto needed = distances(call)) rows_.check_distances(needed->first, needed->second, found);
  }

  template <class T>
  class term {
    using bound_rows =
        std::remove_cvref_t<decltype(std::declval<const Rows&>().template over<T>(0, 0, std::declval<heads>()))>;

   public:
    /// (q_i + v) . r[i - j] as a class_side.
    class distance_side {
     public:
      explicit distance_side(const term& of) noexcept : of_(&of) {}
      [[nodiscard]] index_t classes() const noexcept { return of_->rows_.tables().rows(); }
      [[nodiscard]] index_t of(relative_offset offset) const noexcept {
        return of_->rows_.class_of(signed_offset(offset, offset_sign::query_minus_key));
      }
      [[nodiscard]] coordinate::offset_bounds constant_beyond() const noexcept {
        return {relative_offset{-of_->rows_.highest()}, relative_offset{-of_->rows_.lowest()}};
      }
      void row(head_index h, index_t c, std::span<T> out) const noexcept {
        coordinate::write_row(of_->rows_.tables().row(h, c), out);
      }
      void shift(head_index h, std::span<T> row) const noexcept { add_row(of_->biases_.position.row(h.value()), row); }

     private:
      const term* of_;
    };

    [[nodiscard]] T operator()(batch_index b, head_index h, query_index i, key_index j, std::span<const T> query,
                               std::span<const T> key) const noexcept {
      const auto r = rows_.row(h, signed_offset(call_.offset(b, i, j), offset_sign::query_minus_key));
      const auto v = biases_.position.row(h.value());
      T position{0};
      for (std::size_t d = 0; d < r.size(); ++d) position += (query[d] + static_cast<T>(v[d])) * static_cast<T>(r[d]);
      return row_product(key, biases_.content.row(h.value())) + position;
    }
    [[nodiscard]] std::optional<distance_side> query_side() const noexcept { return distance_side(*this); }
    void add_to_query(head_index h, std::span<T> row) const noexcept { add_row(biases_.content.row(h.value()), row); }
    /// "rows.table" is what the rows learn: themselves, or their projection.
    [[nodiscard]] transformer_xl_gradient<T> gradient() const {
      transformer_xl_gradient<T> zero(table_gradient<T>("content_bias_table", biases_.content),
                                      table_gradient<T>("position_bias_table", biases_.position),
                                      table_gradient<T>("rows.table", learned_.learned()));
      if constexpr (made_of_learned) zero.of_distances.emplace("distances", rows_.tables());
      return zero;
    }
    void add_gradient(batch_index b, head_index h, query_index i, key_index j, std::span<const T> query,
                      std::span<const T> key, T d, std::span<T> d_query, std::span<T> d_key,
                      transformer_xl_gradient<T>& to) const noexcept {
      const index_t row = rows_.class_of(signed_offset(call_.offset(b, i, j), offset_sign::query_minus_key));
      const auto r = rows_.tables().row(h, row);
      add_scaled(d, biases_.content.row(h.value()), d_key);
      add_scaled(d, r, d_query);
      to[0].add_row(h.value(), key, d);
      to[1].add_row(h.value(), r, d);
      table_gradient<T>* of_rows = &to[2];
      if constexpr (made_of_learned) of_rows = &*to.of_distances;
      of_rows->add_row(rows_.tables(), h, row, query, d);
      of_rows->add_row(rows_.tables(), h, row, biases_.position.row(h.value()), d);
    }
    /// Hands the gradients of the distances to the projection; they are zero afterwards.
    void finish_gradient(transformer_xl_gradient<T>& to) const {
      if constexpr (made_of_learned) {
        learned_.add_gradient(rows_, *to.of_distances, to[2]);
        to.of_distances->reset();
      }
    }

   private:
    friend class transformer_xl;
    /// Whether the rows are made for the call of something learned, or are that themselves.
    static constexpr bool made_of_learned = !std::same_as<Rows, bound_rows>;
    static void add_row(std::span<const Element> from, std::span<T> row) noexcept {
      for (std::size_t d = 0; d < row.size(); ++d) row[d] += static_cast<T>(from[d]);
    }
    term(global_biases<Element> biases, Rows learned, bound_rows rows, position_call call)
        : biases_(std::move(biases)), learned_(std::move(learned)), rows_(std::move(rows)), call_(std::move(call)) {}
    global_biases<Element> biases_;
    Rows learned_;
    bound_rows rows_;
    position_call call_;
  };

  template <class T>
  [[nodiscard]] term<T> compile(const position_call& call, const heads& layout) const {
    require_fit(*this, call, layout);
    require_fits<T>(biases_.content.values(), "content bias u");
    require_fits<T>(biases_.position.values(), "position bias v");
    const auto [low, high] = distances(call).value_or(std::pair{index_t{0}, index_t{0}});
    return {biases_, rows_, rows_.template over<T>(low, high, layout), call};
  }

 private:
  static void check_bias(const table<Element>& bias, std::string_view object, const heads& layout, violations& found) {
    found.expect(bias.rows() == layout.query, errc::head_count, object, "rows", text("{} query heads", layout.query),
                 bias.rows());
    found.expect(bias.columns() == layout.dim, errc::shape_mismatch, object, "columns", text("head_dim {}", layout.dim),
                 bias.columns());
  }

  /// The lowest and the highest distance that the call can ask for.
  [[nodiscard]] std::optional<std::pair<index_t, index_t>> distances(const position_call& call) const {
    const auto offsets = coordinate::bounds_of_offsets(call);
    if (!offsets) return std::nullopt;
    const index_t lowest = -offsets->highest.value();
    const index_t highest = -offsets->lowest.value();
    if (!looks_back_only()) return std::pair{lowest, highest};
    if (highest < 0) return std::nullopt;
    return std::pair{std::max(lowest, index_t{0}), highest};
  }

  global_biases<Element> biases_;
  Rows rows_;
};

}  // namespace posgeo::content
