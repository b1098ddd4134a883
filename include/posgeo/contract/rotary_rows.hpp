// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/core/heads.hpp>
#include <posgeo/core/tensor.hpp>
#include <posgeo/transform/rotary.hpp>

#include <vector>

namespace posgeo::contract {

struct rotary_conversion {
  required<transform::pairing> from;
  required<transform::pairing> to;
  required<index_t> rotary_dim;  ///< dimensions of a head that turn; the others stay where they are
};

/// The rows of a query or key projection under another pairing: the pair that turned at dimensions (x, y) of a head
/// turns at those the new pairing gives it, so every score stays. Values never turn and have no order here.
/// Shapes: weights [heads * head_dim, width], output features first; biases [heads * head_dim].
/// Throws: errc::head_count and errc::shape_mismatch for an impossible head layout; errc::odd_width for a rotary_dim
/// that
///         is odd or beyond head_dim; errc::shape_mismatch for a tensor that does not have the rows.
/// Source: Su et al. 2021, section 3.2.2; the permutation of the released Llama conversion.
class rotary_rows {
 public:
  /// Of the query projection: the query heads' rows.
  [[nodiscard]] static rotary_rows of_queries(const heads& layout, const rotary_conversion& conversion) {
    return {layout, layout.query, conversion};
  }
  /// Of the key projection: the key heads' rows.
  [[nodiscard]] static rotary_rows of_keys(const heads& layout, const rotary_conversion& conversion) {
    return {layout, layout.key_value, conversion};
  }

  /// order()[n] is the source row that becomes row n.
  [[nodiscard]] const std::vector<index_t>& order() const noexcept { return order_; }

  [[nodiscard]] rotary_rows inverse() const {
    rotary_rows back = *this;
    for (std::size_t n = 0; n < order_.size(); ++n) {
      back.order_[static_cast<std::size_t>(order_[n])] = static_cast<index_t>(n);
    }
    return back;
  }

  template <class T>
  [[nodiscard]] tensor<std::remove_const_t<T>, 2> moved(const tensor_view<T, 2>& weights) const {
    require_rows(weights.extent(0), "projection weights");
    tensor<std::remove_const_t<T>, 2> out(weights.extents());
    for (std::size_t n = 0; n < order_.size(); ++n) {
      const auto from = weights.row(order_[n]);
      std::copy(from.begin(), from.end(), out.view().row(static_cast<index_t>(n)).begin());
    }
    return out;
  }
  template <class T>
  [[nodiscard]] std::vector<T> moved(const std::vector<T>& bias) const {
    require_rows(static_cast<index_t>(bias.size()), "projection bias");
    std::vector<T> out;
    for (const index_t row : order_) out.push_back(bias[static_cast<std::size_t>(row)]);
    return out;
  }

 private:
  rotary_rows(const heads& layout, index_t count, const rotary_conversion& conversion) {
    violations found;
    check(layout, found);
    const index_t turning = conversion.rotary_dim;
    found.expect(turning >= 0 && turning % 2 == 0 && turning <= layout.dim, errc::odd_width, "rotary rows",
                 "rotary_dim", text("an even number up to head_dim {}", layout.dim), turning);
    found.throw_if_any();
    const auto pairs = static_cast<std::size_t>(turning / 2);
    order_.resize(static_cast<std::size_t>(count * layout.dim));
    for (index_t h = 0; h < count; ++h) {
      const index_t first = h * layout.dim;
      for (index_t d = turning; d < layout.dim; ++d) order_[static_cast<std::size_t>(first + d)] = first + d;
      for (std::size_t pair = 0; pair < pairs; ++pair) {
        const auto from = transform::dimensions_of(conversion.from, pair, pairs);
        const auto to = transform::dimensions_of(conversion.to, pair, pairs);
        const auto base = static_cast<std::size_t>(first);
        order_[base + to.x] = static_cast<index_t>(base + from.x);
        order_[base + to.y] = static_cast<index_t>(base + from.y);
      }
    }
  }
  void require_rows(index_t rows, std::string_view object) const {
    require(std::cmp_equal(rows, order_.size()), errc::shape_mismatch, object, "rows",
            text("{}, those of its own heads", order_.size()), rows);
  }

  std::vector<index_t> order_;
};

}  // namespace posgeo::contract
