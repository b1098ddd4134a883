// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/bias/score_bias.hpp>
#include <posgeo/core/description.hpp>
#include <posgeo/core/head_parts.hpp>
#include <posgeo/core/narrow.hpp>
#include <posgeo/core/positional_range.hpp>
#include <posgeo/core/reads.hpp>
#include <posgeo/core/table.hpp>
#include <posgeo/core/table_gradient.hpp>

namespace posgeo::bias {

/// What gives each pair of rows a class and refuses calls that it cannot classify.
template <class C>
concept pair_classes = requires(const C& classes, const position_call& call, violations& found) {
  { classes.classes() } -> std::same_as<index_t>;
  classes.check(call, std::string_view{}, found);
};
/// Classes by the offset alone, on one axis.
template <class C>
concept offset_classes = pair_classes<C> && requires(const C& classes, relative_offset offset) {
  { classes(offset) } -> std::same_as<index_t>;
  requires noexcept(classes(offset));
};
/// Offset classes that say beyond which offsets the class stays the same.
template <class C>
concept ended_classes = offset_classes<C> && requires(const C& classes) {
  { classes.constant_beyond() } -> std::same_as<coordinate::offset_bounds>;
  requires noexcept(classes.constant_beyond());
};

/// Adds table[class(query, key), h]: a learned number for each class of offsets and each head.
/// Shapes: table [classes, query heads]; one score for each (batch, head, query, key).
/// Units:  added after the scale and never divided by it.
/// Throws: errc::table_rows, when built, without one row for each class; errc::head_count without one column for each
///         query head, and what the classes refuse of a call, when compiled.
/// Source: Liu et al. 2021, equation 4 (coordinate::window_index); one axis: Shaw et al. 2018, with numbers for
/// vectors.
template <class Element, pair_classes Classes>
class learned_relative {
 public:
  using family = posgeo::family::score_bias;

  learned_relative(table<Element> weights, Classes classes)
      : weights_(std::move(weights)), classes_(std::move(classes)) {
    require(weights_.rows() == classes_.classes(), errc::table_rows, "learned relative bias", "table rows",
            classes_.classes(), weights_.rows());
  }

  /// Whether no class is for a key after the query.
  [[nodiscard]] bool looks_back_only() const noexcept requires posgeo::looks_back_only<Classes> {
    return classes_.looks_back_only();
  }

  [[nodiscard]] description describe() const requires described_policy<Classes> {
    return description("learned_relative").with("table", described_table(weights_)).with("rule", classes_.describe());
  }

  [[nodiscard]] reads positional_reads() const noexcept requires says_reads<Classes> {
    return classes_.positional_reads();
  }
  [[nodiscard]] positional_range range() const noexcept { return range_of(classes_); }

  [[nodiscard]] learned_relative part(const head_slice& slice) const {
    return {columns_of(weights_, slice, "learned relative bias"), classes_};
  }

  void check(const position_call& call, const heads& layout, violations& found) const {
    found.expect(weights_.columns() == layout.query, errc::head_count, "learned relative bias", "table columns",
                 text("{} query heads", layout.query), weights_.columns());
    classes_.check(call, "learned relative bias", found);
  }

  template <class T>
  class term {
   public:
    [[nodiscard]] T operator()(batch_index b, head_index h, query_index i, key_index j) const noexcept {
      return static_cast<T>(weights_(table_row(b, i, j), h.value()));
    }
    /// The table row that a pair reads.
    [[nodiscard]] index_t table_row(batch_index b, query_index i, key_index j) const noexcept {
      if constexpr (offset_classes<Classes>) {
        return classes_(call_.offset(b, i, j));
      } else {
        return classes_(call_, b, i, j);
      }
    }
    [[nodiscard]] index_t table_row(relative_offset offset) const noexcept requires ended_classes<Classes> {
      return classes_(offset);
    }
    [[nodiscard]] T at_offset(head_index h, relative_offset offset) const noexcept requires offset_classes<Classes> {
      return static_cast<T>(weights_(classes_(offset), h.value()));
    }
    [[nodiscard]] coordinate::offset_bounds constant_beyond() const noexcept requires ended_classes<Classes> {
      return classes_.constant_beyond();
    }
    [[nodiscard]] table_gradients<T, 1> gradient() const {
      return table_gradients<T, 1>(table_gradient<T>("table", weights_));
    }
    void add_gradient(batch_index b, head_index h, query_index i, key_index j, T d_score,
                      table_gradients<T, 1>& to) const noexcept {
      to[0].add(table_row(b, i, j), h.value(), d_score);
    }
    void add_gradient_at(head_index h, relative_offset offset, T d_score,
                         table_gradients<T, 1>& to) const noexcept requires offset_classes<Classes> {
      to[0].add(classes_(offset), h.value(), d_score);
    }

   private:
    friend class learned_relative;
    term(table<Element> weights, Classes classes, position_call call)
        : weights_(std::move(weights)), classes_(std::move(classes)), call_(std::move(call)) {}
    table<Element> weights_;
    Classes classes_;
    position_call call_;
  };

  template <class T>
  [[nodiscard]] term<T> compile(const position_call& call, const heads& layout) const {
    require_fit(*this, call, layout);
    require_fits<T>(weights_.values(), "learned relative bias");
    return {weights_, classes_, call};
  }

 private:
  table<Element> weights_;
  Classes classes_;
};

}  // namespace posgeo::bias
