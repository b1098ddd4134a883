// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/core/error.hpp>
#include <posgeo/core/index.hpp>

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <functional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace posgeo {

namespace detail {

/// The product of the extents. Throws errc::shape_mismatch for a negative extent or a product beyond 2^62.
template <std::size_t Rank>
index_t element_count(std::string_view object, const std::array<index_t, Rank>& extents) {
  index_t count = 1;
  bool fits = true;
  for (const index_t extent : extents) {
    require(extent >= 0, errc::shape_mismatch, object, "extent", "at least 0", extent);
    fits = fits && !__builtin_mul_overflow(count, std::max(extent, index_t{1}), &count);
  }
  require(fits && count <= position_limit, errc::shape_mismatch, object, "elements", "less than 2^62", "more");
  for (const index_t extent : extents) count = extent == 0 ? 0 : count;
  return count;
}

}  // namespace detail

/// Somebody else's memory as a tensor whose last axis is contiguous; the other axes have strides of their own.
/// Shapes: extents() names the axes, strides() the elements from one to the next; offsets are 64-bit products.
/// Throws: errc::shape_mismatch, when built, for a negative extent, offsets beyond 63 bits, or null memory under a
///         non-empty shape.
template <class T, std::size_t Rank>
class tensor_view {
 public:
  using extents_type = std::array<index_t, Rank>;
  using strides_type = std::array<index_t, Rank - 1>;

  tensor_view() noexcept = default;

  /// Dense row-major memory.
  tensor_view(T* data, const extents_type& extents) : tensor_view(data, extents, dense_strides(extents)) {}

  /// Memory with a stride, in elements, for every axis but the last.
  tensor_view(T* data, const extents_type& extents, const strides_type& strides)
      : data_(data), extents_(extents), strides_(strides) {
    (void)detail::element_count("tensor view", extents);
    require(reach_fits(), errc::shape_mismatch, "tensor view", "strides", "offsets within 63 bits", "larger ones");
    require(data != nullptr || empty(), errc::shape_mismatch, "tensor view", "memory", "a pointer", "null");
  }

  /// A view may lose the right to write, never gain it.
  template <class U>
  requires std::same_as<const U, T> tensor_view(const tensor_view<U, Rank>& other)
  noexcept : data_(other.data()), extents_(other.extents()), strides_(other.strides()) {}

  [[nodiscard]] T* data() const noexcept { return data_; }
  [[nodiscard]] const extents_type& extents() const noexcept { return extents_; }
  [[nodiscard]] const strides_type& strides() const noexcept { return strides_; }
  [[nodiscard]] index_t extent(std::size_t axis) const noexcept { return extents_[axis]; }
  [[nodiscard]] bool empty() const noexcept {
    for (const index_t extent : extents_) {
      if (extent == 0) return true;
    }
    return false;
  }

  /// Elements from the start to the row named by all indices but the last.
  template <class... I>
  requires(sizeof...(I) == Rank - 1) [[nodiscard]] index_t row_offset(I... at) const noexcept {
    const std::array<index_t, Rank - 1> where{static_cast<index_t>(at)...};
    index_t offset = 0;
    for (std::size_t axis = 0; axis + 1 < Rank; ++axis) offset += where[axis] * strides_[axis];
    return offset;
  }

  /// The contiguous last axis at the given leading indices.
  template <class... I>
  requires(sizeof...(I) == Rank - 1) [[nodiscard]] std::span<T> row(I... at) const noexcept {
    return {data_ + row_offset(at...), static_cast<std::size_t>(extents_[Rank - 1])};
  }

  /// Whether no two rows of the view share an element, whatever the order of the axes in memory.
  [[nodiscard]] bool rows_apart() const noexcept {
    if (empty()) return true;
    std::array<std::pair<index_t, index_t>, Rank - 1> axes{};  // stride, steps
    for (std::size_t axis = 0; axis + 1 < Rank; ++axis) {
      if (extents_[axis] == 1) continue;
      axes[axis] = {strides_[axis] < 0 ? -strides_[axis] : strides_[axis], extents_[axis] - 1};
    }
    std::sort(axes.begin(), axes.end());
    index_t reach = extents_[Rank - 1];
    for (const auto& [stride, steps] : axes) {
      if (steps == 0) continue;
      if (stride < reach) return false;
      reach += stride * steps;
    }
    return true;
  }

  /// The memory touched, as [first, last) addresses; empty when nothing is.
  [[nodiscard]] std::span<T> footprint() const noexcept {
    if (empty()) return {};
    index_t first = 0;
    index_t last = extents_[Rank - 1];
    for (std::size_t axis = 0; axis + 1 < Rank; ++axis) {
      const index_t reach = (extents_[axis] - 1) * strides_[axis];
      (reach < 0 ? first : last) += reach;
    }
    return {data_ + first, static_cast<std::size_t>(last - first)};
  }

 private:
  static strides_type dense_strides(const extents_type& extents) {
    (void)detail::element_count("tensor view", extents);
    strides_type strides{};
    index_t step = extents[Rank - 1];
    for (std::size_t axis = Rank - 1; axis-- > 0;) {
      strides[axis] = step;
      step *= extents[axis];
    }
    return strides;
  }
  [[nodiscard]] bool reach_fits() const noexcept {
    if (empty()) return true;
    index_t before = 0;
    index_t after = extents_[Rank - 1];
    for (std::size_t axis = 0; axis + 1 < Rank; ++axis) {
      index_t reach = 0;
      if (__builtin_mul_overflow(extents_[axis] - 1, strides_[axis], &reach)) return false;
      index_t& side = reach < 0 ? before : after;
      if (__builtin_add_overflow(side, reach, &side)) return false;
    }
    return before >= -position_limit && after <= position_limit;
  }

  T* data_ = nullptr;
  extents_type extents_{};
  strides_type strides_{};
};

/// Hidden states. Shapes: [batch, rows, width].
template <class T>
using states_view = tensor_view<T, 3>;

/// Queries, keys, values, outputs, or anything else that has a row for each head. Shapes: [batch, heads, rows, dim].
template <class T>
using heads_view = tensor_view<T, 4>;

/// Heads over memory laid out [batch, heads, rows, dim].
template <class T>
[[nodiscard]] heads_view<T> heads_first(T* data, index_t batch, index_t heads, index_t rows, index_t dim) {
  return {data, {batch, heads, rows, dim}};
}

/// Heads over memory laid out [batch, rows, heads, dim], as projections leave it: no copy is needed.
template <class T>
[[nodiscard]] heads_view<T> rows_first(T* data, index_t batch, index_t rows, index_t heads, index_t dim) {
  return {data, {batch, heads, rows, dim}, {rows * heads * dim, dim, heads * dim}};
}

/// Whether the footprints of two views meet. Interleaved views, such as the parts of a fused projection, count as
/// overlapping although they share no element.
template <class A, std::size_t RankA, class B, std::size_t RankB>
[[nodiscard]] bool overlap(const tensor_view<A, RankA>& a, const tensor_view<B, RankB>& b) noexcept {
  const auto bytes_a = std::as_bytes(a.footprint());
  const auto bytes_b = std::as_bytes(b.footprint());
  const std::less<const std::byte*> before;
  return !bytes_a.empty() && !bytes_b.empty() && before(bytes_a.data(), bytes_b.data() + bytes_b.size()) &&
         before(bytes_b.data(), bytes_a.data() + bytes_a.size());
}

/// A dense tensor that owns its memory, zero at first.
template <class T, std::size_t Rank>
class tensor {
 public:
  tensor() = default;
  explicit tensor(const std::array<index_t, Rank>& extents)
      : extents_(extents), values_(static_cast<std::size_t>(detail::element_count("tensor", extents))) {}

  [[nodiscard]] index_t extent(std::size_t axis) const noexcept { return extents_[axis]; }
  [[nodiscard]] const std::array<index_t, Rank>& extents() const noexcept { return extents_; }
  [[nodiscard]] std::span<T> values() & noexcept { return values_; }
  [[nodiscard]] std::span<const T> values() const& noexcept { return values_; }
  void values() const&& = delete;  // the memory would be gone
  [[nodiscard]] tensor_view<T, Rank> view() & { return {values_.data(), extents_}; }
  [[nodiscard]] tensor_view<const T, Rank> view() const& { return {values_.data(), extents_}; }
  void view() const&& = delete;  // the memory would be gone

  template <class... I>
  requires(sizeof...(I) == Rank) [[nodiscard]] T& operator()(I... at) noexcept {
    return values_[flat(static_cast<index_t>(at)...)];
  }
  template <class... I>
  requires(sizeof...(I) == Rank) [[nodiscard]] const T& operator()(I... at) const noexcept {
    return values_[flat(static_cast<index_t>(at)...)];
  }

 private:
  template <class... I>
  [[nodiscard]] std::size_t flat(I... at) const noexcept {
    const std::array<index_t, Rank> where{at...};
    index_t offset = 0;
    for (std::size_t axis = 0; axis < Rank; ++axis) offset = offset * extents_[axis] + where[axis];
    return static_cast<std::size_t>(offset);
  }

  std::array<index_t, Rank> extents_{};
  std::vector<T> values_;
};

}  // namespace posgeo
