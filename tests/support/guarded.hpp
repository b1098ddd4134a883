// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/core/tensor.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <type_traits>
#include <vector>

namespace posgeo::test {

/// How a tensor of heads lies in memory.
enum class memory {
  heads_first,  ///< [batch, heads, rows, dim]; ends where the tensor ends
  rows_first,   ///< [batch, rows, heads, dim] between guards
  padded,       ///< heads first, odd gaps behind each row, head and entry; between guards
};
inline constexpr std::array every_memory{memory::heads_first, memory::rows_first, memory::padded};

/// A tensor of heads of which every byte is 0xFF at first: NaN in each of the element types, in its rows, between them
/// and before and behind them all.
template <class E>
class guarded_heads {
 public:
  guarded_heads(const std::array<index_t, 4>& extents, memory how) : extents_(extents) {
    const auto [batch, heads, rows, dim] = extents;
    switch (how) {
      case memory::heads_first:
        strides_ = {heads * rows * dim, rows * dim, dim};
        break;
      case memory::rows_first:
        strides_ = {heads * rows * dim, dim, heads * dim};
        break;
      case memory::padded:
        strides_ = {heads * (rows * (dim + 3) + 5) + 7, rows * (dim + 3) + 5, dim + 3};
        break;
    }
    front_ = how == memory::heads_first ? 0 : guard;
    memory_.resize(static_cast<std::size_t>(batch * strides_[0] + 2 * front_) * sizeof(E), 0xFF);
  }

  [[nodiscard]] heads_view<E> view() { return {start(), extents_, strides_}; }

  /// Copies a dense tensor, rounding each number.
  void fill(const tensor<double, 4>& from) {
    each_row([&](index_t b, index_t h, index_t r) {
      const auto source = from.view().row(b, h, r);
      const auto row = view().row(b, h, r);
      for (std::size_t d = 0; d < row.size(); ++d) row[d] = static_cast<E>(static_cast<narrow>(source[d]));
    });
  }
  /// Its numbers as a dense tensor.
  [[nodiscard]] tensor<double, 4> widened() {
    tensor<double, 4> out(extents_);
    each_row([&](index_t b, index_t h, index_t r) {
      const auto row = view().row(b, h, r);
      for (std::size_t d = 0; d < row.size(); ++d) {
        out(b, h, r, static_cast<index_t>(d)) = static_cast<double>(static_cast<narrow>(row[d]));
      }
    });
    return out;
  }
  /// Makes the row `r` of every head of an entry NaN again.
  void poison(index_t b, index_t r) {
    for (index_t h = 0; h < extents_[1]; ++h) {
      const auto row = view().row(b, h, r);
      if (!row.empty()) std::memset(static_cast<void*>(row.data()), 0xFF, row.size_bytes());
    }
  }
  /// Whether every byte outside the rows is as it was.
  [[nodiscard]] bool intact() {
    std::vector<unsigned char> copy = memory_;
    each_row([&](index_t b, index_t h, index_t r) {
      const auto row = view().row(b, h, r);
      if (row.empty()) return;
      const auto offset = reinterpret_cast<const unsigned char*>(row.data()) - memory_.data();
      std::memset(copy.data() + offset, 0xFF, row.size_bytes());
    });
    return std::all_of(copy.begin(), copy.end(), [](unsigned char byte) { return byte == 0xFF; });
  }

 private:
  static constexpr index_t guard = 67;
  using narrow = std::conditional_t<std::is_same_v<E, double>, double, float>;

  [[nodiscard]] E* start() { return reinterpret_cast<E*>(memory_.data()) + front_; }
  template <class Visit>
  void each_row(const Visit& visit) {
    for (index_t b = 0; b < extents_[0]; ++b) {
      for (index_t h = 0; h < extents_[1]; ++h) {
        for (index_t r = 0; r < extents_[2]; ++r) visit(b, h, r);
      }
    }
  }

  std::array<index_t, 4> extents_;
  std::array<index_t, 3> strides_{};
  index_t front_ = 0;
  std::vector<unsigned char> memory_;
};

/// A tensor [batch, heads, 1, rows] as [batch, heads, rows].
template <class E>
[[nodiscard]] tensor_view<E, 3> as_rows(const heads_view<E>& view) {
  return {view.data(), {view.extent(0), view.extent(1), view.extent(3)}, {view.strides()[0], view.strides()[1]}};
}

}  // namespace posgeo::test
