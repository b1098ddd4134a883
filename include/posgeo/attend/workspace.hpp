// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/core/index.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace posgeo::detail {

/// Hands out parts of one block of memory, each at a multiple of 64 bytes. Without memory it only counts, so that one
/// function both measures a layout and makes it.
class memory_parts {
 public:
  static constexpr std::size_t alignment = 64;

  memory_parts() noexcept = default;
  explicit memory_parts(std::byte* begin) noexcept : begin_(begin) {}

  /// `count` numbers; the pointer is to the one after the first `skipped` of them.
  template <class T>
  [[nodiscard]] T* take(index_t count, index_t skipped = 0) noexcept {
    static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);
    const std::size_t at = used_;
    const std::size_t bytes = static_cast<std::size_t>(count) * sizeof(T);
    used_ += (bytes + alignment - 1) / alignment * alignment;
    return begin_ == nullptr ? nullptr : reinterpret_cast<T*>(begin_ + at) + skipped;
  }
  [[nodiscard]] std::size_t bytes() const noexcept { return used_; }

  /// The first address at a multiple of the alignment, at most so many bytes further on.
  [[nodiscard]] static std::byte* aligned(std::byte* memory) noexcept {
    const auto past = reinterpret_cast<std::uintptr_t>(memory) % alignment;
    return past == 0 ? memory : memory + (alignment - past);
  }

 private:
  std::byte* begin_ = nullptr;
  std::size_t used_ = 0;
};

}  // namespace posgeo::detail
